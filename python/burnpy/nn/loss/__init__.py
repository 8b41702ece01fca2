"""Losses, under Burn's names. A loss is called, or its ``forward`` is.

Example:
    >>> from burnpy import Tensor
    >>> loss = CrossEntropyLossConfig(smoothing=0.1).init()
    >>> loss(Tensor([[1.0, 2.0, 0.0]]), Tensor([1])).shape
    (1,)
"""

from __future__ import annotations

from burnpy.nn.loss.binary_cross_entropy import BinaryCrossEntropyLoss, BinaryCrossEntropyLossConfig
from burnpy.nn.loss.cosine_embedding import CosineEmbeddingLoss, CosineEmbeddingLossConfig
from burnpy.nn.loss.cross_entropy import CrossEntropyLoss, CrossEntropyLossConfig
from burnpy.nn.loss.ctc import CTCLoss, CTCLossConfig
from burnpy.nn.loss.gaussian_nll import GaussianNLLLoss, GaussianNLLLossConfig
from burnpy.nn.loss.hinge_embedding import HingeEmbeddingLoss, HingeEmbeddingLossConfig
from burnpy.nn.loss.huber import HuberLoss, HuberLossConfig
from burnpy.nn.loss.kl_div import KLDivLoss, KLDivLossConfig
from burnpy.nn.loss.lp import LpLoss, LpLossConfig
from burnpy.nn.loss.margin_ranking import MarginRankingLoss, MarginRankingLossConfig
from burnpy.nn.loss.mse import MseLoss
from burnpy.nn.loss.multi_margin import MultiMarginLoss, MultiMarginLossConfig
from burnpy.nn.loss.poisson_nll import PoissonNllLoss, PoissonNllLossConfig
from burnpy.nn.loss.reduction import Reduction
from burnpy.nn.loss.rnnt import RNNTLoss, RNNTLossConfig
from burnpy.nn.loss.smooth_l1 import SmoothL1Loss, SmoothL1LossConfig
from burnpy.nn.loss.soft_margin import SoftMarginLoss
from burnpy.nn.loss.triplet_margin import TripletMarginLoss, TripletMarginLossConfig

__all__ = [
    "BinaryCrossEntropyLoss",
    "BinaryCrossEntropyLossConfig",
    "CTCLoss",
    "CTCLossConfig",
    "CosineEmbeddingLoss",
    "CosineEmbeddingLossConfig",
    "CrossEntropyLoss",
    "CrossEntropyLossConfig",
    "GaussianNLLLoss",
    "GaussianNLLLossConfig",
    "HingeEmbeddingLoss",
    "HingeEmbeddingLossConfig",
    "HuberLoss",
    "HuberLossConfig",
    "KLDivLoss",
    "KLDivLossConfig",
    "LpLoss",
    "LpLossConfig",
    "MarginRankingLoss",
    "MarginRankingLossConfig",
    "MseLoss",
    "MultiMarginLoss",
    "MultiMarginLossConfig",
    "PoissonNllLoss",
    "PoissonNllLossConfig",
    "RNNTLoss",
    "RNNTLossConfig",
    "Reduction",
    "SmoothL1Loss",
    "SmoothL1LossConfig",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginLossConfig",
]
