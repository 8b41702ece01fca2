"""Requests that are sent again when that may help."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from burnpy.errors import StorageError

if TYPE_CHECKING:
    from burnpy.storage.transfer import Transfer

__all__ = ["again"]

T = TypeVar("T")


def again(request: Callable[[], T], transfer: Transfer) -> T:
    """The answer to a request; a transient fault is met with a pause and another attempt.

    Raises:
        StorageError: a fault that no attempt helps, or the last one, with the number of ``attempts``.

    Example:
        >>> from burnpy.storage import Transfer
        >>> answers = iter([StorageError("busy", transient=True), "here"])
        >>> def request():
        ...     answer = next(answers)
        ...     if isinstance(answer, Exception):
        ...         raise answer
        ...     return answer
        >>> again(request, Transfer(backoff_s=0))
        'here'
    """
    attempt = 1
    while True:
        try:
            return request()
        except StorageError as error:
            error.attempts = attempt
            if not error.transient or attempt > transfer.retries:
                raise
        pause = min(transfer.max_backoff_s, transfer.backoff_s * 2 ** (attempt - 1))
        # Many readers that were refused together must not come back together.
        time.sleep(pause * random.uniform(0.5, 1))
        attempt += 1
