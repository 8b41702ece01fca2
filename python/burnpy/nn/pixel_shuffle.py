"""Channels as pixels, and back."""

from __future__ import annotations

from burnpy.config import Config, Positive
from burnpy.module import Module
from burnpy.tensor import ShapeError, Tensor

__all__ = ["PixelShuffle", "PixelShuffleConfig", "PixelUnshuffle", "PixelUnshuffleConfig"]


class PixelShuffleConfig(Config):
    """What a :class:`PixelShuffle` is made of.

    Raises:
        ConfigError: ``upscale_factor`` is below 1.

    Example:
        >>> print(PixelShuffleConfig(2).init())
        PixelShuffle {upscale_factor: 2}

    Source: Burn ``nn::PixelShuffleConfig``.
    """

    upscale_factor: Positive

    def init(self) -> PixelShuffle:
        """The module."""
        return PixelShuffle(self)


class PixelShuffle(Module):
    """A finer image of fewer channels: each group of ``r ** 2`` channels becomes ``r`` by ``r`` pixels.

    Shapes:
        x: ``(batch, channels * r ** 2, height, width)``
        returns: ``(batch, channels, height * r, width * r)``

    Raises:
        ShapeError: ``x`` does not have four axes, or its channels do not divide into ``r ** 2``.

    Example:
        >>> PixelShuffleConfig(2).init()(Tensor([[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]])).tolist()
        [[[[0.0, 1.0], [2.0, 3.0]]]]

    Source: Burn ``nn::PixelShuffle``; Shi et al. 2016.
    """

    def __init__(self, config: PixelShuffleConfig) -> None:
        self.upscale_factor = config.upscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """The finer image."""
        r = self.upscale_factor
        if x.ndim != 4 or x.shape[1] % r**2:
            raise ShapeError(
                f"PixelShuffle: needs (batch, channels, height, width), channels divisible by {r**2}, "
                f"got shape {list(x.shape)}"
            )
        batch, channels, height, width = x.shape
        blocks = x.reshape(batch, channels // r**2, r, r, height, width).permute(0, 1, 4, 2, 5, 3)
        return blocks.reshape(batch, channels // r**2, height * r, width * r)

    def display_content(self) -> list[tuple[str, object]]:
        """The factor."""
        return [("upscale_factor", self.upscale_factor)]


class PixelUnshuffleConfig(Config):
    """What a :class:`PixelUnshuffle` is made of.

    Raises:
        ConfigError: ``downscale_factor`` is below 1.

    Example:
        >>> print(PixelUnshuffleConfig(2).init())
        PixelUnshuffle {downscale_factor: 2}

    Source: Burn ``nn::PixelUnshuffleConfig``.
    """

    downscale_factor: Positive

    def init(self) -> PixelUnshuffle:
        """The module."""
        return PixelUnshuffle(self)


class PixelUnshuffle(Module):
    """A coarser image of more channels: the inverse of :class:`PixelShuffle`.

    Shapes:
        x: ``(batch, channels, height * r, width * r)``
        returns: ``(batch, channels * r ** 2, height, width)``

    Raises:
        ShapeError: ``x`` does not have four axes, or its height or width does not divide into ``r``.

    Example:
        >>> PixelUnshuffleConfig(2).init()(Tensor([[[[0.0, 1.0], [2.0, 3.0]]]])).tolist()
        [[[[0.0]], [[1.0]], [[2.0]], [[3.0]]]]

    Source: Burn ``nn::PixelUnshuffle``.
    """

    def __init__(self, config: PixelUnshuffleConfig) -> None:
        self.downscale_factor = config.downscale_factor

    def forward(self, x: Tensor) -> Tensor:
        """The coarser image."""
        r = self.downscale_factor
        if x.ndim != 4 or x.shape[2] % r or x.shape[3] % r:
            raise ShapeError(
                f"PixelUnshuffle: needs (batch, channels, height, width), sizes divisible by {r}, "
                f"got shape {list(x.shape)}"
            )
        batch, channels, height, width = x.shape
        blocks = x.reshape(batch, channels, height // r, r, width // r, r).permute(0, 1, 3, 5, 2, 4)
        return blocks.reshape(batch, channels * r**2, height // r, width // r)

    def display_content(self) -> list[tuple[str, object]]:
        """The factor."""
        return [("downscale_factor", self.downscale_factor)]
