"""Stochastic gradient descent."""

from __future__ import annotations

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import KW_ONLY
from burnpy.optim.decay import WeightDecayConfig
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.momentum import MomentumConfig, MomentumState
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.record.state import RecordState

__all__ = ["Sgd", "SgdConfig", "SgdState"]


class SgdConfig(OptimizerConfig):
    """Configuration of :class:`Sgd`.

    Args:
        weight_decay: an L2 penalty.
        momentum: a velocity. Its dampening is 0.1 by default, as in Burn.
        gradient_clipping: what :meth:`init` sets up; only here is the field not called ``grad_clipping``.

    Source: Burn ``optim::SgdConfig``.
    """

    _: KW_ONLY
    weight_decay: WeightDecayConfig | None = None
    momentum: MomentumConfig | None = None
    gradient_clipping: GradientClippingConfig | None = None

    @classmethod
    def pytorch(
        cls,
        *,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> SgdConfig:
        """The arguments and defaults of ``torch.optim.SGD``; its ``lr`` is given to ``step``."""
        velocity = MomentumConfig.pytorch(momentum, dampening=dampening, nesterov=nesterov)
        return cls(
            weight_decay=WeightDecayConfig(weight_decay) if weight_decay else None,
            momentum=velocity if momentum else None,
        )

    def build(self) -> Sgd:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        return Sgd(self)

    def _clipping(self) -> GradientClippingConfig | None:
        return self.gradient_clipping


class SgdState(RecordState):
    """What :class:`Sgd` remembers: nothing without momentum."""

    momentum: MomentumState | None = None


class Sgd(FusedOptimizer[SgdState]):
    """``θ ← θ − lr·g``, with an L2 penalty (``g ← θ·penalty + g``) and momentum if configured.

    Example:
        >>> sgd = SgdConfig(momentum=MomentumConfig()).build()
        >>> tensor, state = sgd.step(0.1, Tensor([1.0]), Tensor([1.0]), None)
        >>> round(tensor.item(), 3), state.momentum.velocity.tolist()
        (0.9, [1.0])

    Source: Burn ``optim::Sgd``.
    """

    State = SgdState

    def __init__(self, config: SgdConfig | None = None) -> None:
        self.config = config = config or SgdConfig()
        self._decay = None if config.weight_decay is None else config.weight_decay.init()
        self._momentum = None if config.momentum is None else config.momentum.init()
        momentum = config.momentum
        self.rule = UpdateRule.sgd(
            weight_decay=None if config.weight_decay is None else config.weight_decay.penalty,
            momentum=None if momentum is None else (momentum.momentum, momentum.dampening, momentum.nesterov),
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: SgdState | None
    ) -> tuple[Tensor, SgdState]:
        """One step of one tensor."""
        if self._decay is not None:
            grad = self._decay.transform(grad, tensor)
        velocity = None
        if self._momentum is not None:
            grad, velocity = self._momentum.transform(grad, None if state is None else state.momentum)
        return tensor - grad * lr, SgdState(velocity)

    def pack(self, state: SgdState) -> RuleState:
        """The core's form of a state."""
        velocity = None if state.momentum is None or self._momentum is None else state.momentum.velocity
        return RuleState(1, () if velocity is None else (velocity,))

    def unpack(self, state: RuleState) -> SgdState:
        """The state of the core's form."""
        velocity = state.tensors[0]
        return SgdState(None if velocity is None else MomentumState(velocity))
