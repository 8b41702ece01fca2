"""Where in a sequence something stands, added to it."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.errors import ConfigError
from burnpy.module import Module
from burnpy.tensor import Device, ShapeError, Tensor

__all__ = ["PositionalEncoding", "PositionalEncodingConfig"]


class PositionalEncodingConfig(Config):
    """What a :class:`PositionalEncoding` is made of.

    Raises:
        ConfigError: ``d_model`` is odd, or ``max_timescale`` is less than ``max_sequence_size``.

    Example:
        >>> print(PositionalEncodingConfig(4).init())
        PositionalEncoding {d_model: 4, max_sequence_size: 5000, max_timescale: 10000}

    Source: Burn ``nn::PositionalEncodingConfig``.
    """

    d_model: NonNegative
    _: KW_ONLY
    max_sequence_size: NonNegative = 5000
    max_timescale: NonNegative = 10_000

    def validate(self) -> None:
        """Check what the types do not say."""
        if self.d_model % 2:
            raise ConfigError(f"PositionalEncodingConfig: d_model must be even, got {self.d_model}")
        if self.max_timescale < self.max_sequence_size:
            raise ConfigError(
                "PositionalEncodingConfig: max_timescale must be at least max_sequence_size "
                f"{self.max_sequence_size}, got {self.max_timescale}"
            )

    def init(self, device: Device | None = None) -> PositionalEncoding:
        """The module."""
        return PositionalEncoding(self, device)


class PositionalEncoding(Module):
    """Adds sines and cosines of the place: ``sin(p · T^(−2i/d))`` to feature ``2i``, the cosine to ``2i + 1``.

    Nothing of it is recorded.

    Shapes:
        x: ``(batch, seq, d_model)``
        returns: as ``x``

    Raises:
        ShapeError: ``seq`` is over ``max_sequence_size``, or another axis does not fit.

    Example:
        >>> PositionalEncodingConfig(2).init().forward(Tensor.zeros((1, 2, 2))).cast("f64").round_to(4).tolist()
        [[[0.0, 1.0], [0.8415, 0.5403]]]

    Source: Burn ``nn::PositionalEncoding``; Vaswani et al. 2017.

    Unlike Burn: angles are computed in double precision; in single precision they are off by 1e-4 for late places.
    """

    def __init__(self, config: PositionalEncodingConfig, device: Device | None = None) -> None:
        self.d_model = config.d_model
        self.max_sequence_size = config.max_sequence_size
        self.max_timescale = config.max_timescale
        self.sinusoids = _sinusoids(config)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` and the encoding of its places."""
        if len(x.shape) != 3 or x.shape[2] != self.d_model or x.shape[1] > self.max_sequence_size:
            raise ShapeError(
                f"x must have shape (batch, seq up to {self.max_sequence_size}, {self.d_model}), got {x.shape}"
            )
        return x + self.sinusoids.slice_dim(1, slice(0, x.shape[1])).cast(x.dtype)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes."""
        names = ("d_model", "max_sequence_size", "max_timescale")
        return [(name, getattr(self, name)) for name in names]


def _sinusoids(config: PositionalEncodingConfig) -> Tensor:
    """The table ``(1, max_sequence_size, d_model)``, a constant."""
    device = Device.cpu()
    if not config.d_model or not config.max_sequence_size:
        return Tensor.zeros((1, config.max_sequence_size, config.d_model), device)
    step = -2.0 * math.log(config.max_timescale) / config.d_model
    rates = (Tensor.arange(0, config.d_model // 2, device=device).cast("f64") * step).exp()
    places = Tensor.arange(0, config.max_sequence_size, device=device).cast("f64")
    angles = places.unsqueeze_dim(1) * rates.unsqueeze_dim(0)
    table = Tensor.stack([angles.sin(), angles.cos()], 2)
    return table.reshape(1, config.max_sequence_size, config.d_model).cast("f32")
