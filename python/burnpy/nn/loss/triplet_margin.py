"""Nearer to what belongs together than to what does not."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config
from burnpy.errors import ShapeError
from burnpy.module import Module
from burnpy.nn.loss.checks import require_shape
from burnpy.nn.loss.reduction import Reduction, reduced
from burnpy.tensor import Tensor

__all__ = ["TripletMarginLoss", "TripletMarginLossConfig"]


class TripletMarginLossConfig(Config):
    """What a :class:`TripletMarginLoss` is made of.

    Attributes:
        margin: how much farther the negative should be.
        p: the power of the norm.

    Example:
        >>> print(TripletMarginLossConfig(margin=0.5).init())
        TripletMarginLoss {margin: 0.5, p: 2}

    Source: Burn ``nn::loss::TripletMarginLossConfig``.
    """

    _: KW_ONLY
    margin: float = 1.0
    p: float = 2.0

    def init(self) -> TripletMarginLoss:
        """The loss."""
        return TripletMarginLoss(self)


class TripletMarginLoss(Module):
    """``max(0, ‖anchor - positive‖ - ‖anchor - negative‖ + margin)``, with p-norms of rows.

    The gradient of a norm of 0 is 0, where Burn's is NaN.

    Shapes:
        anchor, positive, negative: ``(N, D)``
        returns: ``(1,)``

    Raises:
        ShapeError: the shapes differ, or have another number of axes.

    Example:
        >>> from burnpy import Tensor
        >>> anchor, positive, negative = Tensor([[0.0, 0.0]]), Tensor([[3.0, 4.0]]), Tensor([[0.0, 4.0]])
        >>> TripletMarginLossConfig().init()(anchor, positive, negative).tolist()
        [2.0]

    Source: Burn ``nn::loss::TripletMarginLoss``; Balntas et al. 2016.
    """

    def __init__(self, config: TripletMarginLossConfig) -> None:
        self.margin = config.margin
        self.p = config.p

    def forward(
        self,
        anchor: Tensor,
        positive: Tensor,
        negative: Tensor,
        reduction: Reduction | str = Reduction.Auto,
    ) -> Tensor:
        """The reduced loss."""
        return reduced(self.forward_no_reduction(anchor, positive, negative), reduction)

    def forward_no_reduction(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of each row."""
        if anchor.ndim != 2:
            raise ShapeError(f"triplet_margin: anchor must have two axes, got shape {list(anchor.shape)}")
        require_shape("triplet_margin", "positive", positive, anchor.shape)
        require_shape("triplet_margin", "negative", negative, anchor.shape)
        near = (anchor - positive).vector_norm(self.p, 1)
        far = (anchor - negative).vector_norm(self.p, 1)
        return (near - far + self.margin).relu().squeeze_dim(1)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [("margin", self.margin), ("p", self.p)]
