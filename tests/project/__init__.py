"""Tests of documentation and notebooks."""
