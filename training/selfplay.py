"""The command ``python -m training.selfplay``; see `training.trainers.selfplay`."""

from training.trainers.selfplay import main

if __name__ == "__main__":
    main()
