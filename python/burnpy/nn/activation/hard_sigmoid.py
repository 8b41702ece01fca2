"""HardSigmoid."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.module import Module
from burnpy.tensor import Tensor, activation

__all__ = ["HardSigmoid", "HardSigmoidConfig"]


class HardSigmoidConfig(Config):
    """What a :class:`HardSigmoid` is made of.

    Attributes:
        alpha: the slope; PyTorch's is 1/6.
        beta: the value at 0.

    Example:
        >>> print(HardSigmoidConfig(alpha=0.25).init())
        HardSigmoid {alpha: 0.25, beta: 0.5}

    Source: Burn ``nn::HardSigmoidConfig``.
    """

    _: KW_ONLY
    alpha: float = 0.2
    beta: float = 0.5

    def init(self) -> HardSigmoid:
        """The module."""
        return HardSigmoid(self)


class HardSigmoid(Module):
    """``alpha x + beta`` kept between 0 and 1, element by element.

    Example:
        >>> from burnpy import Tensor
        >>> HardSigmoidConfig(alpha=0.25).init()(Tensor([-4.0, 1.0, 4.0])).tolist()
        [0.0, 0.75, 1.0]

    Source: Burn ``nn::HardSigmoid``.
    """

    def __init__(self, config: HardSigmoidConfig) -> None:
        self.alpha = config.alpha
        self.beta = config.beta

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.hard_sigmoid(x, self.alpha, self.beta)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("alpha", self.alpha), ("beta", self.beta)]
