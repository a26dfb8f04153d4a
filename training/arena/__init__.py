"""Evaluation: tournaments over duplicate deals, ratings, intervals, reports and the leaderboard.

The only place where agents are compared; trainers evaluate through it.
"""

from training.arena.report import Report
from training.arena.tournament import Tournament, play

__all__ = ["Report", "Tournament", "play"]
