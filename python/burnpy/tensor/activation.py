"""Activation functions, under Burn's names.

Example:
    >>> from burnpy import Tensor
    >>> softmax(Tensor([[0.0, 0.0]]), 1).tolist()
    [[0.5, 0.5]]
"""

from __future__ import annotations

from burnpy._core import Tensor

__all__ = ["log_softmax", "quiet_softmax", "softmax", "softmin", "tanh"]


def softmax(tensor: Tensor, dim: int) -> Tensor:
    """``e^x / Σ e^x`` along an axis."""
    return tensor.softmax(dim)


def log_softmax(tensor: Tensor, dim: int) -> Tensor:
    """``x − ln Σ e^x`` along an axis."""
    return tensor.log_softmax(dim)


def softmin(tensor: Tensor, dim: int) -> Tensor:
    """The softmax of ``−x`` along an axis."""
    return tensor.softmin(dim)


def quiet_softmax(tensor: Tensor, dim: int) -> Tensor:
    """``e^x / (1 + Σ e^x)`` along an axis, which can be 0 for all elements."""
    return tensor.quiet_softmax(dim)


def tanh(tensor: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return tensor.tanh()
