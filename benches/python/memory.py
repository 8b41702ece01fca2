"""The most memory that an action needs, as Linux counts it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any


def peak_of(action: Callable[[], Any], pid: int | str = "self") -> int:
    """Peak of the resident set during the action minus the resident set before it, in bytes."""
    process = Path("/proc") / str(pid)
    (process / "clear_refs").write_text("5")  # the peak starts again from the present size
    before = _status(process, "VmRSS")
    kept = action()
    peak = _status(process, "VmHWM") - before
    del kept
    return peak


def _status(process: Path, field: str) -> int:
    for line in (process / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(f"no {field} in {process / 'status'}")
