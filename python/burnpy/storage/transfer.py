"""How bytes travel: how many at once, how often they are asked for again, who is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

__all__ = ["Transfer"]

_MAY_BE_ZERO = ("gap_bytes", "retries", "backoff_s", "max_backoff_s")


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Settings of reads and writes over a network.

    Attributes:
        first_bytes: length of the first request of an open file. A header and metadata that fit need no second one;
            100 bytes a tensor are usual.
        gap_bytes: ranges that are no farther apart are joined into one request, and what lies between is thrown away.
        request_bytes: the most that one request brings. Joined ranges stay below, a larger tensor comes in pieces.
        max_requests: how many requests of one call are on their way at once.
        retries: how often a request is sent again when it failed and another attempt may help.
        backoff_s: the pause before the first repetition; each further one waits twice as long, less a random half.
        max_backoff_s: the longest pause.
        part_bytes: length of the parts of an upload. S3 takes at most 10 000, of 5 MiB or more each.
        progress: called with a URL, the bytes that came or went so far and the bytes of all; at the end once more,
            with an empty name. It may be called from any thread, never from two at once.

    Example:
        >>> Transfer(max_requests=16).request_bytes
        33554432
    """

    first_bytes: int = 64 << 10
    gap_bytes: int = 256 << 10
    request_bytes: int = 32 << 20
    max_requests: int = 8
    retries: int = 6
    backoff_s: float = 0.1
    max_backoff_s: float = 5.0
    part_bytes: int = 16 << 20
    progress: Callable[[str, int, int], None] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value, least = getattr(self, field.name), 0 if field.name in _MAY_BE_ZERO else 1
            if field.name == "progress":
                continue
            whole = field.name.endswith(("_bytes", "requests", "retries"))
            if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
                raise TypeError(f"{field.name} must be {'an int' if whole else 'a number'}, got {value!r}")
            if not value >= least:
                raise ValueError(f"{field.name} must be at least {least}, got {value}")
