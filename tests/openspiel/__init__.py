"""Tests of the OpenSpiel game."""
