"""Search: a tree search over re-deals as an agent, and rollouts that evaluate actions."""
