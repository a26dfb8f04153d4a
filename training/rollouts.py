"""The command ``python -m training.rollouts``; see `training.trainers.rollouts`."""

from training.trainers.rollouts import main

if __name__ == "__main__":
    main()
