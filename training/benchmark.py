"""The command ``python -m training.benchmark``; see `training.studies.benchmark`."""

from training.studies.benchmark import main

if __name__ == "__main__":
    main()
