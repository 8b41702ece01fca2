"""Muon."""

from __future__ import annotations

import enum
import math
from typing import Any

from burnpy._core import Tensor
from burnpy.config import F32, KW_ONLY, NonNegative
from burnpy.errors import ConfigError, ShapeError
from burnpy.optim.decay import WeightDecayConfig
from burnpy.optim.hyper import check, not_negative
from burnpy.optim.momentum import MomentumConfig, MomentumState
from burnpy.optim.optimizer import Optimizer, OptimizerConfig
from burnpy.record.state import RecordState

__all__ = ["AdjustLrFn", "Muon", "MuonConfig", "MuonState"]


class AdjustLrFn(enum.Enum):
    """How the learning rate is adjusted to the shape ``[A, B]`` of a parameter.

    ``Original``: by ``sqrt(max(1, A/B))`` (Jordan et al. 2024). ``MatchRmsAdamW``: by ``0.2·sqrt(max(A, B))``, so that
    rates that suit AdamW suit Muon (Liu et al. 2025).

    Example:
        >>> AdjustLrFn.Original.adjustment_ratio((1024, 256))
        2.0

    Source: Burn ``optim::AdjustLrFn``.
    """

    Original = "Original"
    MatchRmsAdamW = "MatchRmsAdamW"

    def adjustment_ratio(self, shape: tuple[int, ...]) -> float:
        """What the learning rate is multiplied by; 1 for fewer than two dimensions."""
        if len(shape) < 2:
            return 1.0
        rows, cols = shape[:2]
        if self is AdjustLrFn.Original:
            return math.sqrt(max(1.0, rows / cols))
        return 0.2 * math.sqrt(max(rows, cols))


class MuonConfig(OptimizerConfig):
    """Configuration of :class:`Muon`. There is no clipping in it; give that to ``ModuleOptimizer.with_group``.

    Args:
        weight_decay: decoupled decay.
        momentum: of the gradient.
        ns_coefficients: of the polynomial that orthogonalizes.
        epsilon: what the norm is at least, when it divides.
        ns_steps: how often the polynomial is applied.
        adjust_lr_fn: an :class:`AdjustLrFn` or its name.

    Source: Burn ``optim::MuonConfig``.
    """

    _: KW_ONLY
    weight_decay: WeightDecayConfig | None = None
    momentum: MomentumConfig = MomentumConfig(momentum=0.95, dampening=0.0, nesterov=True)
    ns_coefficients: tuple[F32, F32, F32] = (3.4445, -4.775, 2.0315)
    epsilon: F32 = 1e-7
    ns_steps: NonNegative = 5
    adjust_lr_fn: AdjustLrFn = AdjustLrFn.Original

    def __post_init__(self) -> None:
        if isinstance(self.adjust_lr_fn, str):
            object.__setattr__(self, "adjust_lr_fn", _named(self.adjust_lr_fn))
        super().__post_init__()

    @classmethod
    def pytorch(cls, **fields: Any) -> MuonConfig:
        """With the defaults of ``torch.optim.Muon``: decay 0.1. ``fields`` are those of the configuration.

        PyTorch's linear weights are the transpose of burnpy's, so ``Original`` adjusts to another ratio there.
        """
        return cls(**{"weight_decay": WeightDecayConfig(0.1), **fields})

    def build(self) -> Muon:
        """The rule, after a check of its numbers; the clipping is not part of it."""
        check("MuonConfig", not_negative, epsilon=self.epsilon)
        return Muon(self)


def _named(name: str) -> AdjustLrFn:
    try:
        return AdjustLrFn(name)
    except ValueError:
        known = ", ".join(member.value for member in AdjustLrFn)
        raise ConfigError(f"MuonConfig: adjust_lr_fn must be one of {known}, got {name!r}") from None


class MuonState(RecordState):
    """What :class:`Muon` remembers; as that of Sgd with momentum in the file."""

    momentum: MomentumState


class Muon(Optimizer[MuonState]):
    """``G`` the momentum of ``g``, ``O`` the nearest orthogonal matrix, ``θ ← θ·(1 − lr·λ) − lr·ratio·O``.

    For matrices alone: route biases, embeddings and the like elsewhere, by groups.

    Raises:
        ShapeError: a parameter is no matrix.

    Cost: ``ns_steps`` times three products of matrices.

    Example:
        >>> from burnpy.module import Module, Param, ParamGroup
        >>> from burnpy.optim import AdamWConfig, GradientsParams
        >>> class Affine(Module):
        ...     def __init__(self):
        ...         self.weight = Param.from_tensor(Tensor([[1.0, 0.0], [0.0, 1.0]]))
        ...         self.bias = Param.from_tensor(Tensor([0.0, 0.0]))
        ...     def forward(self, x):
        ...         return x @ self.weight.val() + self.bias.val()
        >>> optim = AdamWConfig().init().with_group(ParamGroup.from_predicate("weight"), MuonConfig().build())
        >>> model = Affine()
        >>> loss = model(Tensor([[1.0, 2.0]])).square().sum()
        >>> model = optim.step(0.02, model, GradientsParams.from_grads(loss.backward(), model))
        >>> bool(model(Tensor([[1.0, 2.0]])).square().sum() < loss)
        True

    Source: Burn ``optim::Muon``; Jordan et al. 2024.
    """

    State = MuonState
    _state_is_like_parameter = True

    def __init__(self, config: MuonConfig | None = None) -> None:
        self.config = config = config or MuonConfig()
        self._momentum = config.momentum.init()
        # Its penalty is the factor of a decoupled decay here.
        self._decay = 0.0 if config.weight_decay is None else config.weight_decay.init().penalty

    def step(
        self, lr: float, tensor: Tensor, grad: Tensor, state: MuonState | None
    ) -> tuple[Tensor, MuonState]:
        """One step of one tensor."""
        if tensor.ndim != 2:
            raise ShapeError(
                f"muon: a parameter of shape {tensor.shape} is no matrix; route it to another optimizer",
                operation="muon",
            )
        direction, momentum = self._momentum.transform(grad, None if state is None else state.momentum)
        update = self._orthogonal(direction)
        ratio = self.config.adjust_lr_fn.adjustment_ratio(tensor.shape)
        if self._decay:
            tensor = tensor * (1.0 - lr * self._decay)
        return tensor - update * (lr * ratio), MuonState(momentum)

    def _orthogonal(self, matrix: Tensor) -> Tensor:
        """The nearest orthogonal matrix, by a Newton–Schulz iteration on the wide form."""
        rows, cols = matrix.shape
        a, b, c = self.config.ns_coefficients
        x = matrix.transpose() if rows > cols else matrix
        norm = (x * x).sum().sqrt().clamp_min(self.config.epsilon)
        x = x / norm.reshape(1, 1)
        for _ in range(self.config.ns_steps):
            square = x @ x.transpose()
            x = x * a + (square * b + (square @ square) * c) @ x
        return x.transpose() if rows > cols else x
