"""A choice of an activation."""

from __future__ import annotations

from typing import Any, ClassVar

from burnpy.config import Variants
from burnpy.module import EnumModule, Module
from burnpy.nn.activation.celu import CeluConfig
from burnpy.nn.activation.elu import EluConfig
from burnpy.nn.activation.gelu import Gelu
from burnpy.nn.activation.hard_shrink import HardShrinkConfig
from burnpy.nn.activation.hard_sigmoid import HardSigmoidConfig
from burnpy.nn.activation.hard_swish import HardSwish
from burnpy.nn.activation.leaky_relu import LeakyReluConfig
from burnpy.nn.activation.prelu import PReluConfig
from burnpy.nn.activation.relu import Relu
from burnpy.nn.activation.selu import Selu
from burnpy.nn.activation.shrink import ShrinkConfig
from burnpy.nn.activation.sigmoid import Sigmoid
from burnpy.nn.activation.soft_shrink import SoftShrinkConfig
from burnpy.nn.activation.softplus import SoftplusConfig
from burnpy.nn.activation.softsign import Softsign
from burnpy.nn.activation.swiglu import SwiGluConfig
from burnpy.nn.activation.tanh import Tanh
from burnpy.nn.activation.thresholded_relu import ThresholdedReluConfig
from burnpy.nn.identity import Identity
from burnpy.tensor import Device, Tensor

__all__ = ["Activation", "ActivationConfig"]


class ActivationConfig(Variants):
    """Which activation a layer has. One of the variants below; those that carry a config take it as their value.

    Example:
        >>> from burnpy.nn import LeakyReluConfig
        >>> ActivationConfig.Gelu().init().variant
        'Gelu'
        >>> ActivationConfig.LeakyRelu(LeakyReluConfig(negative_slope=0.2)).init()(Tensor([-10.0])).tolist()
        [-2.0]

    Source: Burn ``nn::activation::ActivationConfig``.
    """

    Identity: ClassVar[type[_Identity]]
    Gelu: ClassVar[type[_Gelu]]
    GeluApproximate: ClassVar[type[_GeluApproximate]]
    PRelu: ClassVar[type[_PRelu]]
    Relu: ClassVar[type[_Relu]]
    LeakyRelu: ClassVar[type[_LeakyRelu]]
    SwiGlu: ClassVar[type[_SwiGlu]]
    Selu: ClassVar[type[_Selu]]
    Sigmoid: ClassVar[type[_Sigmoid]]
    Tanh: ClassVar[type[_Tanh]]
    HardSigmoid: ClassVar[type[_HardSigmoid]]
    HardSwish: ClassVar[type[_HardSwish]]
    Softplus: ClassVar[type[_Softplus]]
    Softsign: ClassVar[type[_Softsign]]
    Elu: ClassVar[type[_Elu]]
    Celu: ClassVar[type[_Celu]]
    ThresholdedRelu: ClassVar[type[_ThresholdedRelu]]
    HardShrink: ClassVar[type[_HardShrink]]
    SoftShrink: ClassVar[type[_SoftShrink]]
    Shrink: ClassVar[type[_Shrink]]

    _plain: ClassVar[type[Module] | None] = None

    def init(self, device: Device | None = None) -> Activation:
        """The module."""
        return Activation(self, device)

    def _layer(self, device: Device | None) -> Module:
        if self._plain is not None:
            return self._plain()
        config: Any = vars(self)["value"]
        layer: Module = (
            config.init(device) if isinstance(config, PReluConfig | SwiGluConfig) else config.init()
        )
        return layer


class _Identity(ActivationConfig, of=ActivationConfig, name="Identity"):
    _plain = Identity


class _Gelu(ActivationConfig, of=ActivationConfig, name="Gelu"):
    _plain = Gelu


class _GeluApproximate(ActivationConfig, of=ActivationConfig, name="GeluApproximate"):
    def _layer(self, device: Device | None) -> Module:
        return Gelu.new_approximate()


class _PRelu(ActivationConfig, of=ActivationConfig, name="PRelu"):
    value: PReluConfig


class _Relu(ActivationConfig, of=ActivationConfig, name="Relu"):
    _plain = Relu


class _LeakyRelu(ActivationConfig, of=ActivationConfig, name="LeakyRelu"):
    value: LeakyReluConfig


class _SwiGlu(ActivationConfig, of=ActivationConfig, name="SwiGlu"):
    value: SwiGluConfig


class _Selu(ActivationConfig, of=ActivationConfig, name="Selu"):
    _plain = Selu


class _Sigmoid(ActivationConfig, of=ActivationConfig, name="Sigmoid"):
    _plain = Sigmoid


class _Tanh(ActivationConfig, of=ActivationConfig, name="Tanh"):
    _plain = Tanh


class _HardSigmoid(ActivationConfig, of=ActivationConfig, name="HardSigmoid"):
    value: HardSigmoidConfig


class _HardSwish(ActivationConfig, of=ActivationConfig, name="HardSwish"):
    _plain = HardSwish


class _Softplus(ActivationConfig, of=ActivationConfig, name="Softplus"):
    value: SoftplusConfig


class _Softsign(ActivationConfig, of=ActivationConfig, name="Softsign"):
    _plain = Softsign


class _Elu(ActivationConfig, of=ActivationConfig, name="Elu"):
    value: EluConfig


class _Celu(ActivationConfig, of=ActivationConfig, name="Celu"):
    value: CeluConfig


class _ThresholdedRelu(ActivationConfig, of=ActivationConfig, name="ThresholdedRelu"):
    value: ThresholdedReluConfig


class _HardShrink(ActivationConfig, of=ActivationConfig, name="HardShrink"):
    value: HardShrinkConfig


class _SoftShrink(ActivationConfig, of=ActivationConfig, name="SoftShrink"):
    value: SoftShrinkConfig


class _Shrink(ActivationConfig, of=ActivationConfig, name="Shrink"):
    value: ShrinkConfig


class Activation(EnumModule):
    """An activation that a config chose; the name of the variant is part of the paths of its parameters.

    Example:
        >>> from burnpy.nn import PReluConfig
        >>> activation = ActivationConfig.PRelu(PReluConfig()).init()
        >>> activation(Tensor([-4.0, 2.0])).tolist(), [path for path, _ in activation.named_params()]
        ([-1.0, 2.0], ['PRelu.alpha'])

    Source: Burn ``nn::activation::Activation``.
    """

    def __init__(self, config: ActivationConfig, device: Device | None = None) -> None:
        layer = config._layer(device)
        setattr(self, type(layer).__name__, layer)

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape, but for ``SwiGlu``, which maps the last axis."""
        layer: Any = self.payload
        output: Tensor = layer.forward(x)
        return output
