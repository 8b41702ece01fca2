"""What the configurations of encoder and decoder share."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative, Positive
from burnpy.module import Initializer
from burnpy.nn.activation.activation import ActivationConfig
from burnpy.nn.attention.mha import MultiHeadAttentionConfig
from burnpy.nn.attention.scores import check_probability
from burnpy.nn.linear import KAIMING
from burnpy.nn.norm.layer_norm import LayerNormConfig
from burnpy.nn.transformer.pwff import PositionWiseFeedForwardConfig

__all__ = ["StackConfig"]


class StackConfig(Config):
    """Sizes and settings of layers of attention and feed forward, and the configurations of what a layer is made of.

    Raises:
        ConfigError: ``n_heads`` is 0, or ``dropout`` does not lie in [0, 1).
    """

    d_model: NonNegative
    d_ff: NonNegative
    n_heads: Positive
    n_layers: NonNegative
    _: KW_ONLY
    dropout: float = 0.1
    norm_first: bool = False
    quiet_softmax: bool = False
    initializer: Initializer = KAIMING
    activation: ActivationConfig = ActivationConfig.Gelu()
    layer_norm_eps: float = 1e-5

    def validate(self) -> None:
        """Check what the types do not say."""
        check_probability(self, "dropout")

    def attention(self) -> MultiHeadAttentionConfig:
        """That of a layer's attention."""
        return MultiHeadAttentionConfig(
            self.d_model,
            self.n_heads,
            dropout=self.dropout,
            quiet_softmax=self.quiet_softmax,
            initializer=self.initializer,
        )

    def feed_forward(self) -> PositionWiseFeedForwardConfig:
        """That of a layer's feed forward."""
        return PositionWiseFeedForwardConfig(
            self.d_model,
            self.d_ff,
            dropout=self.dropout,
            initializer=self.initializer,
            activation=self.activation,
        )

    def norm(self) -> LayerNormConfig:
        """That of a layer's norms."""
        return LayerNormConfig(self.d_model, epsilon=self.layer_norm_eps)
