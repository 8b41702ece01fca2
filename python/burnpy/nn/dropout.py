"""Dropout."""

from __future__ import annotations

from burnpy.config import Config
from burnpy.errors import ConfigError
from burnpy.module import Flag, Module
from burnpy.nn.training import is_training, shown
from burnpy.tensor import Tensor

__all__ = ["Dropout", "DropoutConfig"]


class DropoutConfig(Config):
    """What a :class:`Dropout` is made of: the probability of an element to be dropped.

    Raises:
        ConfigError: ``prob`` does not lie in [0, 1).

    Example:
        >>> print(DropoutConfig(0.5).init())
        Dropout {prob: 0.5}

    Source: Burn ``nn::DropoutConfig``.
    """

    prob: float

    def validate(self) -> None:
        """Check the probability."""
        if not 0 <= self.prob < 1:
            raise ConfigError(f"DropoutConfig: prob must lie in [0, 1), got {self.prob}")

    def init(self) -> Dropout:
        """The module."""
        return Dropout(self)


class Dropout(Module):
    """Drops elements with a probability and scales the others by ``1 / (1 - prob)`` in training, else the identity.

    Training is: an input on an autodiff device, and the flag ``training`` on. Nothing of it is recorded.

    Shapes:
        x: any
        returns: as ``x``

    Example:
        >>> dropout = DropoutConfig(0.5).init()
        >>> dropout(Tensor.ones((4, 4))).max().item()
        2.0
        >>> dropout.valid()(Tensor.ones((4, 4))).max().item()
        1.0

    Source: Burn ``nn::Dropout``; Srivastava et al. 2014.
    """

    def __init__(self, config: DropoutConfig) -> None:
        self.prob = config.prob
        self.training = Flag(True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` with elements dropped in training."""
        return x.dropout(self.prob) if self.prob and is_training(self.training, x) else x

    def display_content(self) -> list[tuple[str, object]]:
        """The probability, and the flag where it is off."""
        return [("prob", self.prob), *shown(self.training)]
