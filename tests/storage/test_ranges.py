"""Ranges become few requests, and each range gets its bytes."""

import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnpy.storage import Transfer
from burnpy.storage.ranges import Request, assemble, fetch_all, plan

OBJECT = bytes(range(251)) * 4

spans = st.tuples(st.integers(0, len(OBJECT)), st.integers(0, 300)).map(
    lambda span: (span[0], min(span[0] + span[1], len(OBJECT)))
)


@given(st.lists(spans, max_size=12), st.integers(0, 80), st.integers(1, 400))
def test_every_range_gets_its_bytes_whatever_the_gap_and_the_length_of_a_request(
    ranges: list[tuple[int, int]], gap: int, most: int
) -> None:
    requests = plan(ranges, gap, most)
    pieces = [OBJECT[request.start : request.stop] for request in requests]
    found = assemble(ranges, requests, pieces)
    assert [bytes(part) for part in found] == [OBJECT[start:stop] for start, stop in ranges]
    assert all(0 < request.stop - request.start <= most for request in requests)


def test_ranges_are_joined_up_to_the_gap_and_no_farther() -> None:
    joined = plan([(0, 10), (20, 30), (41, 50)], gap_bytes=10, request_bytes=100)
    assert [(request.start, request.stop) for request in joined] == [(0, 30), (41, 50)]


def test_a_range_that_is_longer_than_a_request_is_cut_and_shares_none_of_its_pieces() -> None:
    requests = plan([(0, 25), (25, 30)], gap_bytes=10, request_bytes=10)
    spans = [(request.start, request.stop, request.serves) for request in requests]
    assert spans == [(0, 10, [0]), (10, 20, [0]), (20, 25, [0]), (25, 30, [1])]


def test_no_more_requests_run_at_once_than_allowed() -> None:
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(3)

    def read(start: int, stop: int) -> bytes:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(timeout=30)
        with lock:
            running -= 1
        return OBJECT[start:stop]

    requests = [Request(start, start + 1, [start]) for start in range(9)]
    assert len(fetch_all(requests, read, 3, lambda length: None)) == 9
    assert most == 3


def test_the_first_fault_ends_all_and_what_has_not_begun_is_not_sent() -> None:
    asked = []

    def read(start: int, stop: int) -> bytes:
        asked.append(start)
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        fetch_all([Request(start, start + 1) for start in range(100)], read, 2, lambda length: None)
    assert len(asked) < 100


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"max_requests": 0}, "max_requests must be at least 1, got 0"),
        ({"request_bytes": -1}, "request_bytes must be at least 1, got -1"),
        ({"gap_bytes": -5}, "gap_bytes must be at least 0, got -5"),
        ({"backoff_s": float("nan")}, "backoff_s must be at least 0, got nan"),
    ],
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Transfer(**wrong)


def test_a_number_of_bytes_is_whole() -> None:
    with pytest.raises(TypeError, match=r"part_bytes must be an int, got 1\.5"):
        Transfer(part_bytes=1.5)  # type: ignore[arg-type]
