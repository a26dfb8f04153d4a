"""The rules, compiled: cards, options, states, legal actions, consequences, observations.

The only room that knows a rule. It works on arrays of states; objects for users (`Game`, `Batch`)
and everything that needs more than NumPy and Numba belong in the rooms above.
"""
