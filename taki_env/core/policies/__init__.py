"""The built-in policies, compiled: `random`, `greedy` and `expert`.

Policies that are compiled and need nothing but the engine; all other agents belong in `agents`.
"""
