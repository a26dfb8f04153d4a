"""The command ``python -m training.leaderboard``; see `training.arena.leaderboard`."""

from training.arena.leaderboard import main

if __name__ == "__main__":
    main()
