"""Tests of agents, the table and its files."""
