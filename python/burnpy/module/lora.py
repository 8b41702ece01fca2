"""Low-rank adaptation: frozen weights, and two thin factors that train."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar

from burnpy._core import Device, Tensor
from burnpy.module.group import ParamGroup
from burnpy.module.initializer import Initializer
from burnpy.module.param import Param
from burnpy.module.quantizer import Quantizer
from burnpy.module.reparameterization import Reparameterization

__all__ = ["Lora", "LoraAdapter", "QLora"]


@dataclass(frozen=True)
class Lora:
    """How ``module.apply_lora`` adapts weights: every matrix ``W`` becomes ``W + alpha / rank · a @ b``.

    ``W`` and all other parameters of floats are frozen; ``a`` is drawn from U[−1/√d_in, 1/√d_in), ``b`` is 0, so that
    nothing changes at first.

    Args:
        rank: how thin the factors are: ``a`` is ``(d_in, rank)``, ``b`` is ``(rank, d_out)``.
        alpha: how much they count.
        group: which parameters; of these, the ones with two axes.

    Raises:
        ValueError: ``rank`` is less than 1, or ``alpha`` is not finite.

    Example:
        >>> from burnpy.module import Module
        >>> class Net(Module):
        ...     def __init__(self):
        ...         self.weight = Initializer.Ones().init((4, 6))
        ...         self.bias = Initializer.Zeros().init((6,))
        ...     def forward(self, x):
        ...         return x.matmul(self.weight.val()) + self.bias.val().unsqueeze(2)
        >>> net = Net().apply_lora(Lora(rank=2, alpha=4.0))
        >>> [(path, param.active) for path, param in net.named_params()]
        [('weight', False), ('weight.lora.a', True), ('weight.lora.b', True), ('bias', False)]

        A step moves the factors alone; then they are folded into the weight:

        >>> loss = net.forward(Tensor.ones((1, 4))).sum()
        >>> grads = loss.backward()
        >>> factor = net.weight.reparam.b
        >>> factor.set_base((factor.val().inner() - factor.val().grad(grads) * 0.1).autodiff().require_grad())
        >>> merged = net.materialize()
        >>> [path for path, _ in merged.named_params()]
        ['weight', 'bias']
        >>> merged.weight.val().all_close(net.weight.val())
        True

    Source: Burn ``module::Lora``; Hu et al. 2021.
    """

    rank: int
    alpha: float
    group: ParamGroup = field(default_factory=ParamGroup.all, kw_only=True)

    def __post_init__(self) -> None:
        if isinstance(self.rank, bool) or not hasattr(self.rank, "__index__") or self.rank < 1:
            raise ValueError(f"rank must be an integer of at least 1, got {self.rank!r}")
        if not math.isfinite(self.alpha):
            raise ValueError(f"alpha must be finite, got {self.alpha}")

    def set_param_group(self, group: ParamGroup) -> Lora:
        """The same for other parameters; those outside are frozen all the same."""
        return replace(self, group=group)

    def reparameterize(self, path: str, param: Param) -> LoraAdapter | None:
        """The factors of a matrix in the group; every parameter is frozen."""
        param.set_require_grad(False)
        if len(param.lazy_shape()) != 2 or not self.group.matches(param.id, path):
            return None
        d_input, d_output = param.value_shape()
        return LoraAdapter(d_input, d_output, self.rank, self.alpha / self.rank, param.lazy_device())


class LoraAdapter(Reparameterization):
    """The factors of a weight: what it is seen through is ``base + scale · a @ b``.

    The scale is not recorded.

    Source: Burn ``module::LoraAdapter``.
    """

    name: ClassVar[str] = "lora"

    def __init__(self, d_input: int, d_output: int, rank: int, scale: float, device: Device | None) -> None:
        self.a = Initializer.KaimingUniform(gain=1 / math.sqrt(3)).init_with(
            (d_input, rank), d_input, rank, device
        )
        self.b = Initializer.Zeros().init((rank, d_output), device)
        self.scale = scale

    def apply(self, base: Tensor) -> Tensor:
        """``base + scale · a @ b``, in the type of the base, or of the factors if that one is quantized."""
        change = self.a.val().matmul(self.b.val()) * self.scale
        if base.dtype == "qfloat":
            return base.cast(change.dtype) + change
        return base + (change if change.dtype == base.dtype else change.cast(base.dtype))


@dataclass(frozen=True)
class QLora:
    """How ``module.apply_qlora`` adapts weights: quantized and frozen, with the factors of :class:`Lora`.

    Example:
        >>> from burnpy.module import Calibration, Module
        >>> from burnpy.pack import QuantScheme
        >>> class Net(Module):
        ...     def __init__(self):
        ...         self.weight = Initializer.Ones().init((4, 6))
        >>> quantizer = Quantizer(Calibration.MinMax, QuantScheme(value="Q8S", store="Native"))
        >>> net = Net().apply_qlora(QLora(Lora(2, 4.0), quantizer))
        >>> net.weight.base().dtype, net.weight.val().dtype
        ('qfloat', 'f32')

    Source: Burn ``module::QLora``; Dettmers et al. 2023.
    """

    lora: Lora
    quantizer: Quantizer
