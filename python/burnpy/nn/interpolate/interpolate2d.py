"""An image of another size."""

from __future__ import annotations

from burnpy.config import F32, KW_ONLY, Config, Positive
from burnpy.module import Module
from burnpy.nn.interpolate.resize import resized, sizes_shown
from burnpy.tensor import InterpolateMode, Tensor

__all__ = ["Interpolate2d", "Interpolate2dConfig"]


class Interpolate2dConfig(Config):
    """What an :class:`Interpolate2d` is made of: one of ``output_size`` and ``scale_factor``, and how.

    Unlike PyTorch, ``align_corners`` is the default.

    Raises:
        ConfigError: a size is below 1.

    Example:
        >>> print(Interpolate2dConfig(output_size=(20, 20)).init())
        Interpolate2d {mode: Nearest, output_size: Some([20, 20]), scale_factor: None}

    Source: Burn ``nn::interpolate::Interpolate2dConfig``.
    """

    _: KW_ONLY
    output_size: tuple[Positive, Positive] | None = None
    scale_factor: tuple[F32, F32] | None = None
    mode: InterpolateMode = InterpolateMode.Nearest
    align_corners: bool = True

    def init(self) -> Interpolate2d:
        """The module."""
        return Interpolate2d(self)


class Interpolate2d(Module):
    """An image brought to another size, ``l_out = trunc(l * scale_factor)`` where that is given.

    Shapes:
        x: ``(batch, channels, height, width)``
        returns: ``(batch, channels, height_out, width_out)``

    Raises:
        ShapeError: ``x`` has another number of axes.
        ArgumentError: neither or both of size and factor are set, or the mode is ``NearestExact``.

    Example:
        >>> config = Interpolate2dConfig(output_size=(1, 3), mode=InterpolateMode.Linear)
        >>> config.init()(Tensor([[[[1.0, 2.0]]]])).tolist()
        [[[[1.0, 1.5, 2.0]]]]

    Source: Burn ``nn::interpolate::Interpolate2d``.
    """

    def __init__(self, config: Interpolate2dConfig) -> None:
        self.output_size = config.output_size
        self.scale_factor = config.scale_factor
        self.mode = config.mode
        self.align_corners = config.align_corners

    def forward(self, x: Tensor) -> Tensor:
        """``x`` in the other size."""
        return resized(self, x, 4)

    def display_content(self) -> list[tuple[str, object]]:
        """How, and to which size."""
        return [("mode", self.mode.value), *sizes_shown(self)]
