"""The command ``python -m agents.replay``, and `show` for notebooks; see `agents.table`."""

from agents.table.page import show
from agents.table.replay import main

__all__ = ["main", "show"]

if __name__ == "__main__":
    main()
