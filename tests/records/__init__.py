"""Tests of positions and records."""
