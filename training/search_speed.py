"""The command ``python -m training.search_speed``; see `training.studies.search_speed`."""

from training.studies.search_speed import main

if __name__ == "__main__":
    main()
