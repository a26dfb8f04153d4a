"""Training and evaluation of agents for TAKI."""
