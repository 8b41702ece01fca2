"""Where in a sequence something stands, as a rotation of its features."""

from __future__ import annotations

import math
from collections.abc import Callable

from burnpy.config import F32, KW_ONLY, Config, NonNegative
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.tensor import Device, ShapeError, Tensor

__all__ = ["RotaryEncoding", "RotaryEncodingConfig"]


class RotaryEncodingConfig(Config):
    """What a :class:`RotaryEncoding` is made of.

    Raises:
        ConfigError: ``d_model`` is odd, or ``theta`` is not positive.

    Example:
        >>> print(RotaryEncodingConfig(10, 4).init())
        RotaryEncoding {d_model: 4, max_sequence_length: 10}

    Source: Burn ``nn::RotaryEncodingConfig``.
    """

    max_sequence_length: NonNegative
    d_model: NonNegative
    _: KW_ONLY
    theta: F32 = 10_000.0

    def validate(self) -> None:
        """Check what the types do not say."""
        if self.d_model % 2:
            raise ConfigError(f"RotaryEncodingConfig: d_model must be even, got {self.d_model}")
        if not self.theta > 0:
            raise ConfigError(f"RotaryEncodingConfig: theta must be positive, got {self.theta}")

    def init(self, device: Device | None = None) -> RotaryEncoding:
        """The module."""
        return RotaryEncoding(self, lambda rates: rates)

    def init_with_frequency_scaling(
        self, scaling: Callable[[Tensor], Tensor], device: Device | None = None
    ) -> RotaryEncoding:
        """The module with other frequencies: what a function makes of ``theta^(−2i/d)``, a tensor ``(d_model / 2,)``.

        Raises:
            ShapeError: the function returns another shape.
        """
        return RotaryEncoding(self, scaling)


class RotaryEncoding(Module):
    """Rotates features ``(2i, 2i + 1)`` of place ``p`` by the angle ``p · theta^(−2i/d)``.

    Nothing of it is recorded.

    Shapes:
        x: ``(..., seq, d_model)``
        returns: as ``x``

    Raises:
        ShapeError: the places do not lie in the table, or the last axis is not ``d_model``.

    Example:
        >>> rotary = RotaryEncodingConfig(10, 2).init()
        >>> rotary.forward(Tensor([[1.0, 0.0], [1.0, 0.0]])).cast("f64").round_to(4).tolist()
        [[1.0, 0.0], [0.5403, 0.8415]]

    Source: Burn ``nn::RotaryEncoding``; Su et al. 2021.
    """

    def __init__(self, config: RotaryEncodingConfig, scaling: Callable[[Tensor], Tensor]) -> None:
        self.d_model = config.d_model
        self.max_sequence_length = config.max_sequence_length
        self.theta = _rates(config, scaling)
        self.start_offset = 0
        self._compute()

    @property
    def freq_complex(self) -> Tensor:
        """Cosine and sine of each place and feature, those of even features negated: ``(places, d_model, 2)``."""
        return Tensor.stack([self._cosines, self._sines], 2)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` rotated, its first place being the first of the table."""
        return self.apply(x, 0)

    def apply(self, x: Tensor, start: int) -> Tensor:
        """``x`` rotated, its first place being row ``start`` of the table."""
        length, width = x.shape[-2:] if len(x.shape) >= 2 else (0, -1)
        if width != self.d_model or start < 0 or start + length > self.max_sequence_length:
            raise ShapeError(
                f"x must have shape (..., seq, {self.d_model}) with start + seq up to {self.max_sequence_length}, "
                f"got {x.shape} and start {start}"
            )
        pairs = x.reshape_literal([*x.shape[:-1], width // 2, 2])
        swapped = pairs.flip([-1]).reshape_literal(list(x.shape))
        return x * self._rows(self._cosines, start, x) + swapped * self._rows(self._sines, start, x)

    def _rows(self, table: Tensor, start: int, x: Tensor) -> Tensor:
        rows = table.slice_dim(0, slice(start, start + x.shape[-2])).cast(x.dtype)
        return rows.reshape_literal([1] * (len(x.shape) - 2) + list(rows.shape))

    def shift(self, start: int) -> None:
        """Have the table begin at place ``start``: for sequences that go on beyond its end.

        Raises:
            ValueError: ``start`` is not beyond where it begins now.
        """
        if start <= self.start_offset:
            raise ValueError(f"start must be over the current start {self.start_offset}, got {start}")
        self.start_offset = start
        self._compute()

    def reset(self) -> None:
        """Have the table begin at place 0 again."""
        self.start_offset = 0
        self._compute()

    def _compute(self) -> None:
        """The factors of the features and of their neighbours, ``(max_sequence_length, d_model)`` each."""
        first, shape = self.start_offset, (self.max_sequence_length, self.d_model)
        if 0 in shape:
            self._cosines = self._sines = Tensor.zeros(shape, Device.cpu())
            return
        places = Tensor.arange(first, first + shape[0], device=Device.cpu()).cast("f64").unsqueeze_dim(1)
        angles = places * self.theta.cast("f64").unsqueeze_dim(0)
        sines, cosines = angles.sin(), angles.cos()
        self._cosines = Tensor.stack([cosines, cosines], 2).reshape(shape).cast("f32")
        self._sines = Tensor.stack([-sines, sines], 2).reshape(shape).cast("f32")

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes."""
        return [("d_model", self.d_model), ("max_sequence_length", self.max_sequence_length)]


def _rates(config: RotaryEncodingConfig, scaling: Callable[[Tensor], Tensor]) -> Tensor:
    half = config.d_model // 2
    exponents = Tensor.arange(0, half, device=Device.cpu()).cast("f64") * (-2.0 / max(config.d_model, 1))
    rates = scaling((exponents * math.log(config.theta)).exp().cast("f32"))
    if rates.shape != (half,):
        raise ShapeError(f"frequencies must have shape ({half},), got {rates.shape}")
    return rates.inner()
