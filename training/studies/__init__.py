"""Studies: exploitability, small decks, tuning, and speed.

Each is a command that answers a question; nothing else imports them.
"""
