"""The command ``python -m training.experiment``; see `training.trainers.experiment`."""

from training.trainers.experiment import main

if __name__ == "__main__":
    main()
