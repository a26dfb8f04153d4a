"""Tests of trainers, the arena and studies."""
