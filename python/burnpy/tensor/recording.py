"""Whether operations leave a graph behind."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from burnpy import _core

__all__ = ["no_grad"]

P = ParamSpec("P")
R = TypeVar("R")


class no_grad:
    """Inside, nothing is recorded on this thread: results are untracked. As a context or as a decorator.

    Example:
        >>> x = _core.Tensor([1.0]).require_grad()
        >>> with no_grad():
        ...     (x + x).is_tracked()
        False
        >>> no_grad()(lambda: (x + x).is_tracked())()
        False
    """

    def __init__(self) -> None:
        self._outer: list[bool] = []

    def __enter__(self) -> None:
        self._outer.append(_core.set_recording(False))

    def __exit__(self, *exception: object) -> None:
        _core.set_recording(self._outer.pop())

    def __call__(self, function: Callable[P, R], /) -> Callable[P, R]:
        """The function, run inside."""

        @wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> R:
            with no_grad():
                return function(*args, **kwargs)

        return run
