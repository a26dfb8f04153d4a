"""The command ``python -m training.train``; see `training.trainers.train`."""

from training.trainers.train import main

if __name__ == "__main__":
    main()
