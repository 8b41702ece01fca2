"""Adafactor."""

from __future__ import annotations

import math

from burnpy._core import Tensor
from burnpy.config import F32, KW_ONLY
from burnpy.errors import ConfigError
from burnpy.optim.grad_clipping import GradientClippingConfig
from burnpy.optim.hyper import check, not_negative, positive
from burnpy.optim.optimizer import Optimizer, OptimizerConfig
from burnpy.record.state import RecordState, UInt

__all__ = ["Adafactor", "AdafactorConfig", "AdafactorState"]


class AdafactorConfig(OptimizerConfig):
    """Configuration of :class:`Adafactor`.

    Args:
        grad_clipping: what :meth:`init` sets up.
        epsilon_1: added to squared gradients.
        epsilon_2: the scale of a parameter is at least this.
        clip_threshold: the root mean square that an update has at most.
        decay_rate: the new share of the second moments at step t is ``t ** decay_rate``.
        relative_step: whether the learning rate is at most ``1/√t``.
        scale_parameter: whether an update is scaled by the root mean square of its parameter.
        weight_decay: decoupled decay.

    Raises:
        ConfigError: from :meth:`build` and :meth:`init`, if ``epsilon_1``, ``epsilon_2`` or ``clip_threshold`` is not
            positive, ``decay_rate`` not negative, or ``weight_decay`` negative.

    Source: Burn ``optim::AdafactorConfig``.
    """

    _: KW_ONLY
    grad_clipping: GradientClippingConfig | None = None
    epsilon_1: F32 = 1e-30
    epsilon_2: F32 = 1e-3
    clip_threshold: F32 = 1.0
    decay_rate: float = -0.8
    relative_step: bool = True
    scale_parameter: bool = True
    weight_decay: F32 = 0.0

    def build(self) -> Adafactor:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        owner = "AdafactorConfig"
        check(owner, positive, epsilon_1=self.epsilon_1, epsilon_2=self.epsilon_2)
        check(owner, positive, clip_threshold=self.clip_threshold)
        if not -math.inf < self.decay_rate < 0.0:
            raise ConfigError(f"{owner}: decay_rate must be finite and negative, got {self.decay_rate}")
        check(owner, not_negative, weight_decay=self.weight_decay)
        return Adafactor(self)


class AdafactorState(RecordState):
    """Steps so far and second moments: means over rows and over columns, or all for fewer than two dimensions."""

    time: UInt
    second_moment: Tensor
    column_second_moment: Tensor | None = None


class Adafactor(Optimizer[AdafactorState]):
    """Second moments ``R`` and ``C`` of rows and columns alone: ``u = g / √(R·C / mean(R))``, ``θ ← θ − η·u``.

    ``u`` is clipped to a root mean square of ``clip_threshold`` and scaled by that of the parameter; ``η`` is ``lr``,
    at most ``1/√t``. Memory of ``A + B`` numbers for a matrix of ``A·B``. Half precision is computed in f32.

    Example:
        >>> config = AdafactorConfig(scale_parameter=False)
        >>> tensor, state = config.build().step(0.1, Tensor([[2.0, -2.0]]), Tensor([[1.0, 1.0]]), None)
        >>> [round(x, 4) for x in tensor.tolist()[0]], state.second_moment.shape
        ([1.9, -2.1], (1, 1))

    Source: Burn ``optim::Adafactor``; Shazeer & Stern 2018, algorithms 4 and 5.
    """

    State = AdafactorState

    def __init__(self, config: AdafactorConfig | None = None) -> None:
        self.config = config or AdafactorConfig()

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: AdafactorState | None
    ) -> tuple[Tensor, AdafactorState]:
        """One step of one tensor."""
        dtype = tensor.dtype
        if dtype in ("f16", "bf16"):
            tensor, grad = tensor.cast("f32"), grad.cast("f32")
        state = self._advanced(grad, state)
        update = self._update(tensor, grad, state, lr)
        if self.config.weight_decay != 0.0:
            tensor = tensor * (1.0 - lr * self.config.weight_decay)
        return (tensor - update).cast(dtype), state

    def _advanced(self, grad: Tensor, state: AdafactorState | None) -> AdafactorState:
        square = grad * grad + self.config.epsilon_1
        row, column = square, None
        if grad.ndim >= 2:
            row, column = square.mean_dim(grad.ndim - 1), square.mean_dim(grad.ndim - 2)
        if state is None:
            return AdafactorState(1, row, column)
        time = state.time + 1
        new = float(time) ** self.config.decay_rate
        row = state.second_moment * (1.0 - new) + row * new
        if column is not None:
            if state.column_second_moment is None:
                raise ValueError(
                    f"the state of a parameter of shape {grad.shape} has no column_second_moment"
                )
            column = state.column_second_moment * (1.0 - new) + column * new
        return AdafactorState(time, row, column)

    def _update(self, tensor: Tensor, grad: Tensor, state: AdafactorState, lr: float) -> Tensor:
        config = self.config
        row, column = state.second_moment, state.column_second_moment
        if column is None:
            update = grad / row.sqrt()
        else:
            update = grad / (row / row.mean_dim(row.ndim - 2)).sqrt() / column.sqrt()
        update = update / (_rms(update) / config.clip_threshold).clamp_min(1.0)
        if config.scale_parameter:
            update = update * _rms(tensor).clamp_min(config.epsilon_2)
        return update * (min(lr, 1.0 / math.sqrt(state.time)) if config.relative_step else lr)


def _rms(tensor: Tensor) -> Tensor:
    """The root of the mean square, of shape ``(1, …, 1)``."""
    return (tensor * tensor).mean().sqrt().reshape([1] * tensor.ndim)
