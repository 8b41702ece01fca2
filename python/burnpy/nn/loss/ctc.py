"""Sequences without alignment: connectionist temporal classification."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.errors import TensorIndexError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_classes, require_range
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor
from burnpy.tensor.module import ctc_loss

__all__ = ["CTCLoss", "CTCLossConfig"]


class CTCLossConfig(Config):
    """What a :class:`CTCLoss` is made of.

    Attributes:
        blank: the class that stands for nothing.
        zero_infinity: whether what cannot be aligned costs 0, else ∞.

    Example:
        >>> CTCLossConfig(zero_infinity=True).init().blank
        0

    Source: Burn ``nn::loss::CTCLossConfig``.
    """

    _: KW_ONLY
    blank: NonNegative = 0
    zero_infinity: bool = False

    def init(self) -> CTCLoss:
        """The loss."""
        return CTCLoss(self)


class CTCLoss(Module):
    """``-ln`` of the probability that the labels of a sequence come out of it, blanks and repeats left out.

    ``forward`` does not reduce. What cannot be aligned, and time steps beyond a sequence, get no gradient.

    Shapes:
        log_probs: ``(T, N, C)``, logarithms of probabilities
        targets: ``(N, S)``, integers; those beyond a target's length do not matter
        input_lengths, target_lengths: ``(N,)``, integers
        returns: ``(N,)``; ``(1,)`` of :meth:`forward_with_reduction`

    Raises:
        ShapeError: the sizes do not fit.
        DTypeError: targets or lengths are no integers.
        TensorIndexError: a target is no class.
        ArgumentError: a length is beyond its axis, or ``blank`` is no class.

    Cost: time and memory in ``T N (2 S + 1)``.

    Example:
        >>> from burnpy import Tensor
        >>> half = Tensor.full((3, 1, 2), 0.5).log()
        >>> loss = CTCLossConfig().init()(half, Tensor([[1, 1]]), Tensor([3]), Tensor([2]))
        >>> round(loss.item(), 4)  # 3 ln 2
        2.0794

    Source: Burn ``nn::loss::CTCLoss``; Graves et al. 2006.
    """

    def __init__(self, config: CTCLossConfig) -> None:
        self.blank = config.blank
        self.zero_infinity = config.zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor
    ) -> Tensor:
        """The loss of each sequence."""
        try:
            return ctc_loss(
                log_probs,
                targets,
                input_lengths,
                target_lengths,
                blank=self.blank,
                zero_infinity=self.zero_infinity,
            )
        except TensorIndexError:
            _refuse(log_probs, targets, input_lengths, target_lengths)
            raise

    def forward_with_reduction(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor,
        target_lengths: Tensor,
        reduction: Reduction | str = Reduction.Auto,
    ) -> Tensor:
        """The reduced loss; ``Mean`` divides each by the length of its target, so that an empty one gives ∞."""
        values = self.forward(log_probs, targets, input_lengths, target_lengths)
        if Reduction(reduction) in (Reduction.Mean, Reduction.Auto):
            values = values / target_lengths.cast(values.dtype)
        return reduced(values, reduction)


def _refuse(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor) -> None:
    """Say which target or length does not fit, and where it is."""
    steps, _, classes = log_probs.shape
    batch, labels = targets.shape
    require_range("ctc_loss", "input_lengths", input_lengths, 0, steps)
    require_range("ctc_loss", "target_lengths", target_lengths, 0, labels)
    places = Tensor.arange(labels, dtype=target_lengths.dtype).unsqueeze_dim(0).expand(batch, labels)
    counts = places.lower(target_lengths.unsqueeze_dim(1).expand(batch, labels))
    require_classes("ctc_loss", "targets", targets.mask_fill(counts.bool_not(), 0), classes)
