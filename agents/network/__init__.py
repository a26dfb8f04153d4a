"""Networks as agents: the architecture, checkpoints, and the pretrained weights.

The only room of `agents` that needs torch; training belongs in `training.trainers`.
"""
