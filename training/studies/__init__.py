"""Studies: exploitability, small decks, tuning, and speed.

Commands that answer a question; nothing else imports them.
"""
