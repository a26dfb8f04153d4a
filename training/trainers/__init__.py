"""Training: one file per trainer, and what they share.

`selfplay`, `rollouts`, `train` and `rllib_train` each hold their options and their training loop.
They share options, run folders, checkpoints, evaluation and the progress display. Studies of
trained agents belong in `training.studies`.
"""
