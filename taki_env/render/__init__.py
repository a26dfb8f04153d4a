"""The table as text, as a picture, and in a window.

Only reads positions; nothing here changes a game.
"""
