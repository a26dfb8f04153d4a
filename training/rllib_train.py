"""The command ``python -m training.rllib_train``; see `training.trainers.rllib_train`."""

from training.trainers.rllib_train import main

if __name__ == "__main__":
    main()
