"""The ground floor: errors, validation, compilation, threads, and shared types.

Imports no other room, and knows neither cards nor rules.
"""
