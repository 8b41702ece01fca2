"""How the values of a loss become one."""

from __future__ import annotations

import enum

from burnpy.errors import ArgumentError
from burnpy.tensor import Tensor

__all__ = ["Reduction", "reduced"]


class Reduction(enum.Enum):
    """How the values of a loss become one, of shape ``(1,)``. Each is known by its name in lower case too.

    Unreduced values come from ``forward_no_reduction``.

    Example:
        >>> from burnpy import Tensor
        >>> from burnpy.nn.loss import MseLoss, Reduction
        >>> MseLoss().forward(Tensor([1.0, 3.0]), Tensor([0.0, 0.0]), Reduction.Sum).tolist()
        [10.0]
        >>> Reduction("batch_mean")
        <Reduction.BatchMean: 'BatchMean'>

    Source: Burn ``nn::loss::Reduction``.
    """

    Mean = "Mean"
    """Their sum by their number."""
    Sum = "Sum"
    """Their sum."""
    BatchMean = "BatchMean"
    """Their sum by the size of axis 0; for :class:`KLDivLoss` alone."""
    Auto = "Auto"
    """What suits the loss: ``BatchMean`` for :class:`KLDivLoss`, else ``Mean``."""

    @classmethod
    def _missing_(cls, value: object) -> Reduction:
        names = {"mean": cls.Mean, "sum": cls.Sum, "batch_mean": cls.BatchMean, "auto": cls.Auto}
        if isinstance(value, str) and value in names:
            return names[value]
        hint = "; forward_no_reduction gives the unreduced values" if value in (None, "none") else ""
        raise ArgumentError(f"reduction must be one of mean, sum, batch_mean, auto, got {value!r}{hint}")


def reduced(
    values: Tensor, reduction: Reduction | str, *, auto: Reduction = Reduction.Mean, batches: bool = False
) -> Tensor:
    """The values as one, of shape ``(1,)``.

    Args:
        values: what a loss found.
        reduction: how they become one.
        auto: what ``Auto`` stands for.
        batches: whether ``BatchMean`` has a meaning for the loss.

    Raises:
        ArgumentError: there is no such reduction, or not for this loss.
    """
    chosen = reduction if isinstance(reduction, Reduction) else Reduction(reduction)
    chosen = auto if chosen is Reduction.Auto else chosen
    if chosen is Reduction.BatchMean:
        if not batches:
            raise ArgumentError("reduction BatchMean is for KLDivLoss alone, not for this loss")
        return values.sum() / values.shape[0]
    return values.mean() if chosen is Reduction.Mean else values.sum()
