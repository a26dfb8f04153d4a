"""The command ``python -m training.evaluate``; see `training.arena.evaluate`."""

from training.arena.evaluate import main

if __name__ == "__main__":
    main()
