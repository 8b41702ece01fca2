"""Cross entropy of classes."""

from __future__ import annotations

from burnpy.config import F32, KW_ONLY, Config, NonNegative
from burnpy.errors import TensorIndexError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_classes
from burnpy.nn.loss.class_options import shown_options, validate_options
from burnpy.tensor import Device, Tensor
from burnpy.tensor import module as ops

__all__ = ["CrossEntropyLoss", "CrossEntropyLossConfig"]


class CrossEntropyLossConfig(Config):
    """What a :class:`CrossEntropyLoss` is made of.

    Attributes:
        pad_tokens: rows with these targets do not count.
        weights: one for each class, above 0.
        smoothing: the share of the target that is spread evenly over all classes, in [0, 1].
        logits: whether the input is logits, else probabilities.

    Example:
        >>> print(CrossEntropyLossConfig(pad_tokens=[0], smoothing=0.1).init())
        CrossEntropyLoss {pad_tokens: Vec<0..1>, weights: None, smoothing: 0.1, logits: true}

    Source: Burn ``nn::loss::CrossEntropyLossConfig``.
    """

    _: KW_ONLY
    pad_tokens: list[NonNegative] | None = None
    weights: list[F32] | None = None
    smoothing: F32 | None = None
    logits: bool = True

    def validate(self) -> None:
        """Refuse weights that are not above 0, and a smoothing outside of [0, 1]."""
        validate_options("CrossEntropyLossConfig", self.weights, self.smoothing)

    def init(self, device: Device | None = None) -> CrossEntropyLoss:
        """The loss. It holds no tensors, and so works on any device."""
        return CrossEntropyLoss(None, device, config=self)


class CrossEntropyLoss(Module):
    """Cross entropy between rows of logits and the classes that they should have.

    With ``l = log_softmax(logits)`` and ``w`` the weights, ``-Σ w[y_n] l[n, y_n] / Σ w[y_n]`` over the rows that are
    no pads; smoothing makes ``(1 - a)`` of the target's one, and adds ``a / C`` to all. Rows of pads get no gradient; a
    batch of nothing else gives NaN.

    Shapes:
        logits: ``(N, C)``
        targets: ``(N,)``, integers in ``[0, C)``
        returns: ``(1,)``, always a mean

    Raises:
        ShapeError: the sizes do not fit.
        DTypeError: the targets are no integers.
        TensorIndexError: a target is no class and no pad.

    Example:
        >>> from burnpy import Tensor
        >>> loss = CrossEntropyLoss()
        >>> round(loss(Tensor([[2.0, 0.0], [0.0, 0.0]]), Tensor([0, 1])).item(), 4)
        0.41

    Unlike Burn: the target of a pad need not be a class.

    Source: Burn ``nn::loss::CrossEntropyLoss``; smoothing after Szegedy et al. 2016.
    """

    def __init__(
        self,
        pad_index: int | None = None,
        device: Device | None = None,
        *,
        config: CrossEntropyLossConfig | None = None,
    ) -> None:
        if config is None:
            config = CrossEntropyLossConfig(pad_tokens=None if pad_index is None else [pad_index])
        self.pad_tokens = config.pad_tokens
        self.weights = config.weights
        self.smoothing = config.smoothing
        self.logits = config.logits

    def forward(self, logits: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of the rows that count."""
        try:
            return ops.cross_entropy(
                logits,
                targets,
                weights=self.weights,
                smoothing=self.smoothing or 0.0,
                ignored=self.pad_tokens or (),
                logits=self.logits,
            )
        except TensorIndexError:
            counts = targets
            for token in self.pad_tokens or ():
                counts = counts.mask_fill(targets.equal(token), 0)
            require_classes("cross_entropy", "targets", counts, logits.shape[-1])
            raise

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        pads = None if self.pad_tokens is None else f"Vec<0..{len(self.pad_tokens)}>"
        return [
            ("pad_tokens", pads),
            *shown_options(self.weights, self.smoothing),
            ("logits", self.logits),
        ]
