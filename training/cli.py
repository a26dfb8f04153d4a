"""What the command lines share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def run(main: Callable[[], Any]) -> None:
    """Run a command; what a user got wrong is said in a line, with exit status 2."""
    try:
        main()
    except (ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
