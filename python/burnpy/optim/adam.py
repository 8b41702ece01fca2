"""Adam."""

from __future__ import annotations

import math
from typing import Any

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import F32, KW_ONLY
from burnpy.config.number import round_to_f32
from burnpy.optim.adaptive_momentum import AdaptiveMomentum, AdaptiveMomentumState
from burnpy.optim.decay import WeightDecayConfig
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, fraction, not_negative
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.optim.scalars import correction
from burnpy.record.state import RecordState

__all__ = ["Adam", "AdamConfig", "AdamState"]


class AdamConfig(OptimizerConfig):
    """Configuration of :class:`Adam`.

    Args:
        weight_decay: an L2 penalty, added to the gradient; decoupled decay is :class:`AdamWConfig`.
        grad_clipping: what :meth:`init` sets up.
        beta_1: weight of the past in the first moment.
        beta_2: weight of the past in the second moment.
        epsilon: added to the divisor; 1e-5 as in Burn, where PyTorch has 1e-8.
        amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).

    Source: Burn ``optim::AdamConfig``.
    """

    _: KW_ONLY
    weight_decay: WeightDecayConfig | None = None
    grad_clipping: GradientClippingConfig | None = None
    beta_1: F32 = 0.9
    beta_2: F32 = 0.999
    epsilon: F32 = 1e-5
    amsgrad: bool = False

    @classmethod
    def pytorch(cls, **fields: Any) -> AdamConfig:
        """With the defaults of ``torch.optim.Adam``: epsilon 1e-8. ``fields`` are those of the configuration."""
        return cls(**{"epsilon": 1e-8, **fields})

    def build(self) -> Adam:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("AdamConfig", fraction, beta_1=self.beta_1, beta_2=self.beta_2)
        check("AdamConfig", not_negative, epsilon=self.epsilon)
        return Adam(self)


class AdamState(RecordState):
    """What :class:`Adam` remembers."""

    momentum: AdaptiveMomentumState


class Adam(FusedOptimizer[AdamState]):
    """``m ← m·β₁ + g·(1 − β₁)``, ``v ← v·β₂ + g²·(1 − β₂)``, ``θ ← θ − lr·m̂ / (√v̂ + ε)``, hats for bias correction.

    Example:
        >>> tensor, state = AdamConfig().build().step(0.1, Tensor([1.0]), Tensor([0.5]), None)
        >>> round(tensor.item(), 4), state.momentum.time
        (0.9, 1)

    Source: Burn ``optim::Adam``; Kingma & Ba 2015, algorithm 1.
    """

    State = AdamState

    def __init__(self, config: AdamConfig | None = None) -> None:
        self.config = config = config or AdamConfig()
        self._decay = None if config.weight_decay is None else config.weight_decay.init()
        self._moments = AdaptiveMomentum(config.beta_1, config.beta_2, config.amsgrad)
        self.rule = UpdateRule.adam(
            weight_decay=None if config.weight_decay is None else config.weight_decay.penalty,
            beta_1=config.beta_1,
            beta_2=config.beta_2,
            epsilon=config.epsilon,
            amsgrad=config.amsgrad,
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: AdamState | None
    ) -> tuple[Tensor, AdamState]:
        """One step of one tensor."""
        if self._decay is not None:
            grad = self._decay.transform(grad, tensor)
        moments = self._moments.advance(grad, None if state is None else state.momentum)
        root = round_to_f32(math.sqrt(correction(self.config.beta_2, moments.time)))
        factor = round_to_f32(root / correction(self.config.beta_1, moments.time))
        epsilon = round_to_f32(self.config.epsilon * root)
        step = (moments.moment_1 * factor) / (self._moments.divisor(moments).sqrt() + epsilon)
        return tensor - step * lr, AdamState(moments)

    def pack(self, state: AdamState) -> RuleState:
        """The core's form of a state."""
        return state.momentum.packed()

    def unpack(self, state: RuleState) -> AdamState:
        """The state of the core's form."""
        return AdamState(AdaptiveMomentumState.unpacked(state))
