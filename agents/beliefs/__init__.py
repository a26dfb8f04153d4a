"""Inference of hidden hands from other players' actions: a Markov chain over deals, and features."""
