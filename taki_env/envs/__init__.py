"""The environments: PettingZoo, Gymnasium, vector, Stable-Baselines3, and self-play.

Adapters over `taki_env.game`; rules and drawing do not belong here.
"""
