"""Tensors as text."""

from __future__ import annotations

from dataclasses import dataclass

from burnpy._core import Tensor

__all__ = ["PrintOptions", "set_print_options", "text"]


@dataclass(frozen=True, kw_only=True)
class PrintOptions:
    """How much of a tensor is printed.

    Attributes:
        threshold: a tensor of more elements is summarised.
        edge_items: elements at each end of an axis of a summary.
        precision: digits after the point; by default as many as tell numbers apart, 8 at most.

    Example:
        >>> set_print_options(PrintOptions(threshold=4, edge_items=1))
        >>> Tensor([1, 2, 3, 4, 5])
        Tensor([1, ..., 5], shape=(5,), dtype=i32, kind=int, device=cpu, autodiff)
        >>> set_print_options(PrintOptions())
    """

    threshold: int = 1000
    edge_items: int = 3
    precision: int | None = None


_options = PrintOptions()


def set_print_options(options: PrintOptions) -> None:
    """Chooses how tensors are printed from now on, by the whole process."""
    global _options
    _options = options


def text(tensor: Tensor) -> str:
    """What ``repr(tensor)`` says: elements, shape, dtype, kind, device."""
    facts = f"shape={tensor.shape}, dtype={tensor.dtype}, kind={tensor.kind}, device=cpu"
    if tensor.is_autodiff():
        facts += ", autodiff"
    if tensor.is_require_grad():
        facts += ", require_grad"
    elif tensor.is_tracked():
        facts += ", tracked"
    return f"Tensor({facts})" if tensor.dtype == "qfloat" else f"Tensor({_elements(tensor)}, {facts})"


def _elements(tensor: Tensor) -> str:
    from numpy import array2string, float32

    array = tensor.numpy()
    if tensor.dtype == "bf16":
        array = array.astype(float32)
    return array2string(
        array,
        separator=", ",
        prefix="Tensor(",
        threshold=_options.threshold,
        edgeitems=_options.edge_items,
        precision=_options.precision,
    )
