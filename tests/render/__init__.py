"""Tests of text, pictures, windows."""
