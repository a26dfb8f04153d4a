"""The objects that users hold: `Game`, `Batch`, and the `View` that agents get.

Adapters to other libraries belong in `taki_env.envs` and `taki_env.openspiel`.
"""
