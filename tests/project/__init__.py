"""Tests of the documentation, the notebooks and the packaging."""
