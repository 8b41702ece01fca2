"""The L2 penalty, as a part of other rules."""

from __future__ import annotations

from burnpy._core import Tensor
from burnpy.config import F32, Config
from burnpy.optim.hyper import check, not_negative
from burnpy.record.state import RecordState

__all__ = ["WeightDecay", "WeightDecayConfig", "WeightDecayState"]


class WeightDecayConfig(Config):
    """Weight decay by an L2 penalty: ``g ← θ·penalty + g`` before all else.

    Raises:
        ConfigError: from :meth:`init`, if ``penalty`` is negative or not finite.

    Example:
        >>> WeightDecayConfig(0.5).init().transform(Tensor([1.0]), Tensor([2.0])).tolist()
        [2.0]

    Source: Burn ``optim::decay::WeightDecayConfig``.
    """

    penalty: F32

    def init(self) -> WeightDecay:
        """The rule."""
        check("WeightDecayConfig", not_negative, penalty=self.penalty)
        return WeightDecay(self.penalty)


class WeightDecayState(RecordState):
    """A state that no rule uses; Burn exports it.

    Example:
        >>> WeightDecayState(Tensor([1.0])).grad_last_step.shape
        (1,)

    Source: Burn ``optim::decay::WeightDecayState``.
    """

    grad_last_step: Tensor


class WeightDecay:
    """The rule of :class:`WeightDecayConfig`."""

    def __init__(self, penalty: float) -> None:
        self.penalty = penalty

    def transform(self, grad: Tensor, tensor: Tensor) -> Tensor:
        """``tensor * penalty + grad``."""
        return tensor * self.penalty + grad
