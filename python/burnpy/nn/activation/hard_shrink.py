"""HardShrink."""

from __future__ import annotations

from dataclasses import field

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["HardShrink", "HardShrinkConfig"]


class HardShrinkConfig(Config):
    """What a :class:`HardShrink` is made of.

    Attributes:
        lambda_: what an absolute value must be above; ``lambda`` in the JSON.

    Example:
        >>> print(HardShrinkConfig(lambda_=1.0).init())
        HardShrink {lambda: 1}

    Source: Burn ``nn::HardShrinkConfig``.
    """

    _: KW_ONLY
    lambda_: float = field(default=0.5, kw_only=True, metadata={"key": "lambda"})

    def init(self) -> HardShrink:
        """The module."""
        return HardShrink(self)


class HardShrink(Module):
    """``x`` where ``|x| > lambda_``, else 0, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> HardShrinkConfig(lambda_=1.0).init()(Tensor([-2.0, 0.5, 3.0])).tolist()
        [-2.0, 0.0, 3.0]

    Source: Burn ``nn::HardShrink``.
    """

    def __init__(self, config: HardShrinkConfig) -> None:
        self.lambda_ = config.lambda_

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.hard_shrink(x, self.lambda_)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("lambda", self.lambda_)]
