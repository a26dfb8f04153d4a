"""The rules, compiled: cards, options, states, legal actions, consequences, observations.

The only room that knows the rules. It works on arrays of states and needs only NumPy and Numba.
Objects for users, such as `Game` and `Batch`, belong in the rooms above.
"""
