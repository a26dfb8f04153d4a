"""The command ``python -m training.tune_expert``; see `training.studies.tune_expert`."""

from training.studies.tune_expert import main

if __name__ == "__main__":
    main()
