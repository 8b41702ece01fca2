"""What recurrent modules are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from burnpy.module import Initializer, Module, Param
from burnpy.nn.activation import Activation
from burnpy.nn.linear import LinearConfig
from burnpy.tensor import Device, ShapeError, Tensor
from burnpy.tensor import module as ops

__all__ = [
    "XAVIER",
    "GateController",
    "Packed",
    "check_sequence",
    "check_state",
    "clipped",
    "gate_values",
    "joined",
    "walk",
]

XAVIER = Initializer.XavierNormal(gain=1.0)
"""Weights, and biases too, from N(0, √(2 / (fan_in + fan_out)))."""


class GateController(Module):
    """One gate of a recurrent module: what the input says and what the hidden state says, added.

    Example:
        >>> gate = GateController(2, 3, bias=True, initializer=XAVIER)
        >>> gate.gate_product(Tensor.ones((1, 2)), Tensor.ones((1, 3))).shape
        (1, 3)

    Source: Burn ``nn::GateController``.
    """

    def __init__(
        self,
        d_input: int,
        d_hidden: int,
        *,
        bias: bool,
        initializer: Initializer,
        device: Device | None = None,
    ) -> None:
        linear = LinearConfig(d_input, d_hidden, bias=bias, initializer=initializer)
        self.input_transform = linear.init(device)
        hidden = LinearConfig(d_hidden, d_hidden, bias=bias, initializer=initializer)
        self.hidden_transform = hidden.init(device)

    @property
    def d_input(self) -> int:
        """Features of the input. Makes no value."""
        return self.input_transform.weight.lazy_shape()[0]

    @property
    def d_hidden(self) -> int:
        """Features of the hidden state. Makes no value."""
        return self.input_transform.weight.lazy_shape()[1]

    def gate_product(self, x: Tensor, hidden: Tensor) -> Tensor:
        """``input_transform(x) + hidden_transform(hidden)``."""
        return self.input_transform.forward(x) + self.hidden_transform.forward(hidden)

    def sizes(self) -> list[tuple[str, object]]:
        """What recurrent modules show."""
        has_bias = self.input_transform.bias is not None
        return [("d_input", self.d_input), ("d_hidden", self.d_hidden), ("bias", has_bias)]


class Packed(NamedTuple):
    """Weights of several gates side by side, so that one product serves them all."""

    weight: Tensor
    bias: Tensor | None

    @classmethod
    def inputs(cls, gates: Sequence[GateController]) -> Packed:
        """What the gates do with the input."""
        return cls._of([(gate.input_transform.weight, gate.input_transform.bias) for gate in gates])

    @classmethod
    def hiddens(cls, gates: Sequence[GateController]) -> Packed:
        """What the gates do with the hidden state."""
        return cls._of([(gate.hidden_transform.weight, gate.hidden_transform.bias) for gate in gates])

    @classmethod
    def _of(cls, pairs: list[tuple[Param, Param | None]]) -> Packed:
        biases = [bias.val() for _, bias in pairs if bias is not None]
        weight = _side_by_side([weight.val() for weight, _ in pairs], 1)
        return cls(weight, _side_by_side(biases, 0) if biases else None)

    def __call__(self, x: Tensor) -> Tensor:
        """``x @ weight + bias``."""
        return ops.linear(x, self.weight, self.bias)


def _side_by_side(tensors: list[Tensor], dim: int) -> Tensor:
    return tensors[0] if len(tensors) == 1 else Tensor.cat(tensors, dim)


def walk(x: Tensor, *, reverse: bool) -> Iterator[Tensor]:
    """The steps of ``(seq, batch, features)``, from the end if wanted, each ``(1, batch, features)``."""
    pieces = x.iter_dim(0)
    return reversed(pieces) if reverse else iter(pieces)


def joined(outputs: list[Tensor], like: Tensor, *, batch_first: bool, reverse: bool) -> Tensor:
    """The outputs of a walk as a sequence; ``like`` is one of them, for an empty walk."""
    pieces = outputs[::-1] if reverse else outputs
    x = Tensor.cat(pieces, 0) if pieces else like.slice_dim(0, slice(0, 0))
    return x.swap_dims(0, 1) if batch_first else x


def gate_values(activation: Activation, gates: Tensor, count: int) -> list[Tensor]:
    """The values of gates that stand side by side; at once where the activation does not know them apart."""
    if activation.num_params():
        return [activation.forward(gate) for gate in gates.chunk(count, 2)]
    return activation.forward(gates).chunk(count, 2)


def clipped(x: Tensor, clip: float | None) -> Tensor:
    """``x`` within ±clip, if there is one."""
    return x if clip is None else x.clamp(-clip, clip)


def check_sequence(x: Tensor, d_input: int, *, batch_first: bool) -> None:
    """Raise unless ``x`` is a batch of sequences."""
    if len(x.shape) != 3 or x.shape[2] != d_input:
        axes = "batch, seq" if batch_first else "seq, batch"
        raise ShapeError(f"x must have shape ({axes}, {d_input}), got {x.shape}")


def check_state(name: str, state: Tensor, shape: tuple[int, ...]) -> None:
    """Raise unless a state has this shape."""
    if state.shape != shape:
        raise ShapeError(f"{name} must have shape {shape}, got {state.shape}")
