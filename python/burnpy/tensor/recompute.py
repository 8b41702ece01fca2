"""Gradient checkpointing: less memory for more work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Self

from burnpy import _core
from burnpy._core import Tensor

__all__ = ["checkpoint", "checkpointed", "gradient_checkpointing", "is_recomputing"]

P = ParamSpec("P")


class _Here(threading.local):
    """The state of a thread: parts that were checkpointed since it is on, ``None`` while it is off."""

    parts: int | None = None
    recomputing = False


_here = _Here()


def checkpoint(function: Callable[..., Tensor], /, *tensors: Tensor) -> Tensor:
    """``function(*tensors)``, of which only the inputs are kept: ``backward`` calls the function again.

    The numbers are the same to the bit: random draws are those of the first time, and running statistics move once.
    Tensors that the function takes from elsewhere get their gradients too.

    Raises:
        Exception: what the function raises, now or in ``backward``.

    Cost: the work of the function once more; the memory of what lies between its inputs and its output is free.

    Example:
        >>> x, calls = Tensor([2.0]).require_grad(), []
        >>> y = checkpoint(lambda x: calls.append("call") or x * x * x, x)
        >>> x.grad(y.backward()).item(), len(calls)
        (12.0, 2)

    Source: Chen et al. 2016.
    """
    ran = False

    def run(*inputs: Tensor) -> Tensor:
        nonlocal ran
        if not ran:
            ran = True
            return function(*inputs)
        outer, _here.recomputing = _here.recomputing, True
        try:
            return function(*inputs)
        finally:
            _here.recomputing = outer

    return _core.checkpoint(run, *tensors)


class gradient_checkpointing:
    """Inside, on this thread, what is marked with :func:`checkpointed` keeps its inputs alone, as :func:`checkpoint`.

    Attributes:
        parts: after the end: how many calls were checkpointed.

    Example:
        >>> from burnpy.nn import TransformerEncoderConfig, TransformerEncoderInput
        >>> encoder = TransformerEncoderConfig(8, 16, 2, n_layers=3).init()
        >>> with gradient_checkpointing() as checkpointing:
        ...     loss = encoder(TransformerEncoderInput(Tensor.ones((1, 4, 8)))).sum()
        >>> checkpointing.parts
        3
    """

    parts: int | None = None

    def __enter__(self) -> Self:
        self._outer, _here.parts = _here.parts, 0
        return self

    def __exit__(self, *exception: object) -> None:
        self.parts, _here.parts = _here.parts, self._outer


def checkpointed(method: Callable[P, Tensor], /) -> Callable[P, Tensor]:
    """Mark a method or function of one tensor as a part for :class:`gradient_checkpointing`. Elsewhere it is as it was.

    Good parts are the blocks of a deep model: what lies between is large beside the inputs. The layers of
    ``nn.transformer`` are marked. A part must do the same when it is called again with the same arguments.

    Raises:
        TypeError: on a call that is checkpointed: the result is no tensor.

    Example:
        >>> from burnpy import Module, nn
        >>> class Block(Module):
        ...     def __init__(self):
        ...         self.fc = nn.LinearConfig(4, 4).init()
        ...     @checkpointed
        ...     def forward(self, x):
        ...         return x + self.fc(x).tanh()
        >>> Block()(Tensor.ones((2, 4))).shape
        (2, 4)
    """

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> Tensor:
        if _here.parts is None:
            return method(*args, **kwargs)
        _here.parts += 1

        def part() -> Tensor:
            output: Any = method(*args, **kwargs)
            if not isinstance(output, Tensor):
                name = type(output).__name__
                raise TypeError(
                    f"{method.__qualname__}: what is checkpointed must return one tensor, got {name}"
                )
            return output

        return checkpoint(part)

    return run


def is_recomputing() -> bool:
    """Whether this thread is in a ``backward`` that calls a part again: what is counted or gathered in it has been."""
    return _here.recomputing
