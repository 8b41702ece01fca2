"""What metrics are fed with: outputs and targets of a batch, checked when they are put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self, TypeAlias, Union

from burnpy.errors import DTypeError, ShapeError
from burnpy.tensor import Tensor
from burnpy.train.metric.metric import MetricMetadata

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ClassInput", "MetricInput", "TokenInput", "Values", "count", "tensor_of"]

Values: TypeAlias = Union[Tensor, "np.ndarray[Any, Any]", Sequence[Any]]
"""A tensor, or what becomes one: arrays keep their dtype, lists take the default ones."""


class MetricInput:
    """Outputs and targets of one shape. NumPy arrays and lists become tensors.

    Raises:
        ShapeError: the shapes differ.
    """

    __slots__ = ("outputs", "targets")

    def __init__(self, outputs: Any, targets: Any) -> None:
        self.outputs: Tensor = tensor_of(outputs)
        self.targets: Tensor = tensor_of(targets)
        self._check()

    @classmethod
    def of(cls, input: Any, targets: Any) -> Self:
        """The input itself, or one of outputs and targets: what ``update`` was called with.

        Raises:
            TypeError: it is neither.
        """
        if isinstance(input, cls):
            return input
        if targets is None or isinstance(targets, MetricMetadata):
            name = cls.__name__
            raise TypeError(f"update takes a {name}, or outputs and targets, got {type(input).__name__}")
        return cls(input, targets)

    def _check(self) -> None:
        if self.outputs.shape != self.targets.shape:
            self._refuse("must be of one shape")

    def _refuse(self, why: str) -> None:
        shapes = f"outputs have shape {self.outputs.shape}, targets {self.targets.shape}"
        raise ShapeError(f"{type(self).__name__}: outputs and targets {why}; {shapes}")

    def _want(self, kind: str, tensor: Tensor, what: str) -> None:
        if tensor.kind != kind:
            raise DTypeError(f"{type(self).__name__}: {what} must be of kind {kind}, got {tensor.dtype}")


class ClassInput(MetricInput):
    """Scores of classes, and the right ones.

    Shapes:
        outputs: float ``(batch, classes)``
        targets: int ``(batch,)``

    Raises:
        ShapeError, DTypeError: they are not.
    """

    __slots__ = ()

    def __init__(self, outputs: Any, targets: Any) -> None:
        # One is made of each batch, of tensors most often: calls that can be saved are.
        if not (isinstance(outputs, Tensor) and isinstance(targets, Tensor)):
            outputs, targets = tensor_of(outputs), tensor_of(targets)
        self.outputs, self.targets = outputs, targets
        shape = outputs.shape
        if len(shape) != 2 or targets.shape != shape[:1]:
            self._refuse("must have shapes (batch, classes) and (batch,)")
        if outputs.kind != "float" or targets.kind != "int":
            self._want("float", outputs, "outputs")
            self._want("int", targets, "targets")


class TokenInput(MetricInput):
    """Sequences of token ids, and their references; the two may be of different widths.

    Shapes:
        outputs: int ``(batch, width)``
        targets: int ``(batch, width)``

    Raises:
        ShapeError, DTypeError: they are not.
    """

    __slots__ = ()

    def _check(self) -> None:
        outputs, targets = self.outputs.shape, self.targets.shape
        if len(outputs) != 2 or len(targets) != 2 or outputs[0] != targets[0]:
            self._refuse("must have shapes (batch, width) of one batch")
        self._want("int", self.outputs, "outputs")
        self._want("int", self.targets, "targets")


def tensor_of(values: Any) -> Tensor:
    """A tensor as it is, an array with its dtype, anything else with the default dtypes."""
    if isinstance(values, Tensor):
        return values
    return Tensor.from_numpy(values) if hasattr(values, "__array__") else Tensor(values)


def count(mask: Tensor) -> int:
    """How many elements of a bool tensor are true."""
    number: int = mask.cast("i64").sum().item()
    return number
