"""Statistics that a module gathers while it trains."""

from __future__ import annotations

import threading

from burnpy._core import Tensor
from burnpy.module.param_id import ParamId
from burnpy.tensor.recompute import is_recomputing

__all__ = ["RunningState"]


class RunningState:
    """A value that forward passes move along, such as the running mean of a batch normalisation.

    Each thread has one pending value; :meth:`update` folds what is pending and leaves a new one. It is recorded,
    loaded and counted as a parameter of floats, and never asks for a gradient. A ``backward`` that computes a
    checkpointed part again moves nothing.

    Example:
        >>> from burnpy import Tensor
        >>> state = RunningState(Tensor([0.0]))
        >>> state.update(Tensor([2.0]))
        >>> state.value().item(), state.value_sync().item()
        (0.0, 2.0)

    Source: Burn ``module::RunningState``.
    """

    __slots__ = ("_lock", "_pending", "_value", "id")

    def __init__(self, value: Tensor, *, id: ParamId | None = None) -> None:
        self.id = id or ParamId.new()
        self._value = value.inner()
        self._pending: dict[int, Tensor] = {}
        self._lock = threading.Lock()

    def update(self, value: Tensor) -> None:
        """Leave a value, after what this thread left before has become the current one."""
        if is_recomputing():
            return
        thread = threading.get_ident()
        with self._lock:
            if thread in self._pending:
                self._fold()
            self._pending[thread] = value.inner()

    def value(self) -> Tensor:
        """The current value; it may lag by one update."""
        return self._value

    def value_sync(self) -> Tensor:
        """The current value, after what is pending has become it, if this thread left some of that."""
        with self._lock:
            if threading.get_ident() in self._pending and not is_recomputing():
                self._fold()
            return self._value

    def fold(self) -> Tensor:
        """The current value, after what any thread left has become it: what is recorded and copied."""
        with self._lock:
            self._fold()
            return self._value

    def set_value(self, value: Tensor) -> None:
        """Put another value in its place; what is pending is forgotten.

        Unlike Burn: where a pending value survives a load and overwrites what was loaded.
        """
        with self._lock:
            self._pending.clear()
            self._value = value.inner()

    def _fold(self) -> None:
        if not self._pending:
            return
        values = list(self._pending.values())
        total = values[0]
        for value in values[1:]:
            total = total + value
        self._value = total / len(values) if len(values) > 1 else total
        self._pending.clear()

    def clone(self) -> RunningState:
        """The same value and id in independent storage, folded."""
        return RunningState(self.fold(), id=self.id)

    def __getstate__(self) -> tuple[ParamId, Tensor]:
        return self.id, self.fold()

    def __setstate__(self, state: tuple[ParamId, Tensor]) -> None:
        self.__init__(state[1], id=state[0])  # type: ignore[misc]

    def __repr__(self) -> str:
        return "RunningState"
