"""The command ``python -m agents.replay``, and `show` for notebooks; see `agents.table.replay`."""

from agents.table.replay import main, show

__all__ = ["main", "show"]

if __name__ == "__main__":
    main()
