"""What a parameter gives to a file, and how it takes a tensor over."""

from __future__ import annotations

from burnpy._core import Tensor
from burnpy.module.param import Param
from burnpy.module.param_id import ParamId
from burnpy.module.running_state import RunningState

__all__ = ["Leaf", "assign", "recorded", "recorded_shape", "taken_over"]

Leaf = Param | RunningState
"""What is recorded of a module."""


def recorded(leaf: Leaf) -> Tensor:
    """What a file holds of it.

    Unlike Burn: whose record of a module in training lags one update of its running statistics.

    Example:
        >>> recorded(Param.from_tensor(Tensor([1.0]))).tolist()
        [1.0]
    """
    return leaf.fold() if isinstance(leaf, RunningState) else leaf.transform_for_save()


def recorded_shape(leaf: Leaf) -> tuple[int, ...]:
    """The shape of that; draws no value."""
    return leaf.value().shape if isinstance(leaf, RunningState) else leaf.record_shape()


def taken_over(leaf: Leaf, tensor: Tensor) -> Tensor:
    """The value that a tensor of a file becomes: through the mapper, on the device, training as configured."""
    return tensor if isinstance(leaf, RunningState) else leaf.transform_for_load(tensor)


def assign(leaf: Leaf, value: Tensor, id: int | None) -> None:
    """Put a value that :func:`taken_over` has made in place, and the id if there is one.

    Unlike Burn: which keeps the ids of running statistics, and where a record has no ids, invents some.
    """
    if isinstance(leaf, RunningState):
        leaf.set_value(value)
    else:
        leaf.set_base(value)
    if id is not None:
        leaf.id = ParamId(id)
