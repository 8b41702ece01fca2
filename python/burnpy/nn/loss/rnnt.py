"""Sequences without alignment, where each label may depend on those before it: the transducer."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.errors import ArgumentError, ShapeError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_classes, require_integers, require_range, require_shape
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["RNNTLoss", "RNNTLossConfig"]

_NEVER = -1e30
"""The logarithm of the probability 0: finite, since ∞ - ∞ in a gradient would be NaN."""


class RNNTLossConfig(Config):
    """What an :class:`RNNTLoss` is made of.

    Attributes:
        blank: the class that stands for a step of time.
        logits: whether the input is logits, else logarithms of probabilities.

    Example:
        >>> RNNTLossConfig(blank=2).init().blank
        2

    Source: Burn ``nn::loss::RNNTLossConfig``.
    """

    _: KW_ONLY
    blank: NonNegative = 0
    logits: bool = True

    def init(self) -> RNNTLoss:
        """The loss."""
        return RNNTLoss(self)


class RNNTLoss(Module):
    """``-ln`` of the probability of a sequence's labels: the sum over all paths through its lattice.

    From node ``(t, u)``, ``blank`` leads to ``(t + 1, u)`` and the next label to ``(t, u + 1)``; a path ends with a
    blank at the last node. ``forward`` does not reduce. A sequence without a possible path costs ∞, without a gradient.

    Shapes:
        logits: ``(B, T, U + 1, V)``
        targets: ``(B, U)``, integers in ``[0, V)``
        logit_lengths: ``(B,)``, integers in ``[1, T]``
        target_lengths: ``(B,)``, integers in ``[0, U]``
        returns: ``(B,)``; ``(1,)`` of :meth:`forward_with_reduction`

    Raises:
        ShapeError: the sizes do not fit.
        DTypeError: targets or lengths are no integers.
        TensorIndexError: a target is no class.
        ArgumentError: a length is beyond its axis, or ``blank`` is no class.

    Cost: ``T + U`` operations in a row, each on one diagonal of all lattices.

    Example:
        >>> from burnpy import Tensor
        >>> loss = RNNTLossConfig().init()
        >>> values = loss(Tensor.zeros((1, 2, 2, 2)), Tensor([[1]]), Tensor([2]), Tensor([1]))
        >>> round(values.item(), 4)  # 2 ln 2
        1.3863

    Source: Burn ``nn::loss::RNNTLoss``; Graves 2012.
    """

    def __init__(self, config: RNNTLossConfig) -> None:
        self.blank = config.blank
        self.logits = config.logits

    def forward(
        self, logits: Tensor, targets: Tensor, logit_lengths: Tensor, target_lengths: Tensor
    ) -> Tensor:
        """The loss of each sequence."""
        self._check(logits, targets, logit_lengths, target_lengths)
        # Half precision ends at 65504, before _NEVER.
        wide = logits if logits.dtype in ("f32", "f64") else logits.cast("f32")
        log_probs = (wide.log_softmax(3) if self.logits else wide).clamp_min(_NEVER)
        blanks = log_probs.narrow(3, self.blank, 1).squeeze_dim(3)
        logs = _log_likelihood(blanks, _labels(log_probs, targets), logit_lengths, target_lengths)
        never = logs.lower(0.1 * _NEVER)
        return (-logs).mask_fill(never, float("inf")).cast(logits.dtype)

    def forward_with_reduction(
        self,
        logits: Tensor,
        targets: Tensor,
        logit_lengths: Tensor,
        target_lengths: Tensor,
        reduction: Reduction | str = Reduction.Auto,
    ) -> Tensor:
        """The reduced loss; ``Mean`` is the mean over the sequences."""
        return reduced(self.forward(logits, targets, logit_lengths, target_lengths), reduction)

    def _check(self, logits: Tensor, targets: Tensor, logit_lengths: Tensor, target_lengths: Tensor) -> None:
        if logits.ndim != 4:
            raise ShapeError(f"rnnt: logits must have four axes, got shape {list(logits.shape)}")
        batch, steps, states, classes = logits.shape
        require_shape("rnnt", "targets", targets, (batch, states - 1))
        if self.blank >= classes:
            raise ArgumentError(f"rnnt: blank must be in [0, {classes}), got {self.blank}")
        require_classes("rnnt", "targets", targets, classes)
        bounds = {
            "logit_lengths": (logit_lengths, 1, steps),
            "target_lengths": (target_lengths, 0, states - 1),
        }
        for name, (lengths, low, high) in bounds.items():
            require_shape("rnnt", name, lengths, (batch,))
            require_integers("rnnt", name, lengths)
            require_range("rnnt", name, lengths, low, high)


def _labels(log_probs: Tensor, targets: Tensor) -> Tensor:
    """The log-probability of the next label in every node, ``(B, T, U + 1)``; there is none in the last."""
    batch, steps, states, _ = log_probs.shape
    index = targets.pad((0, 1, 0, 0)).unsqueeze_dims([1, 3]).expand(batch, steps, states, 1)
    labels = log_probs.gather(3, index).squeeze_dim(3)
    return labels.slice_fill([slice(None), slice(None), slice(states - 1, states)], _NEVER)


def _log_likelihood(blanks: Tensor, labels: Tensor, logit_lengths: Tensor, target_lengths: Tensor) -> Tensor:
    """The log-probability of all paths, over the diagonals ``d = t + u`` of the lattice."""
    batch, _, states = blanks.shape
    never = Tensor.full((batch, states), _NEVER, dtype=blanks.dtype)
    reached = _shifted(Tensor.zeros((batch, 1), dtype=blanks.dtype), never)
    ended = []
    for stay, move in zip(_diagonals(blanks), _diagonals(labels), strict=True):
        ended.append(reached + stay)
        reached = _log_add(ended[-1], _shifted(never.narrow(1, 0, 1), reached + move))
    index = (logit_lengths + target_lengths - 1) * states + target_lengths
    return Tensor.cat(ended, 1).gather(1, index.unsqueeze_dim(1)).squeeze_dim(1)


def _shifted(first: Tensor, states: Tensor) -> Tensor:
    return Tensor.cat([first, states], 1).narrow(1, 0, states.shape[1])


def _diagonals(lattice: Tensor) -> list[Tensor]:
    """The diagonals of ``(B, T, S)``: element ``u`` of diagonal ``d`` is ``lattice[:, d - u, u]``, or never."""
    batch, steps, states = lattice.shape
    count = steps + states - 1
    rows = lattice.swap_dims(1, 2).pad((0, states, 0, 0), "constant", _NEVER)
    # Rows of `count + 1`, read as rows of `count`: each is shifted by one more.
    shifted = rows.reshape(batch, states * (count + 1)).narrow(1, 0, states * count)
    return [diagonal.squeeze_dim(2) for diagonal in shifted.reshape(batch, states, count).split(1, 2)]


def _log_add(a: Tensor, b: Tensor) -> Tensor:
    """``ln(e^a + e^b)`` of finite numbers."""
    top = a.max_pair(b).detach()
    return ((a - top).exp() + (b - top).exp()).log() + top
