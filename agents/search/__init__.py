"""Search agents: a tree search over re-deals, and rollouts that value actions.

Nothing here needs torch.
"""
