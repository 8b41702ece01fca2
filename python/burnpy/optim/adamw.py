"""AdamW."""

from __future__ import annotations

from typing import Any

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import F32, KW_ONLY
from burnpy.optim.adaptive_momentum import AdaptiveMomentum, AdaptiveMomentumState
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, fraction, not_negative
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.optim.scalars import correction
from burnpy.record.state import RecordState

__all__ = ["AdamW", "AdamWConfig", "AdamWState"]


class AdamWConfig(OptimizerConfig):
    """Configuration of :class:`AdamW`.

    Args:
        grad_clipping: what :meth:`init` sets up.
        beta_1: weight of the past in the first moment.
        beta_2: weight of the past in the second moment.
        epsilon: added to the divisor; 1e-5 as in Burn, where PyTorch has 1e-8.
        weight_decay: decoupled decay; 1e-4 as in Burn, where PyTorch has 1e-2.
        cautious_weight_decay: whether only elements with the sign of the first moment are decayed.
        amsgrad: whether the largest second moment so far divides.

    Source: Burn ``optim::AdamWConfig``.
    """

    _: KW_ONLY
    grad_clipping: GradientClippingConfig | None = None
    beta_1: F32 = 0.9
    beta_2: F32 = 0.999
    epsilon: F32 = 1e-5
    weight_decay: F32 = 1e-4
    cautious_weight_decay: bool = False
    amsgrad: bool = False

    @classmethod
    def pytorch(cls, **fields: Any) -> AdamWConfig:
        """With the defaults of ``torch.optim.AdamW``: epsilon 1e-8, decay 1e-2. ``fields`` are the configuration's."""
        return cls(**{"epsilon": 1e-8, "weight_decay": 1e-2, **fields})

    def build(self) -> AdamW:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("AdamWConfig", fraction, beta_1=self.beta_1, beta_2=self.beta_2)
        check("AdamWConfig", not_negative, epsilon=self.epsilon, weight_decay=self.weight_decay)
        return AdamW(self)


class AdamWState(RecordState):
    """What :class:`AdamW` remembers; as Adam's in the file."""

    momentum: AdaptiveMomentumState


class AdamW(FusedOptimizer[AdamWState]):
    """The moments of Adam, and a decay beside them: ``θ ← θ·(1 − lr·λ) − lr·m̂ / (√v̂ + ε)``.

    Example:
        >>> config = AdamWConfig(weight_decay=0.5)
        >>> tensor, state = config.build().step(0.1, Tensor([1.0]), Tensor([0.5]), None)
        >>> round(tensor.item(), 4), state.momentum.time
        (0.85, 1)

    Source: Burn ``optim::AdamW``; Loshchilov & Hutter 2019, algorithm 2.
    """

    State = AdamWState

    def __init__(self, config: AdamWConfig | None = None) -> None:
        self.config = config = config or AdamWConfig()
        self._moments = AdaptiveMomentum(config.beta_1, config.beta_2, config.amsgrad)
        self.rule = UpdateRule.adamw(
            beta_1=config.beta_1,
            beta_2=config.beta_2,
            epsilon=config.epsilon,
            weight_decay=config.weight_decay,
            cautious_weight_decay=config.cautious_weight_decay,
            amsgrad=config.amsgrad,
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: AdamWState | None
    ) -> tuple[Tensor, AdamWState]:
        """One step of one tensor."""
        config = self.config
        moments = self._moments.advance(grad, None if state is None else state.momentum)
        first = moments.moment_1 / correction(config.beta_1, moments.time)
        second = self._moments.divisor(moments) / correction(config.beta_2, moments.time)
        step = first / (second.sqrt() + config.epsilon)
        return self._decayed(tensor, moments.moment_1, lr) - step * lr, AdamWState(moments)

    def _decayed(self, tensor: Tensor, moment: Tensor, lr: float) -> Tensor:
        rate = lr * self.config.weight_decay
        if rate == 0.0:
            return tensor
        if not self.config.cautious_weight_decay:
            return tensor * (1.0 - rate)
        # A zero counts as positive.
        disagrees = (tensor >= 0.0) != (moment >= 0.0)
        return tensor - (tensor * rate).mask_fill(disagrees, 0.0)

    def pack(self, state: AdamWState) -> RuleState:
        """The core's form of a state."""
        return state.momentum.packed()

    def unpack(self, state: RuleState) -> AdamWState:
        """The state of the core's form."""
        return AdamWState(AdaptiveMomentumState.unpacked(state))
