"""SoftShrink."""

from __future__ import annotations

from dataclasses import field

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["SoftShrink", "SoftShrinkConfig"]


class SoftShrinkConfig(Config):
    """What a :class:`SoftShrink` is made of.

    Attributes:
        lambda_: what is taken off each absolute value; ``lambda`` in the JSON.

    Example:
        >>> print(SoftShrinkConfig(lambda_=1.0).init())
        SoftShrink {lambda: 1}

    Source: Burn ``nn::SoftShrinkConfig``.
    """

    _: KW_ONLY
    lambda_: float = field(default=0.5, kw_only=True, metadata={"key": "lambda"})

    def init(self) -> SoftShrink:
        """The module."""
        return SoftShrink(self)


class SoftShrink(Module):
    """``sign(x) max(|x| - lambda_, 0)``, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> SoftShrinkConfig(lambda_=1.0).init()(Tensor([-2.0, 0.5, 3.0])).tolist()
        [-1.0, 0.0, 2.0]

    Source: Burn ``nn::SoftShrink``.
    """

    def __init__(self, config: SoftShrinkConfig) -> None:
        self.lambda_ = config.lambda_

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.soft_shrink(x, self.lambda_)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("lambda", self.lambda_)]
