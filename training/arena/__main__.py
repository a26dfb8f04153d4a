"""The command ``python -m training.arena``; see `training.arena.command`."""

from training.arena.command import main

if __name__ == "__main__":
    main()
