"""Verification, fuzzing, soak tests, and generators of docs and pictures.

Nothing in the packages imports them.
"""
