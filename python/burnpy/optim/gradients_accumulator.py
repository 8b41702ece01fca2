"""Sums of gradients over several batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from burnpy.optim.gradients_params import GradientsParams, summed
from burnpy.optim.parameters import parameters_of

if TYPE_CHECKING:
    from burnpy.module import Module

__all__ = ["GradientsAccumulator"]


class GradientsAccumulator:
    """Gradients summed over several batches, until a step takes them.

    They are summed and never divided: the mean of N losses needs each loss divided by N.

    Example:
        >>> from burnpy import Tensor
        >>> from burnpy.module import Module, Param
        >>> class Scale(Module):
        ...     def __init__(self):
        ...         self.weight = Param.from_tensor(Tensor([2.0]))
        >>> model, sums = Scale(), GradientsAccumulator()
        >>> for _ in range(3):
        ...     loss = model.weight.val().square().sum()
        ...     sums.accumulate(model, GradientsParams.from_grads(loss.backward(), model))
        >>> sums.grads().get(model.weight.id).item()
        12.0

    Source: Burn ``optim::GradientsAccumulator``.
    """

    def __init__(self) -> None:
        self._sum = GradientsParams()

    @classmethod
    def new(cls) -> Self:
        """An empty one."""
        return cls()

    def accumulate(self, module: Module, grads: GradientsParams) -> None:
        """Add the gradients of a module's parameters; ``grads`` is empty afterwards, others in it are dropped.

        Raises:
            ShapeError: a gradient has another shape than before; nothing was added.
        """
        keys = parameters_of(module).keys
        total = dict(self._sum._gradients)
        for key, grad in zip(keys, grads._of(keys), strict=True):
            if grad is not None:
                past = total.get(key)
                total[key] = grad if past is None else summed(past, grad)
        self._sum._gradients = total
        grads._clear()

    def grads(self) -> GradientsParams:
        """The sums; the accumulator is empty afterwards."""
        total, self._sum = self._sum, GradientsParams()
        return total
