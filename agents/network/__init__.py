"""Networks as agents: the architecture, checkpoints, and the pretrained weights.

The only package of `agents` that needs torch. Training is in `training.trainers`.
"""
