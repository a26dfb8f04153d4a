"""Tests of `Game`, `Batch`, `View`."""
