"""The state of an LSTM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from burnpy.tensor import Device, ShapeError, Tensor

__all__ = ["LstmState"]


@dataclass(frozen=True)
class LstmState:
    """What an LSTM carries from step to step: the cell and the hidden state, of one shape.

    Shapes:
        cell, hidden: ``(batch, d_hidden)``; of a bi-directional one ``(2, batch, d_hidden)``

    Raises:
        ShapeError: their shapes differ.

    Example:
        >>> state = LstmState.initial(2, 3)
        >>> LstmState.stack([state, state]).shape
        (2, 2, 3)

    Source: Burn ``nn::LstmState``.
    """

    cell: Tensor
    hidden: Tensor

    def __post_init__(self) -> None:
        if self.cell.shape != self.hidden.shape:
            raise ShapeError(
                f"cell and hidden must have one shape, got {self.cell.shape} and {self.hidden.shape}"
            )

    @classmethod
    def new(cls, cell: Tensor, hidden: Tensor) -> LstmState:
        """The state of both."""
        return cls(cell, hidden)

    @classmethod
    def initial(cls, batch_size: int, d_hidden: int, device: Device | None = None) -> LstmState:
        """Zeros."""
        zeros = Tensor.zeros((batch_size, d_hidden), device)
        return cls(zeros, zeros)

    @classmethod
    def unwrap_or_initial(
        cls, state: LstmState | None, batch_size: int, d_hidden: int, device: Device | None = None
    ) -> LstmState:
        """The state, or zeros if there is none."""
        return cls.initial(batch_size, d_hidden, device) if state is None else state

    @classmethod
    def stack(cls, states: list[LstmState], dim: int = 0) -> LstmState:
        """Several states along a new axis."""
        cells, hiddens = [state.cell for state in states], [state.hidden for state in states]
        return cls(Tensor.stack(cells, dim), Tensor.stack(hiddens, dim))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of both."""
        return self.cell.shape

    @property
    def device(self) -> Device:
        """Where they are."""
        return self.cell.device

    def unpack(self) -> tuple[Tensor, Tensor]:
        """Cell and hidden state."""
        return self.cell, self.hidden

    def map_state(self, function: Callable[[Tensor], Tensor]) -> LstmState:
        """What a function makes of both."""
        return LstmState(function(self.cell), function(self.hidden))

    def slice(self, ranges: Any) -> LstmState:
        """The same part of both, as ``Tensor.slice``."""
        return self.map_state(lambda x: x.slice(ranges))

    def squeeze_dim(self, dim: int) -> LstmState:
        """Both without an axis of size 1."""
        return self.map_state(lambda x: x.squeeze_dim(dim))

    def unsqueeze_dim(self, dim: int) -> LstmState:
        """Both with a new axis of size 1."""
        return self.map_state(lambda x: x.unsqueeze_dim(dim))

    def chunk(self, chunks: int, dim: int = 0) -> list[LstmState]:
        """Pieces of both along an axis, as ``Tensor.chunk``."""
        pairs = zip(self.cell.chunk(chunks, dim), self.hidden.chunk(chunks, dim), strict=True)
        return [LstmState(cell, hidden) for cell, hidden in pairs]
