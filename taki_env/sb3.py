"""The Stable-Baselines3 vector environment, `TakiVecEnv`; needs the extra `train`."""

from taki_env.envs.sb3 import TakiVecEnv

__all__ = ["TakiVecEnv"]
