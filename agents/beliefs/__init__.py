"""Inference of hidden hands from other players' actions: deals by a Markov chain, and features."""
