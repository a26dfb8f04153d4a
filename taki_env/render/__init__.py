"""The table as text, as a picture, and in a window.

Reads positions only. Nothing here advances a game.
"""
