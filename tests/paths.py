"""Where the tests find their data; also what a child process is told."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def _folder(variable: str) -> Path | None:
    value = os.environ.get(variable)
    # Relative to the checkout, so that a value means the same from every working directory.
    return (ROOT / value).resolve() if value else None


GOLDEN = _folder("BURNPY_GOLDEN") or ROOT / "tests" / "golden"
"""Files with known content; see its README."""

GOLDEN_EXTRA = _folder("BURNPY_GOLDEN_EXTRA")
"""Checkpoint files that are not part of the project; ``None`` where there are none."""

CORPUS = ROOT / "tests" / "corpus"
"""Hostile files and the finds of fuzzing."""
