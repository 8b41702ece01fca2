"""Adan."""

from __future__ import annotations

import math

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import F32, KW_ONLY
from burnpy.config.number import round_to_f32
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, fraction, not_negative
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.optim.scalars import complement, correction
from burnpy.record.state import RecordState, UInt

__all__ = ["Adan", "AdanConfig", "AdanState", "AdaptiveNesterovMomentumState"]


class AdanConfig(OptimizerConfig):
    """Configuration of :class:`Adan`.

    Args:
        grad_clipping: what :meth:`init` sets up.
        beta_1: weight of the past in the mean of gradients.
        beta_2: weight of the past in the mean of their changes.
        beta_3: weight of the past in the mean of squares.
        epsilon: added to the divisor.
        weight_decay: λ.
        no_prox: whether the decay is AdamW's and not the proximal one.

    Source: Burn ``optim::AdanConfig``.
    """

    _: KW_ONLY
    grad_clipping: GradientClippingConfig | None = None
    beta_1: F32 = 0.98
    beta_2: F32 = 0.92
    beta_3: F32 = 0.99
    epsilon: F32 = 1e-8
    weight_decay: F32 = 0.0
    no_prox: bool = False

    def build(self) -> Adan:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("AdanConfig", fraction, beta_1=self.beta_1, beta_2=self.beta_2, beta_3=self.beta_3)
        check("AdanConfig", not_negative, epsilon=self.epsilon, weight_decay=self.weight_decay)
        return Adan(self)


class AdaptiveNesterovMomentumState(RecordState):
    """Steps so far, the three running means, and the last gradient negated."""

    time: UInt
    exp_avg: Tensor
    exp_avg_sq: Tensor
    exp_avg_diff: Tensor
    neg_pre_grad: Tensor


class AdanState(RecordState):
    """What :class:`Adan` remembers."""

    momentum: AdaptiveNesterovMomentumState


class Adan(FusedOptimizer[AdanState]):
    """With ``Δ = g − g₋₁``: ``m ← m·β₁ + g·(1 − β₁)``, ``d ← d·β₂ + Δ·(1 − β₂)``, ``n ← n·β₃ + (g + β₂Δ)²·(1 − β₃)``.

    Then ``u = (m̂ + β₂·d̂) / (√n̂ + ε)`` and ``θ ← (θ − lr·u) / (1 + lr·λ)``, or without the proximal form
    ``θ ← θ·(1 − lr·λ) − lr·u``.

    Example:
        >>> tensor, state = AdanConfig().build().step(0.1, Tensor([1.0]), Tensor([0.5]), None)
        >>> round(tensor.item(), 4), state.momentum.neg_pre_grad.tolist()
        (0.9, [-0.5])

    Source: Burn ``optim::Adan``; Xie et al. 2022, algorithm 1.
    """

    State = AdanState

    def __init__(self, config: AdanConfig | None = None) -> None:
        self.config = config = config or AdanConfig()
        self.rule = UpdateRule.adan(
            beta_1=config.beta_1,
            beta_2=config.beta_2,
            beta_3=config.beta_3,
            epsilon=config.epsilon,
            weight_decay=config.weight_decay,
            no_prox=config.no_prox,
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: AdanState | None
    ) -> tuple[Tensor, AdanState]:
        """One step of one tensor."""
        config = self.config
        new = self._advanced(grad, None if state is None else state.momentum)
        below = new.exp_avg_sq.sqrt() / round_to_f32(math.sqrt(correction(config.beta_3, new.time)))
        below = below + config.epsilon
        mean = (new.exp_avg / correction(config.beta_1, new.time)) / below
        change = ((new.exp_avg_diff * config.beta_2) / correction(config.beta_2, new.time)) / below
        step = (mean + change) * lr
        rate = lr * config.weight_decay
        if rate == 0.0:
            tensor = tensor - step
        elif config.no_prox:
            tensor = tensor * (1.0 - rate) - step
        else:
            tensor = (tensor - step) / (1.0 + rate)
        return tensor, AdanState(new)

    def _advanced(
        self, grad: Tensor, state: AdaptiveNesterovMomentumState | None
    ) -> AdaptiveNesterovMomentumState:
        config = self.config
        mean = grad * complement(config.beta_1)
        if state is None:
            square = (grad * grad) * complement(config.beta_3)
            return AdaptiveNesterovMomentumState(1, mean, square, grad.zeros_like(), -grad)
        delta = state.neg_pre_grad + grad
        ahead = delta * config.beta_2 + grad
        return AdaptiveNesterovMomentumState(
            state.time + 1,
            state.exp_avg * config.beta_1 + mean,
            state.exp_avg_sq * config.beta_3 + (ahead * ahead) * complement(config.beta_3),
            state.exp_avg_diff * config.beta_2 + delta * complement(config.beta_2),
            -grad,
        )

    def pack(self, state: AdanState) -> RuleState:
        """The core's form of a state."""
        moments = state.momentum
        tensors = (moments.exp_avg, moments.exp_avg_sq, moments.exp_avg_diff, moments.neg_pre_grad)
        return RuleState(moments.time, tensors)

    def unpack(self, state: RuleState) -> AdanState:
        """The state of the core's form."""
        mean, square, change, negated = state.tensors
        assert mean is not None and square is not None, "a state of a step that was made"
        assert change is not None and negated is not None, "a state of a step that was made"
        return AdanState(AdaptiveNesterovMomentumState(state.time, mean, square, change, negated))
