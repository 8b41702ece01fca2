"""The check that normalisations share."""

from __future__ import annotations

from burnpy.module import Module
from burnpy.tensor import ShapeError, Tensor

__all__ = ["check_axis"]


def check_axis(layer: Module, x: Tensor, axis: int, size: int) -> None:
    """Refuse an input whose axis is not there, or of another size than the layer's parameters.

    Raises:
        ShapeError: so it is; the message names the layer and both shapes.

    Example:
        >>> check_axis(Module(), Tensor.zeros((2, 3)), 1, 4)
        Traceback (most recent call last):
        ShapeError: Module: axis 1 of the input must have 4 elements, got shape [2, 3]
    """
    shape = x.shape
    if len(shape) <= axis or not shape or shape[axis] != size:
        where = "the last axis" if axis < 0 else f"axis {axis}"
        raise ShapeError(
            f"{type(layer).__name__}: {where} of the input must have {size} elements, got shape {list(shape)}"
        )
