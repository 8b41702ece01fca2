"""Noise that only training sees."""

from __future__ import annotations

import math

from burnpy.config import Config
from burnpy.errors import ConfigError
from burnpy.module import Flag, Module
from burnpy.nn.training import is_training, shown
from burnpy.tensor import Distribution, Tensor

__all__ = ["GaussianNoise", "GaussianNoiseConfig"]


class GaussianNoiseConfig(Config):
    """What a :class:`GaussianNoise` is made of: the standard deviation.

    Raises:
        ConfigError: ``std`` is negative or not finite.

    Example:
        >>> print(GaussianNoiseConfig(0.25).init())
        GaussianNoise {std: 0.25}

    Source: Burn ``nn::GaussianNoiseConfig``.
    """

    std: float

    def validate(self) -> None:
        """Check the standard deviation."""
        if not (math.isfinite(self.std) and self.std >= 0):
            raise ConfigError(f"GaussianNoiseConfig: std must be finite and not negative, got {self.std}")

    def init(self) -> GaussianNoise:
        """The module."""
        return GaussianNoise(self)


class GaussianNoise(Module):
    """Adds N(0, std) to every element in training; else the identity. Nothing of it is recorded.

    Training is: an input on an autodiff device, and the flag ``training`` on.

    Shapes:
        x: any
        returns: as ``x``

    Example:
        >>> noise = GaussianNoiseConfig(1.0).init()
        >>> noise(Tensor([3.0])).item() == 3.0, noise.valid()(Tensor([3.0])).item()
        (False, 3.0)

    Source: Burn ``nn::GaussianNoise``.
    """

    def __init__(self, config: GaussianNoiseConfig) -> None:
        self.std = config.std
        self.training = Flag(True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` with noise in training."""
        if not (self.std and is_training(self.training, x)):
            return x
        return x + x.random_like(Distribution.normal(0.0, self.std)).detach()

    def display_content(self) -> list[tuple[str, object]]:
        """The standard deviation, and the flag where it is off."""
        return [("std", self.std), *shown(self.training)]
