"""``python -m burnpy``: the same program as the command ``burnpy``."""

import sys

from burnpy.cli import main

if __name__ == "__main__":
    sys.exit(main())
