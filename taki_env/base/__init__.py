"""What every room stands on and knows nothing of the game: errors, checks, compilation, threads.

Nothing here imports another room, or knows a card or a rule.
"""
