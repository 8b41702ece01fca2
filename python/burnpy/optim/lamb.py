"""LAMB."""

from __future__ import annotations

from burnpy._core import Tensor
from burnpy.config import F32, KW_ONLY
from burnpy.optim.adaptive_momentum import AdaptiveMomentum, AdaptiveMomentumState
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, fraction, not_negative
from burnpy.optim.optimizer import Optimizer, OptimizerConfig
from burnpy.optim.scalars import correction, smallest_normal
from burnpy.record.state import RecordState, UInt

__all__ = ["Lamb", "LambConfig", "LambState"]


class LambConfig(OptimizerConfig):
    """Configuration of :class:`Lamb`.

    Args:
        grad_clipping: what :meth:`init` sets up.
        beta_1: weight of the past in the first moment.
        beta_2: weight of the past in the second moment.
        epsilon: added to the divisor.
        weight_decay: added to the update, before the trust ratio.
        use_trust_ratio: whether an update gets the length of its parameter.

    Source: Burn ``optim::LambConfig``.
    """

    _: KW_ONLY
    grad_clipping: GradientClippingConfig | None = None
    beta_1: F32 = 0.9
    beta_2: F32 = 0.999
    epsilon: F32 = 1e-6
    weight_decay: F32 = 0.0
    use_trust_ratio: bool = True

    def build(self) -> Lamb:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("LambConfig", fraction, beta_1=self.beta_1, beta_2=self.beta_2)
        check("LambConfig", not_negative, epsilon=self.epsilon, weight_decay=self.weight_decay)
        return Lamb(self)


class LambState(RecordState):
    """What :class:`Lamb` remembers."""

    time: UInt
    moment_1: Tensor
    moment_2: Tensor


class Lamb(Optimizer[LambState]):
    """The moments of Adam; ``u = m̂ / (√v̂ + ε) + λ·θ``, ``θ ← θ − lr·u·‖θ‖/‖u‖``, norms over each tensor.

    Example:
        >>> tensor, state = LambConfig().build().step(0.1, Tensor([3.0, 4.0]), Tensor([0.5, 0.5]), None)
        >>> [round(x, 3) for x in tensor.tolist()], state.time
        ([2.646, 3.646], 1)

    Source: Burn ``optim::Lamb``; You et al. 2020, algorithm 2.
    """

    State = LambState
    _state_is_like_parameter = True

    def __init__(self, config: LambConfig | None = None) -> None:
        self.config = config = config or LambConfig()
        self._moments = AdaptiveMomentum(config.beta_1, config.beta_2)

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: LambState | None
    ) -> tuple[Tensor, LambState]:
        """One step of one tensor."""
        config = self.config
        past = None if state is None else AdaptiveMomentumState(state.time, state.moment_1, state.moment_2)
        new = self._moments.advance(grad, past)
        first = new.moment_1 / correction(config.beta_1, new.time)
        second = new.moment_2 / correction(config.beta_2, new.time)
        update = first / (second.sqrt() + config.epsilon)
        if config.weight_decay != 0.0:
            update = update + tensor * config.weight_decay
        if config.use_trust_ratio:
            update = update * _trust_ratio(tensor, update)
        return tensor - update * lr, LambState(new.time, new.moment_1, new.moment_2)


def _trust_ratio(tensor: Tensor, update: Tensor) -> Tensor:
    """The length of a parameter in those of its update; 1 where either has none."""
    length, step = (tensor * tensor).sum().sqrt(), (update * update).sum().sqrt()
    ratio = length / step.clamp_min(smallest_normal(tensor.dtype))
    has_none = (length > 0.0).bool_and(step > 0.0).bool_not()
    return ratio.mask_fill(has_none, 1.0).reshape([1] * tensor.ndim)
