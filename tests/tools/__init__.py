"""Tests of verification, fuzzing, determinism."""
