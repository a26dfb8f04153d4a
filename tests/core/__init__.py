"""Tests of the rules, observations, memory and policies."""
