"""The environments: PettingZoo, Gymnasium, vector, Stable-Baselines3, and self-play.

Adapters over `taki_env.game`; no rule and no drawing belongs here.
"""
