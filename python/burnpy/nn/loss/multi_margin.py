"""The score of the right class above all others."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ConfigError, ShapeError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_classes, require_shape
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["MultiMarginLoss", "MultiMarginLossConfig"]


class MultiMarginLossConfig(Config):
    """What a :class:`MultiMarginLoss` is made of.

    Attributes:
        margin: how far the right class should be above each other, at least 0.
        p: the power of what is missing, 1 or 2.

    Example:
        >>> print(MultiMarginLossConfig(p=2).init())
        MultiMarginLoss {margin: 1, p: 2}

    Source: Burn ``nn::loss::MultiMarginLossConfig``.
    """

    _: KW_ONLY
    margin: float = 1.0
    p: int = 1

    def validate(self) -> None:
        """Refuse a margin below 0, NaN, and powers other than 1 and 2."""
        if not self.margin >= 0:
            raise ConfigError(f"MultiMarginLossConfig: margin must be at least 0, got {self.margin}")
        if self.p not in (1, 2):
            raise ConfigError(f"MultiMarginLossConfig: p must be 1 or 2, got {self.p}")

    def init(self) -> MultiMarginLoss:
        """The loss."""
        return MultiMarginLoss(self)


class MultiMarginLoss(Module):
    """``Σ max(0, margin - x[y] + x[c])^p / C`` over the classes ``c`` other than the right one ``y``.

    Shapes:
        x: ``(N, C)``
        targets: ``(N,)``, integers in ``[0, C)``
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes do not fit.
        DTypeError: the targets are no integers.
        TensorIndexError: a target is no class.

    Example:
        >>> from burnpy import Tensor
        >>> MultiMarginLossConfig().init()(Tensor([[0.5, 1.0], [0.0, 2.0]]), Tensor([0, 1]), "sum").tolist()
        [0.75]

    Source: Burn ``nn::loss::MultiMarginLoss``.
    """

    def __init__(self, config: MultiMarginLossConfig) -> None:
        self.margin = config.margin
        self.p = config.p

    def forward(self, x: Tensor, targets: Tensor, reduction: Reduction | str = Reduction.Auto) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(x, targets), reduction)

    def forward_no_reduction(self, x: Tensor, targets: Tensor) -> Tensor:
        """The loss of each row."""
        if x.ndim != 2:
            raise ShapeError(f"multi_margin: x must have two axes, got shape {list(x.shape)}")
        require_shape("multi_margin", "targets", targets, x.shape[:1])
        require_classes("multi_margin", "targets", targets, x.shape[1])
        right = x.gather(1, targets.unsqueeze_dim(1))
        missing = (self.margin - right + x).relu()
        missing = missing.square() if self.p == 2 else missing
        # The right class itself counts as margin^p in the sum.
        total: Tensor = missing.sum_dim(1).squeeze_dim(1) - self.margin**self.p
        return total / x.shape[1]

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("margin", self.margin), ("p", self.p)]
