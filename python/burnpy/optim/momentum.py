"""Momentum, as a part of other rules."""

from __future__ import annotations

from burnpy._core import Tensor
from burnpy.config import KW_ONLY, Config
from burnpy.config.number import round_to_f32
from burnpy.optim.hyper import check, not_negative
from burnpy.record.state import RecordState

__all__ = ["Momentum", "MomentumConfig", "MomentumState"]


class MomentumConfig(Config):
    """A velocity that remembers earlier gradients: ``v ← g·(1 − dampening) + v·momentum``, at first ``v = g``.

    The direction of a step is ``v``, or ``v·momentum + g`` with ``nesterov`` (Nesterov 1983).

    Dampening is 0.1 by default as in Burn; PyTorch's is 0, which :meth:`pytorch` gives.

    Raises:
        ConfigError: from :meth:`init`, if a number is negative or not finite.

    Source: Burn ``optim::momentum::MomentumConfig``.
    """

    _: KW_ONLY
    momentum: float = 0.9
    dampening: float = 0.1
    nesterov: bool = False

    @classmethod
    def pytorch(
        cls, momentum: float = 0.9, *, dampening: float = 0.0, nesterov: bool = False
    ) -> MomentumConfig:
        """With the dampening that ``torch.optim.SGD`` has unless told otherwise."""
        return cls(momentum=momentum, dampening=dampening, nesterov=nesterov)

    def init(self) -> Momentum:
        """The rule."""
        check("MomentumConfig", not_negative, momentum=self.momentum, dampening=self.dampening)
        return Momentum(self)


class MomentumState(RecordState):
    """What :class:`Momentum` remembers."""

    velocity: Tensor


class Momentum:
    """The rule of :class:`MomentumConfig`.

    Example:
        >>> velocity, state = MomentumConfig().init().transform(Tensor([1.0]), None)
        >>> velocity.tolist(), state.velocity.tolist()
        ([1.0], [1.0])
    """

    def __init__(self, config: MomentumConfig) -> None:
        self.config = config
        self._mu = round_to_f32(config.momentum)
        self._rest = 1.0 - config.dampening

    def transform(self, grad: Tensor, state: MomentumState | None) -> tuple[Tensor, MomentumState]:
        """The direction of the step, and the state after it."""
        velocity = grad if state is None else grad * self._rest + state.velocity * self._mu
        direction = velocity * self._mu + grad if self.config.nesterov else velocity
        return direction, MomentumState(velocity)
