"""What losses ask of their inputs before they compute."""

from __future__ import annotations

from burnpy.errors import ArgumentError, DTypeError, ShapeError, TensorIndexError
from burnpy.tensor import Tensor

__all__ = ["require_classes", "require_integers", "require_range", "require_rank", "require_shape"]


def require_shape(loss: str, name: str, tensor: Tensor, shape: tuple[int, ...]) -> None:
    """Have a tensor be of a shape.

    Raises:
        ShapeError: it is of another.
    """
    if tensor.shape != shape:
        raise ShapeError(
            f"{loss}: {name} must be of shape {list(shape)}, got {list(tensor.shape)}", operation=loss
        )


def require_rank(loss: str, name: str, tensor: Tensor, other: Tensor) -> None:
    """Have a tensor have as many axes as another: ``(N,)`` and ``(N, 1)`` would broadcast to ``(N, N)``.

    Raises:
        ShapeError: it has more or fewer.
    """
    if tensor.ndim != other.ndim:
        raise ShapeError(
            f"{loss}: {name} must have as many axes as the input of shape {list(other.shape)}, "
            f"got shape {list(tensor.shape)}",
            operation=loss,
        )


def require_integers(loss: str, name: str, tensor: Tensor) -> None:
    """Have a tensor hold integers.

    Raises:
        DTypeError: it holds something else.
    """
    if tensor.kind != "int":
        raise DTypeError(
            f"{loss}: {name} must be integers, got {tensor.dtype}", dtype=tensor.dtype, operation=loss
        )


def require_range(loss: str, name: str, tensor: Tensor, low: float, high: float | None = None) -> None:
    """Have every value of a tensor lie in ``[low, high]``; NaN passes. Reads the values.

    Raises:
        ArgumentError: one does not; the message has its index and value.
    """
    found = _first_outside(tensor, low, high)
    if found is not None:
        limits = f"at least {low}" if high is None else f"in [{low}, {high}]"
        raise ArgumentError(f"{loss}: {name} must be {limits}, got {found[1]} at {found[0]}", operation=loss)


def require_classes(loss: str, name: str, tensor: Tensor, num_classes: int) -> None:
    """Have every value of a tensor of integers be a class. Reads the values.

    Raises:
        DTypeError: it does not hold integers.
        TensorIndexError: one is no class; the message has its index and value.
    """
    require_integers(loss, name, tensor)
    found = _first_outside(tensor, 0, num_classes - 1)
    if found is not None:
        raise TensorIndexError(
            f"{loss}: {name} must be in [0, {num_classes}), got {found[1]} at {found[0]}", operation=loss
        )


def _first_outside(tensor: Tensor, low: float, high: float | None) -> tuple[list[int], float] | None:
    """The index and value of the first element outside of ``[low, high]``."""
    values = tensor.inner()
    outside = values.lower(low)
    if high is not None:
        outside = outside.bool_or(values.greater(high))
    if not outside.any().item():
        return None
    index = outside.argwhere().tolist()[0]
    return index, values.slice([slice(i, i + 1) for i in index]).item()
