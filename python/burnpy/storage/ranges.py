"""Ranges of an object as few requests: near ones joined, long ones cut, several on their way at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Request", "assemble", "fetch_all", "plan"]

Range = tuple[int, int]


@dataclass
class Request:
    """One request, and which of the wanted ranges have bytes in it, by their place in the list."""

    start: int
    stop: int
    serves: list[int] = field(default_factory=list)


def plan(ranges: Sequence[Range], gap_bytes: int, request_bytes: int) -> list[Request]:
    """The requests that bring all ranges, in the order of the object; empty ranges need none.

    Example:
        >>> [(r.start, r.stop, r.serves) for r in plan([(0, 4), (6, 9), (50, 75)], gap_bytes=2, request_bytes=10)]
        [(0, 9, [0, 1]), (50, 60, [2]), (60, 70, [2]), (70, 75, [2])]
    """
    requests: list[Request] = []
    open_to_more = False
    for index, (start, stop) in sorted(enumerate(ranges), key=lambda item: item[1]):
        if start >= stop:
            continue
        last = requests[-1] if open_to_more else None
        if last and start - last.stop <= gap_bytes and max(stop, last.stop) - last.start <= request_bytes:
            last.stop = max(stop, last.stop)
            last.serves.append(index)
            continue
        cuts = range(start, stop, request_bytes)
        requests += [Request(cut, min(cut + request_bytes, stop), [index]) for cut in cuts]
        # The pieces of a long range are put together; nothing else may lie in them.
        open_to_more = len(cuts) == 1
    return requests


def fetch_all(
    requests: Sequence[Request],
    read: Callable[[int, int], Any],
    max_requests: int,
    done: Callable[[int], None],
) -> list[Any]:
    """The bytes of each request. The first fault ends all: what has not begun by then is not sent.

    Args:
        requests: what to read.
        read: reads one range.
        max_requests: how many run at once.
        done: is told of the bytes that came, from this thread.
    """
    if len(requests) <= 1:
        pieces = [read(request.start, request.stop) for request in requests]
        for piece in pieces:
            done(len(piece))
        return pieces
    with ThreadPoolExecutor(min(max_requests, len(requests)), thread_name_prefix="burnpy-fetch") as pool:
        futures = [pool.submit(read, request.start, request.stop) for request in requests]
        try:
            for future in as_completed(futures):
                done(len(future.result()))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in futures]


def assemble(ranges: Sequence[Range], requests: Sequence[Request], pieces: Sequence[Any]) -> list[memoryview]:
    """The bytes of each range: a window of its piece, or the pieces of a long one put together."""
    found: list[memoryview] = [memoryview(b"")] * len(ranges)
    whole: dict[int, memoryview] = {}
    for request, piece in zip(requests, pieces, strict=True):
        view = memoryview(piece).cast("B")
        for index in request.serves:
            start, stop = ranges[index]
            if request.start <= start and stop <= request.stop:
                found[index] = view[start - request.start : stop - request.start]
                continue
            if index not in whole:
                found[index] = whole[index] = memoryview(bytearray(stop - start))
            whole[index][request.start - start : request.stop - start] = view
    return found
