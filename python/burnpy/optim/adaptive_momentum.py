"""Running moments of a gradient, as a part of other rules."""

from __future__ import annotations

from burnpy._core import RuleState, Tensor
from burnpy.optim.scalars import complement
from burnpy.record.state import RecordState, UInt

__all__ = ["AdaptiveMomentum", "AdaptiveMomentumState"]


class AdaptiveMomentumState(RecordState):
    """Steps so far, first and second moment, and the largest second moment with AMSGrad."""

    time: UInt
    moment_1: Tensor
    moment_2: Tensor
    max_moment_2: Tensor | None = None

    def packed(self) -> RuleState:
        """The form in which the fused rules keep it."""
        largest = () if self.max_moment_2 is None else (self.max_moment_2,)
        return RuleState(self.time, (self.moment_1, self.moment_2, *largest))

    @classmethod
    def unpacked(cls, state: RuleState) -> AdaptiveMomentumState:
        """What :meth:`packed` was made from."""
        moment_1, moment_2, largest, _ = state.tensors
        assert moment_1 is not None and moment_2 is not None, "a state of a step that was made"
        return cls(state.time, moment_1, moment_2, largest)


class AdaptiveMomentum:
    """``m ← m·β₁ + g·(1 − β₁)``, ``v ← v·β₂ + g²·(1 − β₂)``, and the largest ``v`` with AMSGrad (Reddi et al. 2018)."""

    def __init__(self, beta_1: float, beta_2: float, amsgrad: bool = False) -> None:
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.amsgrad = amsgrad

    def advance(self, grad: Tensor, state: AdaptiveMomentumState | None) -> AdaptiveMomentumState:
        """The moments after a gradient."""
        first = grad * complement(self.beta_1)
        second = (grad * grad) * complement(self.beta_2)
        if state is None:
            return AdaptiveMomentumState(1, first, second, second if self.amsgrad else None)
        first = state.moment_1 * self.beta_1 + first
        second = state.moment_2 * self.beta_2 + second
        largest = state.max_moment_2
        if self.amsgrad:
            largest = second if largest is None else largest.max_pair(second)
        return AdaptiveMomentumState(state.time + 1, first, second, largest)

    def divisor(self, state: AdaptiveMomentumState) -> Tensor:
        """The second moment that divides."""
        if self.amsgrad and state.max_moment_2 is not None:
            return state.max_moment_2
        return state.moment_2
