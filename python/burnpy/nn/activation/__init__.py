"""Activations as modules, under Burn's names; as functions they are in :mod:`burnpy.tensor.activation`.

Example:
    >>> from burnpy import Tensor
    >>> Relu()(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
"""

from __future__ import annotations

from burnpy.nn.activation.activation import Activation, ActivationConfig
from burnpy.nn.activation.celu import Celu, CeluConfig
from burnpy.nn.activation.elu import Elu, EluConfig
from burnpy.nn.activation.gelu import Gelu
from burnpy.nn.activation.glu import GLU
from burnpy.nn.activation.hard_shrink import HardShrink, HardShrinkConfig
from burnpy.nn.activation.hard_sigmoid import HardSigmoid, HardSigmoidConfig
from burnpy.nn.activation.hard_swish import HardSwish
from burnpy.nn.activation.hardtanh import Hardtanh, HardtanhConfig
from burnpy.nn.activation.leaky_relu import LeakyRelu, LeakyReluConfig
from burnpy.nn.activation.log_sigmoid import LogSigmoid
from burnpy.nn.activation.mish import Mish
from burnpy.nn.activation.prelu import PRelu, PReluConfig
from burnpy.nn.activation.relu import Relu
from burnpy.nn.activation.relu6 import Relu6
from burnpy.nn.activation.rrelu import RRelu, RReluConfig
from burnpy.nn.activation.selu import Selu
from burnpy.nn.activation.shrink import Shrink, ShrinkConfig
from burnpy.nn.activation.sigmoid import Sigmoid
from burnpy.nn.activation.silu import SiLU
from burnpy.nn.activation.soft_shrink import SoftShrink, SoftShrinkConfig
from burnpy.nn.activation.softplus import Softplus, SoftplusConfig
from burnpy.nn.activation.softsign import Softsign
from burnpy.nn.activation.swiglu import SwiGlu, SwiGluConfig
from burnpy.nn.activation.tanh import Tanh
from burnpy.nn.activation.tanhshrink import Tanhshrink
from burnpy.nn.activation.threshold import Threshold, ThresholdConfig
from burnpy.nn.activation.thresholded_relu import ThresholdedRelu, ThresholdedReluConfig

__all__ = [
    "GLU",
    "Activation",
    "ActivationConfig",
    "Celu",
    "CeluConfig",
    "Elu",
    "EluConfig",
    "Gelu",
    "HardShrink",
    "HardShrinkConfig",
    "HardSigmoid",
    "HardSigmoidConfig",
    "HardSwish",
    "Hardtanh",
    "HardtanhConfig",
    "LeakyRelu",
    "LeakyReluConfig",
    "LogSigmoid",
    "Mish",
    "PRelu",
    "PReluConfig",
    "RRelu",
    "RReluConfig",
    "Relu",
    "Relu6",
    "Selu",
    "Shrink",
    "ShrinkConfig",
    "SiLU",
    "Sigmoid",
    "SoftShrink",
    "SoftShrinkConfig",
    "Softplus",
    "SoftplusConfig",
    "Softsign",
    "SwiGlu",
    "SwiGluConfig",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "ThresholdConfig",
    "ThresholdedRelu",
    "ThresholdedReluConfig",
]
