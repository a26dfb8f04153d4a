"""The command ``python -m agents.play``; see `agents.table.play`."""

from agents.table.play import main

if __name__ == "__main__":
    main()
