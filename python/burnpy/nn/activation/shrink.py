"""Shrink."""

from __future__ import annotations

from dataclasses import field

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["Shrink", "ShrinkConfig"]


class ShrinkConfig(Config):
    """What a :class:`Shrink` is made of.

    Attributes:
        lambda_: what an absolute value must be above; ``lambda`` in the JSON.
        bias: what is taken off it then.

    Example:
        >>> print(ShrinkConfig(lambda_=1.0).init())
        Shrink {lambda: 1, bias: 0.5}

    Source: Burn ``nn::ShrinkConfig``.
    """

    _: KW_ONLY
    lambda_: float = field(default=0.5, kw_only=True, metadata={"key": "lambda"})
    bias: float = 0.5

    def init(self) -> Shrink:
        """The module."""
        return Shrink(self)


class Shrink(Module):
    """``x - bias`` where ``x > lambda_``, ``x + bias`` where ``x < -lambda_``, else 0, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> ShrinkConfig(lambda_=1.0).init()(Tensor([-2.0, 0.5, 3.0])).tolist()
        [-1.5, 0.0, 2.5]

    Source: Burn ``nn::Shrink``.
    """

    def __init__(self, config: ShrinkConfig) -> None:
        self.lambda_ = config.lambda_
        self.bias = config.bias

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.shrink(x, self.lambda_, self.bias)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("lambda", self.lambda_), ("bias", self.bias)]
