"""What is kept between the steps of a decoder."""

from __future__ import annotations

from collections.abc import Callable

from burnpy.tensor import ShapeError, Tensor

__all__ = ["TensorCache"]


class TensorCache:
    """A result that grows with the sequence, or is computed once.

    Example:
        >>> cache = TensorCache()
        >>> seen = []
        >>> def double(x):
        ...     seen.append(x.shape[1])
        ...     return x * 2.0
        >>> cache.forward_autoregressive(Tensor([[1.0, 2.0]]), 1, double).tolist()
        [[2.0, 4.0]]
        >>> cache.forward_autoregressive(Tensor([[1.0, 2.0, 3.0]]), 1, double).tolist()
        [[2.0, 4.0, 6.0]]
        >>> seen
        [2, 1]

    Source: Burn ``nn::cache::TensorCache``.
    """

    def __init__(self) -> None:
        self._value: Tensor | None = None

    def len(self, dim: int = 1) -> int:
        """How many places along an axis are kept; 0 before the first step."""
        return 0 if self._value is None else self._value.shape[dim]

    def forward_autoregressive(self, x: Tensor, dim: int, function: Callable[[Tensor], Tensor]) -> Tensor:
        """``function(x)``, computed only for the places along ``dim`` that are not kept yet.

        Raises:
            ShapeError: ``x`` is shorter than what is kept.
        """
        known, total = self.len(dim), x.shape[dim]
        if total < known:
            raise ShapeError(f"a sequence of {total} was given to a cache that holds {known} of it already")
        if total == known and self._value is not None:
            return self._value
        return self.append(function(x.narrow(dim, known, total - known) if known else x), dim)

    def append(self, new: Tensor, dim: int) -> Tensor:
        """All results, with new ones behind those that are kept."""
        self._value = new if self._value is None else Tensor.cat([self._value, new], dim)
        return self._value

    def forward_full(self, x: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
        """``function(x)`` of the first call."""
        if self._value is None:
            self._value = function(x)
        return self._value
