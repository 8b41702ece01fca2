"""The parameters of a module as one vector."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from burnpy._core import Tensor
from burnpy.errors import DTypeError, ShapeError
from burnpy.module.steps import STEP
from burnpy.optim.plan import like

if TYPE_CHECKING:
    from burnpy.optim.gradients_params import GradientsParams
    from burnpy.optim.parameters import Parameters

__all__ = ["FlatParameters"]


class FlatParameters:
    """Parameters as one vector, and loss and gradient where they are.

    Attributes:
        x: the vector where the parameters were at first.

    Raises:
        DTypeError: they have several dtypes.
    """

    def __init__(
        self, parameters: Parameters, closure: Callable[[], tuple[float | Tensor, GradientsParams]]
    ) -> None:
        self._parameters = parameters
        self._closure = closure
        self._first = [cell.get() for cell in parameters.cells]
        dtypes = sorted({tensor.dtype for tensor in self._first})
        if len(dtypes) > 1:
            raise DTypeError(f"lbfgs: parameters must have one dtype, got {', '.join(dtypes)}")
        self.x = Tensor.cat([tensor.inner().reshape(-1) for tensor in self._first])

    def place(self, x: Tensor) -> None:
        """Have the parameters be the parts of a vector."""
        at = 0
        parameters = self._parameters
        with STEP:
            for cell, path, past in zip(parameters.cells, parameters.paths, self._first, strict=True):
                cell.set(like(past, x.narrow(0, at, past.size).reshape(past.shape), path))
                at += past.size

    def restore(self) -> None:
        """Have the parameters be what they were at first."""
        with STEP:
            for cell, past in zip(self._parameters.cells, self._first, strict=True):
                cell.set(past)

    def evaluate(self) -> tuple[float, Tensor, Tensor | None]:
        """The loss, the gradient with zeros where there is none, and where that is, if anywhere.

        Raises:
            ShapeError: a gradient has another shape than its parameter.
        """
        loss, grads = self._closure()
        found = grads._of(self._parameters.keys)
        gradients, present = [], []
        for path, past, gradient in zip(self._parameters.paths, self._first, found, strict=True):
            if gradient is not None and gradient.shape != past.shape:
                raise ShapeError(
                    f"{path}: the parameter has shape {past.shape}, its gradient {gradient.shape}"
                )
            plain = past.inner()
            gradients.append((plain.zeros_like() if gradient is None else gradient).reshape(-1))
            present.append((plain.zeros_like() if gradient is None else plain.ones_like()).reshape(-1))
        is_whole = all(gradient is not None for gradient in found)
        missing = None if is_whole else Tensor.cat(present) == 0.0
        return float(loss), Tensor.cat(gradients), missing
