"""The command ``python -m agents.analyze``; see `agents.table.analyze`."""

from agents.table.analyze import main

if __name__ == "__main__":
    main()
