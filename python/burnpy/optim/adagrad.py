"""AdaGrad."""

from __future__ import annotations

from typing import Any

from burnpy._core import RuleState, Tensor, UpdateRule
from burnpy.config import F32, KW_ONLY
from burnpy.optim.decay import WeightDecayConfig
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, not_negative
from burnpy.optim.optimizer import FusedOptimizer, OptimizerConfig
from burnpy.record.state import RecordState, UInt

__all__ = ["AdaGrad", "AdaGradConfig", "AdaGradState", "LrDecayState"]


class AdaGradConfig(OptimizerConfig):
    """Configuration of :class:`AdaGrad`.

    Args:
        weight_decay: an L2 penalty, added to the gradient.
        grad_clipping: what :meth:`init` sets up.
        lr_decay: by how much the learning rate falls with each step of a parameter.
        epsilon: added to the divisor; 1e-5 as in Burn, where PyTorch has 1e-10.

    Source: Burn ``optim::AdaGradConfig``.
    """

    _: KW_ONLY
    weight_decay: WeightDecayConfig | None = None
    grad_clipping: GradientClippingConfig | None = None
    lr_decay: float = 0.0
    epsilon: F32 = 1e-5

    @classmethod
    def pytorch(cls, **fields: Any) -> AdaGradConfig:
        """With the defaults of ``torch.optim.Adagrad``: epsilon 1e-10. ``fields`` are those of the configuration."""
        return cls(**{"epsilon": 1e-10, **fields})

    def build(self) -> AdaGrad:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("AdaGradConfig", not_negative, lr_decay=self.lr_decay, epsilon=self.epsilon)
        return AdaGrad(self)


class LrDecayState(RecordState):
    """Steps so far, and the sum of squared gradients."""

    time: UInt
    sum: Tensor


class AdaGradState(RecordState):
    """What :class:`AdaGrad` remembers."""

    lr_decay: LrDecayState


class AdaGrad(FusedOptimizer[AdaGradState]):
    """``s ← s + g²``, ``θ ← θ − lr / (1 + (t − 1)·lr_decay) · g / (√s + ε)``.

    Example:
        >>> tensor, state = AdaGradConfig().build().step(0.1, Tensor([1.0]), Tensor([0.5]), None)
        >>> round(tensor.item(), 4), state.lr_decay.sum.tolist()
        (0.9, [0.25])

    Source: Burn ``optim::AdaGrad``; Duchi et al. 2011.
    """

    State = AdaGradState

    def __init__(self, config: AdaGradConfig | None = None) -> None:
        self.config = config = config or AdaGradConfig()
        self._decay = None if config.weight_decay is None else config.weight_decay.init()
        self.rule = UpdateRule.adagrad(
            weight_decay=None if config.weight_decay is None else config.weight_decay.penalty,
            lr_decay=config.lr_decay,
            epsilon=config.epsilon,
        )

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: AdaGradState | None
    ) -> tuple[Tensor, AdaGradState]:
        """One step of one tensor."""
        if self._decay is not None:
            grad = self._decay.transform(grad, tensor)
        time, total = 1, grad * grad
        if state is not None:
            time, total = state.lr_decay.time + 1, state.lr_decay.sum + total
        rate = lr / (1.0 + (time - 1) * self.config.lr_decay)
        step = grad / (total.sqrt() + self.config.epsilon)
        return tensor - step * rate, AdaGradState(LrDecayState(time, total))

    def pack(self, state: AdaGradState) -> RuleState:
        """The core's form of a state."""
        return RuleState(state.lr_decay.time, (state.lr_decay.sum,))

    def unpack(self, state: RuleState) -> AdaGradState:
        """The state of the core's form."""
        total = state.tensors[0]
        assert total is not None, "a state of a step that was made"
        return AdaGradState(LrDecayState(state.time, total))
