"""Tests of errors, checks, compilation, threads."""
