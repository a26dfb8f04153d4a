"""Training runs: one file for each trainer, and what they share (options, run folders, evaluation).

Studies of trained agents belong in `training.studies`.
"""
