"""Cross entropy of yes and no."""

from __future__ import annotations

from burnpy.config import F32, KW_ONLY, Config
from burnpy.module import Module
from burnpy.nn.loss.checks import require_integers, require_range, require_shape
from burnpy.nn.loss.class_options import shown_options, validate_options
from burnpy.tensor import Device, Tensor
from burnpy.tensor.activation import log_sigmoid

__all__ = ["BinaryCrossEntropyLoss", "BinaryCrossEntropyLossConfig"]

_LOWEST = -100.0
"""Where the logarithm of a probability ends."""


class BinaryCrossEntropyLossConfig(Config):
    """What a :class:`BinaryCrossEntropyLoss` is made of.

    Attributes:
        weights: two, of no and yes, for inputs of one axis; else one for each class, which is the last axis; above 0.
        smoothing: the share of the target that is spread evenly over all classes, in [0, 1].
        logits: whether the input is logits, else probabilities.

    Example:
        >>> print(BinaryCrossEntropyLossConfig(logits=True).init())
        BinaryCrossEntropyLoss {weights: None, smoothing: None, logits: true}

    Source: Burn ``nn::loss::BinaryCrossEntropyLossConfig``.
    """

    _: KW_ONLY
    weights: list[F32] | None = None
    smoothing: F32 | None = None
    logits: bool = False

    def validate(self) -> None:
        """Refuse weights that are not above 0, and a smoothing outside of [0, 1]."""
        validate_options("BinaryCrossEntropyLossConfig", self.weights, self.smoothing)

    def init(self, device: Device | None = None) -> BinaryCrossEntropyLoss:
        """The loss. It holds no tensors, and so works on any device."""
        return BinaryCrossEntropyLoss(self)


class BinaryCrossEntropyLoss(Module):
    """``-y ln x - (1 - y) ln(1 - x)``, logarithms not below -100; with logits, of ``sigmoid(x)``.

    Smoothing makes the target ``y (1 - a) + a / K``, K the size of the last axis, or 2 where there is one axis alone.

    Shapes:
        x: any
        targets: the same, integers 0 or 1
        returns: ``(1,)``, always the mean over all elements

    Raises:
        ShapeError: the shapes differ, or the weights do not fit.
        DTypeError: the targets are no integers.
        ArgumentError: a target is not 0 or 1, or a probability is outside of [0, 1].

    Example:
        >>> from burnpy import Tensor
        >>> loss = BinaryCrossEntropyLossConfig().init()
        >>> round(loss(Tensor([0.5, 0.75]), Tensor([1, 1])).item(), 4)
        0.4904

    Source: Burn ``nn::loss::BinaryCrossEntropyLoss``.
    """

    def __init__(self, config: BinaryCrossEntropyLossConfig) -> None:
        self.weights = config.weights
        self.smoothing = config.smoothing
        self.logits = config.logits

    def forward(self, x: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of all elements."""
        require_shape("binary_cross_entropy", "targets", targets, x.shape)
        require_integers("binary_cross_entropy", "targets", targets)
        # Unlike Burn: checked, since any other number gives a loss without a meaning.
        require_range("binary_cross_entropy", "targets", targets, 0, 1)
        share = self._shares(targets.cast(x.dtype))
        if self.logits:
            values = (1 - share) * x - log_sigmoid(x)
        else:
            require_range("binary_cross_entropy", "x", x, 0, 1)
            values = (share - 1) * _log(1 - x) - share * _log(x)
        if self.weights is not None:
            values = values * _spread(self.weights, targets, x.dtype)
        return values.mean()

    def _shares(self, targets: Tensor) -> Tensor:
        if self.smoothing is None:
            return targets
        num_classes = targets.shape[-1] if targets.ndim > 1 else 2
        return targets * (1 - self.smoothing) + self.smoothing / num_classes

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [*shown_options(self.weights, self.smoothing), ("logits", self.logits)]


def _log(probability: Tensor) -> Tensor:
    """The logarithm, not below -100; gradient 0 where it ends, also at 0, where Burn's is NaN."""
    ended = probability.inner().log().lower_equal(_LOWEST)
    return probability.mask_fill(ended, 1.0).log().mask_fill(ended, _LOWEST)


def _spread(weights: list[float], targets: Tensor, dtype: str) -> Tensor:
    """The weight of each element."""
    table = Tensor(weights, dtype=dtype)
    if targets.ndim == 1:
        require_shape("binary_cross_entropy", "weights", table, (2,))
        return table.select(0, targets)
    require_shape("binary_cross_entropy", "weights", table, targets.shape[-1:])
    return table.unsqueeze(targets.ndim)
