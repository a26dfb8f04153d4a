"""Tools of the project: verification, fuzzing, soak tests, and the generators of docs and pictures.

Nothing in the packages imports them.
"""
