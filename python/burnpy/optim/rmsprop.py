"""RMSProp."""

from __future__ import annotations

from typing import Any

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import F32, KW_ONLY
from burnpy.optim.decay import WeightDecayConfig
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, fraction, not_negative
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.optim.scalars import complement
from burnpy.record.state import RecordState

__all__ = [
    "CenteredState",
    "RmsProp",
    "RmsPropConfig",
    "RmsPropMomentumState",
    "RmsPropState",
    "SquareAvgState",
]


class RmsPropConfig(OptimizerConfig):
    """Configuration of :class:`RmsProp`.

    Args:
        weight_decay: an L2 penalty, added to the gradient.
        grad_clipping: what :meth:`init` sets up.
        alpha: weight of the past in the running means.
        momentum: weight of earlier steps; 0.9 as in Burn, where PyTorch has 0. None at 0.
        epsilon: added to the divisor; 1e-5 as in Burn, where PyTorch has 1e-8.
        centered: whether the variance divides and not the second moment (Graves 2013).

    Source: Burn ``optim::RmsPropConfig``.
    """

    _: KW_ONLY
    weight_decay: WeightDecayConfig | None = None
    grad_clipping: GradientClippingConfig | None = None
    alpha: F32 = 0.99
    momentum: F32 = 0.9
    epsilon: F32 = 1e-5
    centered: bool = False

    @classmethod
    def pytorch(cls, **fields: Any) -> RmsPropConfig:
        """With the defaults of ``torch.optim.RMSprop``: epsilon 1e-8, no momentum; ``fields`` on top."""
        return cls(**{"epsilon": 1e-8, "momentum": 0.0, **fields})

    def build(self) -> RmsProp:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("RmsPropConfig", fraction, alpha=self.alpha)
        check("RmsPropConfig", not_negative, momentum=self.momentum, epsilon=self.epsilon)
        return RmsProp(self)


class SquareAvgState(RecordState):
    """The running mean of squared gradients."""

    square_avg: Tensor


class CenteredState(RecordState):
    """The running mean of gradients if centered, and what divided last, which the file holds and no step reads."""

    grad_avg: Tensor | None
    avg: Tensor


class RmsPropMomentumState(RecordState):
    """The running sum of steps."""

    buf: Tensor


class RmsPropState(RecordState):
    """What :class:`RmsProp` remembers."""

    square_avg: SquareAvgState
    centered: CenteredState
    momentum: RmsPropMomentumState | None = None


class RmsProp(FusedOptimizer[RmsPropState]):
    """``s ← s·α + g²·(1 − α)``, ``q = g / (√V + ε)`` with ``V = s``, or ``s − a²`` and ``a`` the running mean of ``g``.

    Then ``θ ← θ − lr·q``, or with momentum ``b ← b·μ + q`` and ``θ ← θ − lr·b``.

    Example:
        >>> config = RmsPropConfig(momentum=0.0)
        >>> tensor, state = config.build().step(0.01, Tensor([1.0]), Tensor([0.5]), None)
        >>> round(tensor.item(), 4), state.momentum
        (0.9, None)

    Source: Burn ``optim::RmsProp``; Hinton 2012.
    """

    State = RmsPropState

    def __init__(self, config: RmsPropConfig | None = None) -> None:
        self.config = config = config or RmsPropConfig()
        self._decay = None if config.weight_decay is None else config.weight_decay.init()
        self.rule = UpdateRule.rmsprop(
            weight_decay=None if config.weight_decay is None else config.weight_decay.penalty,
            alpha=config.alpha,
            momentum=config.momentum,
            epsilon=config.epsilon,
            centered=config.centered,
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: RmsPropState | None
    ) -> tuple[Tensor, RmsPropState]:
        """One step of one tensor."""
        if self._decay is not None:
            grad = self._decay.transform(grad, tensor)
        square = self._mean(grad * grad, None if state is None else state.square_avg.square_avg)
        mean, divisor = None, square
        if self.config.centered:
            mean = self._mean(grad, None if state is None else state.centered.grad_avg)
            divisor = square - mean * mean
        step = grad / (divisor.sqrt() + self.config.epsilon)
        buffer = None
        if self.config.momentum > 0.0:
            if state is not None and state.momentum is not None:
                step = state.momentum.buf * self.config.momentum + step
            buffer = RmsPropMomentumState(step)
        new = RmsPropState(SquareAvgState(square), CenteredState(mean, divisor), buffer)
        return tensor - step * lr, new

    def _mean(self, value: Tensor, past: Tensor | None) -> Tensor:
        new = value * complement(self.config.alpha)
        return new if past is None else past * self.config.alpha + new

    def pack(self, state: RmsPropState) -> RuleState:
        """The core's form of a state."""
        tensors: list[Tensor | None] = [state.square_avg.square_avg, state.centered.avg]
        if self.config.centered:
            tensors.append(state.centered.grad_avg)
        if self.config.momentum > 0.0:
            tensors.append(None if state.momentum is None else state.momentum.buf)
        return RuleState(1, tuple(tensors))

    def unpack(self, state: RuleState) -> RmsPropState:
        """The state of the core's form."""
        square, variance, *others = state.tensors
        assert square is not None and variance is not None, "a state of a step that was made"
        mean = others.pop(0) if self.config.centered else None
        buffer = others.pop(0) if self.config.momentum > 0.0 else None
        return RmsPropState(
            SquareAvgState(square),
            CenteredState(mean, variance),
            None if buffer is None else RmsPropMomentumState(buffer),
        )
