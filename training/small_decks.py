"""The command ``python -m training.small_decks``; see `training.studies.small_decks`."""

from training.studies.small_decks import main

if __name__ == "__main__":
    main()
