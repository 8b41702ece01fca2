"""What interpolations of one and of two axes share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnpy.config.number import float_text
from burnpy.tensor import ArgumentError, InterpolateMode, ShapeError, Tensor
from burnpy.tensor import module as ops

if TYPE_CHECKING:
    from burnpy.nn.interpolate.interpolate1d import Interpolate1d
    from burnpy.nn.interpolate.interpolate2d import Interpolate2d

__all__ = ["resized", "sizes_shown"]


def resized(layer: Interpolate1d | Interpolate2d, x: Tensor, rank: int) -> Tensor:
    """``x`` in the size that a layer asks for."""
    name, size, factor = type(layer).__name__, layer.output_size, layer.scale_factor
    if x.ndim != rank:
        raise ShapeError(f"{name}: the input must have {rank} axes, got shape {list(x.shape)}")
    if (size is None) == (factor is None):
        raise ArgumentError(
            f"{name}: exactly one of output_size and scale_factor must be set, got {size} and {factor}"
        )
    if layer.mode is InterpolateMode.NearestExact:
        raise ArgumentError(f"{name}: mode NearestExact is not supported")
    return ops.interpolate(
        x, size, scale_factor=factor, mode=layer.mode.argument(), align_corners=layer.align_corners
    )


def sizes_shown(layer: Interpolate1d | Interpolate2d) -> list[tuple[str, object]]:
    """Size and factor as Burn shows them: an optional value, and a part of the module."""
    size, factor = layer.output_size, layer.scale_factor
    size_text = "None" if size is None else f"Some({list(size) if isinstance(size, tuple) else size})"
    if isinstance(factor, tuple):
        factor_text = f"[0..2] {{0: {_number(factor[0])}, 1: {_number(factor[1])}}}"
    else:
        factor_text = "None" if factor is None else _number(factor)
    return [("output_size", size_text), ("scale_factor", factor_text)]


def _number(factor: float) -> str:
    return float_text(factor, single=True).removesuffix(".0")
