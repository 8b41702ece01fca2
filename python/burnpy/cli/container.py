"""A file opened for a command, and what JSON says of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from burnpy.cli.text import json_float

if TYPE_CHECKING:
    from burnpy.pack import Reader, Scalar

__all__ = ["opened", "scalar_json"]


@contextmanager
def opened(path: str, *, backend: str = "pread") -> Iterator[Reader]:
    """Open a file for as long as the block runs.

    Reads through the open file, not a map: a command must not die of a file that another process cuts.
    """
    # Here, not at the top: `burnpy --help` need not load the core.
    from burnpy.pack import Reader

    with Reader.from_file(path, backend=backend) as reader:
        yield reader


def scalar_json(scalar: Scalar) -> dict[str, Any]:
    """A scalar's kind and value; a float that JSON cannot say is a word."""
    value = scalar.value
    return {"kind": scalar.kind, "value": json_float(value) if isinstance(value, float) else value}
