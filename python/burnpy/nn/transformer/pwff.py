"""The feed-forward part of a transformer."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.module import Initializer, Module
from burnpy.nn.activation.activation import ActivationConfig
from burnpy.nn.attention.scores import check_probability
from burnpy.nn.dropout import DropoutConfig
from burnpy.nn.linear import KAIMING, LinearConfig
from burnpy.tensor import Device, Tensor

__all__ = ["PositionWiseFeedForward", "PositionWiseFeedForwardConfig"]


class PositionWiseFeedForwardConfig(Config):
    """What a :class:`PositionWiseFeedForward` is made of.

    Raises:
        ConfigError: ``dropout`` does not lie in [0, 1).

    Example:
        >>> print(PositionWiseFeedForwardConfig(2, 4).init())
        PositionWiseFeedForward {d_model: 2, d_ff: 4, prob: 0.1, params: 22}

    Source: Burn ``nn::transformer::PositionWiseFeedForwardConfig``.
    """

    d_model: NonNegative
    d_ff: NonNegative
    _: KW_ONLY
    dropout: float = 0.1
    initializer: Initializer = KAIMING
    activation: ActivationConfig = ActivationConfig.Gelu()

    def validate(self) -> None:
        """Check what the types do not say."""
        check_probability(self, "dropout")

    def init(self, device: Device | None = None) -> PositionWiseFeedForward:
        """The module, its parameters drawn when they are first needed."""
        return PositionWiseFeedForward(self, device)


class PositionWiseFeedForward(Module):
    """``linear_outer(dropout(activation(linear_inner(x))))``, at every place of a sequence alone.

    Shapes:
        x: ``(..., d_model)``
        returns: ``(..., d_model)``

    Raises:
        ShapeError: the last axis of ``x`` is not ``d_model``.

    Example:
        >>> PositionWiseFeedForwardConfig(4, 8).init().forward(Tensor.ones((2, 3, 4))).shape
        (2, 3, 4)

    Source: Burn ``nn::transformer::PositionWiseFeedForward``; Vaswani et al. 2017.

    Unlike Burn: 0.22 leaves parameters of the activation out of the record, and so never trains them. Here they are
    parameters like others, under ``activation.<variant>``, as from Burn 0.23 on.
    """

    def __init__(self, config: PositionWiseFeedForwardConfig, device: Device | None = None) -> None:
        self.linear_inner = LinearConfig(config.d_model, config.d_ff, initializer=config.initializer).init(
            device
        )
        self.linear_outer = LinearConfig(config.d_ff, config.d_model, initializer=config.initializer).init(
            device
        )
        self.dropout = DropoutConfig(config.dropout).init()
        self.activation = config.activation.init(device)

    def forward(self, x: Tensor) -> Tensor:
        """What is said above."""
        x = self.activation.forward(self.linear_inner.forward(x))
        return self.linear_outer.forward(self.dropout.forward(x))

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes, and the probability of dropout."""
        d_model, d_ff = self.linear_inner.weight.lazy_shape()
        return [("d_model", d_model), ("d_ff", d_ff), ("prob", self.dropout.prob)]
