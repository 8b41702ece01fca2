"""Random numbers of one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from burnpy._core import random_state, set_own_random_state

__all__ = ["own_random_state"]

_State: TypeAlias = tuple[int, int, int, int]


@contextmanager
def own_random_state(state: _State | None = None) -> Iterator[None]:
    """Inside, this thread draws from a state of its own, whatever other threads draw meanwhile.

    ``manual_seed``, ``random_state`` and ``set_random_state`` are about that state then. What ``backward`` computes
    again for :func:`burnpy.autodiff.checkpoint` is drawn as it was the first time, wherever ``backward`` is called.
    Left on the thread that entered it.

    Args:
        state: to begin with, as ``random_state`` gives it; by default the one that this thread has now.

    Example:
        >>> from burnpy import manual_seed
        >>> manual_seed(1)
        >>> with own_random_state():
        ...     manual_seed(2)
        ...     random_state()[0]
        2
        >>> random_state()[0]
        1
    """
    outer = set_own_random_state(random_state() if state is None else state)
    try:
        yield
    finally:
        set_own_random_state(outer)
