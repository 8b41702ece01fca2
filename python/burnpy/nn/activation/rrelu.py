"""RRelu."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError
from burnpy.module import Flag, Module
from burnpy.nn.training import is_training, shown
from burnpy.tensor import Distribution, Tensor, activation

__all__ = ["RRelu", "RReluConfig"]


class RReluConfig(Config):
    """What an :class:`RRelu` is made of: the bounds of the slopes of negative numbers.

    Example:
        >>> print(RReluConfig(upper=0.25).init())
        RRelu {lower: 0.125, upper: 0.25}

    Source: Burn ``nn::RReluConfig``.
    """

    _: KW_ONLY
    lower: float = 1 / 8
    upper: float = 1 / 3

    def validate(self) -> None:
        """Refuse bounds out of order."""
        if not self.lower <= self.upper:
            raise ConfigError(
                f"RReluConfig: lower must be at most upper, got lower {self.lower} and upper {self.upper}"
            )

    def init(self) -> RRelu:
        """The module."""
        return RRelu(self)


class RRelu(Module):
    """``x`` where ``x >= 0``, else ``s x``: each ``s`` from [lower, upper) in training, the middle in inference.

    Training is: an input on an autodiff device, and the flag ``training`` on.

    Example:
        >>> from burnpy import Tensor
        >>> RReluConfig(upper=0.375).init().valid()(Tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]

    Source: Burn ``nn::RRelu``; Xu et al. 2015.
    """

    training: Flag

    def __init__(self, config: RReluConfig) -> None:
        self.lower = config.lower
        self.upper = config.upper
        self.training = Flag(True)

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        if self.lower == self.upper or not is_training(self.training, x):
            return activation.leaky_relu(x, 0.5 * (self.lower + self.upper))
        slopes = x.inner().random_like(Distribution.uniform(self.lower, self.upper))
        return x.mask_where(x.lower(0.0), x * slopes)

    def display_content(self) -> list[tuple[str, object]]:
        """The bounds, and the flag where it is off."""
        return [("lower", self.lower), ("upper", self.upper), *shown(self.training)]
