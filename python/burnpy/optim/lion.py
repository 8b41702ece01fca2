"""Lion."""

from __future__ import annotations

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import F32, KW_ONLY
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, fraction, not_negative
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.optim.scalars import complement
from burnpy.record.state import RecordState

__all__ = ["Lion", "LionConfig", "LionState"]


class LionConfig(OptimizerConfig):
    """Configuration of :class:`Lion`.

    Args:
        grad_clipping: what :meth:`init` sets up.
        beta_1: weight of the past in the direction of a step.
        beta_2: weight of the past in what is remembered.
        weight_decay: decoupled decay.

    Source: Burn ``optim::LionConfig``.
    """

    _: KW_ONLY
    grad_clipping: GradientClippingConfig | None = None
    beta_1: F32 = 0.9
    beta_2: F32 = 0.99
    weight_decay: F32 = 0.0

    def build(self) -> Lion:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("LionConfig", fraction, beta_1=self.beta_1, beta_2=self.beta_2)
        check("LionConfig", not_negative, weight_decay=self.weight_decay)
        return Lion(self)


class LionState(RecordState):
    """What :class:`Lion` remembers."""

    momentum: Tensor


class Lion(FusedOptimizer[LionState]):
    """``u = sign(m·β₁ + g·(1 − β₁))``, ``m ← m·β₂ + g·(1 − β₂)``, ``θ ← θ·(1 − lr·λ) − lr·u``.

    Every element moves by ``lr``: about a tenth of Adam's rate is a good first choice.

    Example:
        >>> tensor, _ = LionConfig().build().step(0.1, Tensor([1.0, 1.0]), Tensor([0.5, 0.0]), None)
        >>> [round(x, 4) for x in tensor.tolist()]
        [0.9, 1.0]

    Source: Burn ``optim::Lion``; Chen et al. 2023, algorithm 2.
    """

    State = LionState

    def __init__(self, config: LionConfig | None = None) -> None:
        self.config = config = config or LionConfig()
        self.rule = UpdateRule.lion(
            beta_1=config.beta_1, beta_2=config.beta_2, weight_decay=config.weight_decay
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: LionState | None
    ) -> tuple[Tensor, LionState]:
        """One step of one tensor."""
        config = self.config
        direction, memory = grad * complement(config.beta_1), grad * complement(config.beta_2)
        if state is not None:
            direction = state.momentum * config.beta_1 + direction
            memory = state.momentum * config.beta_2 + memory
        kept = 1.0 - lr * config.weight_decay
        if kept != 1.0:
            tensor = tensor * kept
        return tensor - direction.sign() * lr, LionState(memory)

    def pack(self, state: LionState) -> RuleState:
        """The core's form of a state."""
        return RuleState(1, (state.momentum,))

    def unpack(self, state: RuleState) -> LionState:
        """The state of the core's form."""
        momentum = state.tensors[0]
        assert momentum is not None, "a state of a step that was made"
        return LionState(momentum)
