"""Limits to gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from burnpy._core import Tensor
from burnpy.config import F32, Variants
from burnpy.errors import NonFiniteGradientError
from burnpy.optim.scalars import smallest_normal

__all__ = ["GradientClipping", "GradientClippingConfig", "NonFinite"]

NonFinite = Literal["raise", "skip", "propagate"]
"""What is done about a norm that is infinite or NaN: an error, no step, or Burn's way: NaN into the parameters."""


class GradientClippingConfig(Variants):
    """How gradients are clipped: ``Value``, ``Norm`` or ``GlobalNorm``, each with its limit.

    Any limit is taken, as Burn does.

    Unlike Burn: ``GlobalNorm`` is burnpy's own; Burn refuses a configuration that has it.

    Example:
        >>> GradientClippingConfig.Norm(1.0).init().clip_gradient(Tensor([3.0, 4.0])).tolist()
        [0.6000000238418579, 0.800000011920929]

    Source: Burn ``optim::grad_clipping::GradientClippingConfig``.
    """

    if TYPE_CHECKING:
        Value: ClassVar[type[_Value]]
        Norm: ClassVar[type[_Norm]]
        GlobalNorm: ClassVar[type[_GlobalNorm]]

    def init(self) -> GradientClipping:
        """The rule."""
        raise NotImplementedError


class _Value(GradientClippingConfig, of=GradientClippingConfig, name="Value"):
    value: F32

    def init(self) -> GradientClipping:
        """The rule."""
        return GradientClipping.Value(self.value)


class _Norm(GradientClippingConfig, of=GradientClippingConfig, name="Norm"):
    value: F32

    def init(self) -> GradientClipping:
        """The rule."""
        return GradientClipping.Norm(self.value)


class _GlobalNorm(GradientClippingConfig, of=GradientClippingConfig, name="GlobalNorm"):
    value: F32

    def init(self) -> GradientClipping:
        """The rule."""
        return GradientClipping.GlobalNorm(self.value)


class GradientClipping(Variants):
    """What limits gradients before an optimizer, and its weight decay, sees them.

    - ``Value(c)``: each element to the range from −c to c.
    - ``Norm(m)``: each tensor by itself, so that its L2 norm is at most m. Half precision is computed in f32.
    - ``GlobalNorm(m)``: all tensors together, so that the norm of all elements is at most m.

    Cost: for a norm, one pass over each gradient, and another over those that are too long.

    Source: Burn ``optim::grad_clipping::GradientClipping``, but for ``GlobalNorm``.
    """

    if TYPE_CHECKING:
        Value: ClassVar[type[_ByValue]]
        Norm: ClassVar[type[_ByNorm]]
        GlobalNorm: ClassVar[type[_ByGlobalNorm]]

    def clip_gradient(self, grad: Tensor) -> Tensor:
        """A gradient, clipped; a norm that is not finite propagates, as in Burn."""
        return self.clip_all([grad], "propagate")[0]

    def clip_all(self, grads: Sequence[Tensor], on_nonfinite: NonFinite = "raise") -> list[Tensor]:
        """Gradients of one step, clipped; an empty list if the step is to be skipped.

        Raises:
            NonFiniteGradientError: a norm is infinite or NaN, and ``on_nonfinite`` is ``"raise"``.
        """
        raise NotImplementedError


class _ByValue(GradientClipping, of=GradientClipping, name="Value"):
    value: F32

    def clip_all(self, grads: Sequence[Tensor], on_nonfinite: NonFinite = "raise") -> list[Tensor]:
        """See the base."""
        return [self._clipped(grad) for grad in grads]

    def _clipped(self, grad: Tensor) -> Tensor:
        # Two masks of the original, the lower one last: NaN stays, and a negative limit gives what Burn gives.
        clipped = grad.mask_fill(grad > self.value, self.value)
        return clipped.mask_fill(grad < -self.value, -self.value)


class _ByNorm(GradientClipping, of=GradientClipping, name="Norm"):
    value: F32

    def clip_all(self, grads: Sequence[Tensor], on_nonfinite: NonFinite = "raise") -> list[Tensor]:
        """See the base."""
        clipped = []
        for grad in grads:
            wide = _wide(grad)
            norm = (wide * wide).sum().sqrt()
            length = norm.item()
            if not math.isfinite(length) and not _goes_on(length, "a gradient", on_nonfinite):
                return []
            if not length < self.value * 0.999:
                factor = (norm + smallest_normal(wide.dtype)).recip() * self.value
                wide = wide * factor.clamp_max(1.0).reshape([1] * wide.ndim)
                grad = wide.cast(grad.dtype)
            clipped.append(grad)
        return clipped


class _ByGlobalNorm(GradientClipping, of=GradientClipping, name="GlobalNorm"):
    value: F32

    def clip_all(self, grads: Sequence[Tensor], on_nonfinite: NonFinite = "raise") -> list[Tensor]:
        """See the base."""
        norm = math.sqrt(sum(_square_sum(grad) for grad in grads))
        if not math.isfinite(norm) and not _goes_on(norm, "all gradients together", on_nonfinite):
            return []
        factor = self.value / (norm + smallest_normal("f32"))
        return list(grads) if factor >= 1.0 else [_scaled(grad, factor) for grad in grads]


def _wide(grad: Tensor) -> Tensor:
    return grad.cast("f32") if grad.dtype in ("f16", "bf16") else grad


def _scaled(grad: Tensor, factor: float) -> Tensor:
    return (_wide(grad) * factor).cast(grad.dtype)


def _square_sum(grad: Tensor) -> float:
    wide = _wide(grad)
    total: float = (wide * wide).sum().item()
    if total == math.inf and grad.dtype != "f64":
        # There the square of no f32 overflows.
        return _square_sum(grad.cast("f64"))
    return total


def _goes_on(norm: float, whose: str, on_nonfinite: NonFinite) -> bool:
    if on_nonfinite == "raise":
        raise NonFiniteGradientError(
            f"the norm of {whose} is {norm}; no parameter was changed "
            '(on_nonfinite="skip" leaves such steps out, "propagate" makes them)',
            norm=norm,
        )
    return on_nonfinite == "propagate"
