"""An image of another size, along one axis."""

from __future__ import annotations

from burnpy.config import F32, KW_ONLY, Config, Positive
from burnpy.module import Module
from burnpy.nn.interpolate.resize import resized, sizes_shown
from burnpy.tensor import InterpolateMode, Tensor

__all__ = ["Interpolate1d", "Interpolate1dConfig"]


class Interpolate1dConfig(Config):
    """What an :class:`Interpolate1d` is made of: one of ``output_size`` and ``scale_factor``, and how.

    Unlike PyTorch, ``align_corners`` is the default.

    Raises:
        ConfigError: a size is below 1.

    Example:
        >>> print(Interpolate1dConfig(output_size=20).init())
        Interpolate1d {mode: Nearest, output_size: Some(20), scale_factor: None}

    Source: Burn ``nn::interpolate::Interpolate1dConfig``.
    """

    _: KW_ONLY
    output_size: Positive | None = None
    scale_factor: F32 | None = None
    mode: InterpolateMode = InterpolateMode.Nearest
    align_corners: bool = True

    def init(self) -> Interpolate1d:
        """The module."""
        return Interpolate1d(self)


class Interpolate1d(Module):
    """A signal brought to another size, ``l_out = trunc(l * scale_factor)`` where that is given.

    Shapes:
        x: ``(batch, channels, l)``
        returns: ``(batch, channels, l_out)``

    Raises:
        ShapeError: ``x`` has another number of axes.
        ArgumentError: neither or both of size and factor are set, or the mode is ``NearestExact``.

    Example:
        >>> config = Interpolate1dConfig(output_size=3, mode=InterpolateMode.Linear)
        >>> config.init()(Tensor([[[1.0, 2.0]]])).tolist()
        [[[1.0, 1.5, 2.0]]]

    Source: Burn ``nn::interpolate::Interpolate1d``.
    """

    def __init__(self, config: Interpolate1dConfig) -> None:
        self.output_size = config.output_size
        self.scale_factor = config.scale_factor
        self.mode = config.mode
        self.align_corners = config.align_corners

    def forward(self, x: Tensor) -> Tensor:
        """``x`` in the other size."""
        return resized(self, x, 3)

    def display_content(self) -> list[tuple[str, object]]:
        """How, and to which size."""
        return [("mode", self.mode.value), *sizes_shown(self)]
