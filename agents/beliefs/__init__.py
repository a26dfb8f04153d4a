"""What other players' actions say about their hands: a Markov chain over deals, and network inputs.

Pure inference; choosing actions belongs in `agents.search` and `agents.network`.
"""
