"""Gradients of several replicas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from burnpy.optim.gradients_params import GradientsParams, summed

if TYPE_CHECKING:
    from burnpy._core import Device, Tensor
    from burnpy.module import ParamId

__all__ = ["MultiGradientsParams"]


class MultiGradientsParams:
    """The gradients of several replicas of a module, which :meth:`ModuleOptimizer.step_multi` sums.

    Attributes:
        grads: the gradients of each replica, and its device.

    Example:
        >>> from burnpy import Tensor, Device
        >>> from burnpy.module import ParamId
        >>> replicas = [GradientsParams(), GradientsParams()]
        >>> for value, grads in enumerate(replicas):
        ...     grads.register(ParamId(7), Tensor([value + 1.0]))
        >>> total, _ = MultiGradientsParams((grads, Device()) for grads in replicas).remove(ParamId(7))
        >>> total.item()
        3.0

    Source: Burn ``optim::MultiGradientsParams``.
    """

    def __init__(self, grads: Iterable[tuple[GradientsParams, Device]] = ()) -> None:
        self.grads = list(grads)

    def remove(self, id: ParamId) -> tuple[Tensor, Device] | None:
        """The sum of the replicas' gradients of a parameter, and the device that it is on; they are gone here then.

        The sum begins at replica ``id mod n`` or the next one that has a gradient; the others follow in order.
        """
        count = len(self.grads)
        start = id.val() % count if count else 0
        order = [(start + i) % count for i in range(count)]
        first = next((i for i in order if id in self.grads[i][0]), None)
        if first is None:
            return None
        device = self.grads[first][1]
        total = self.grads[first][0].remove(id)
        assert total is not None, "looked for above"
        for i, (grads, _) in enumerate(self.grads):
            grad = grads.remove(id) if i != first else None
            total = total if grad is None else summed(total, grad)
        return total, device
