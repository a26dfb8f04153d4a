"""Tests of the tools: verification, fuzzing, determinism."""
