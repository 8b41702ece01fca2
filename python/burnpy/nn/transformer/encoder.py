"""The encoder of a transformer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from burnpy.module import Module
from burnpy.nn.attention.mha import MhaCache, MhaInput
from burnpy.nn.cache import TensorCache
from burnpy.nn.dropout import DropoutConfig
from burnpy.nn.expect import expect
from burnpy.nn.transformer.stack_config import StackConfig
from burnpy.tensor import Device, Tensor
from burnpy.tensor.recompute import checkpointed

__all__ = [
    "TransformerEncoder",
    "TransformerEncoderAutoregressiveCache",
    "TransformerEncoderConfig",
    "TransformerEncoderInput",
    "TransformerEncoderLayer",
]


class TransformerEncoderConfig(StackConfig):
    """What a :class:`TransformerEncoder` is made of.

    Raises:
        ConfigError: ``n_heads`` is 0, or ``dropout`` does not lie in [0, 1).

    Example:
        >>> TransformerEncoderConfig(2, 4, 2, 3).init().num_params()
        162

    Source: Burn ``nn::transformer::TransformerEncoderConfig``.
    """

    def init(self, device: Device | None = None) -> TransformerEncoder:
        """The module, its parameters drawn when they are first needed."""
        return TransformerEncoder(self, device)


@dataclass(frozen=True)
class TransformerEncoderInput:
    """A sequence, ``(batch, seq, d_model)``, and what its places may not look at.

    Example:
        >>> TransformerEncoderInput(Tensor.ones((1, 2, 4))).mask_pad(Tensor([[False, True]])).pad.shape
        (1, 2)

    Source: Burn ``nn::transformer::TransformerEncoderInput``.
    """

    tensor: Tensor
    pad: Tensor | None = field(default=None, kw_only=True)
    attn: Tensor | None = field(default=None, kw_only=True)

    def mask_pad(self, mask: Tensor) -> TransformerEncoderInput:
        """The same with places hidden from all, ``(batch, seq)``: padding."""
        return replace(self, pad=mask)

    def mask_attn(self, mask: Tensor) -> TransformerEncoderInput:
        """The same with places hidden from some, ``(batch, seq, seq)``: the future."""
        return replace(self, attn=mask)


class TransformerEncoderAutoregressiveCache:
    """What :meth:`TransformerEncoder.forward_autoregressive_inference` keeps from step to step.

    Source: Burn ``nn::transformer::TransformerEncoderAutoregressiveCache``.
    """

    def __init__(self, n_layers: int) -> None:
        self.layers = [MhaCache.autoregressive() for _ in range(n_layers)]
        self.output = TensorCache()


class TransformerEncoder(Module):
    """Layers of self attention and feed forward. There is no norm after the last one.

    Shapes:
        tensor: ``(batch, seq, d_model)``
        returns: ``(batch, seq, d_model)``

    Raises:
        ShapeError: shapes do not fit, or ``d_model`` is no multiple of ``n_heads``.
        DTypeError: a mask is not of booleans.

    Example:
        >>> encoder = TransformerEncoderConfig(8, 16, 2, 2).init()
        >>> encoder.forward(TransformerEncoderInput(Tensor.ones((1, 3, 8)))).shape
        (1, 3, 8)

    Source: Burn ``nn::transformer::TransformerEncoder``; Vaswani et al. 2017. With ``norm_first``, ``norm_2`` comes
    before the attention and ``norm_1`` before the feed forward.
    """

    def __init__(self, config: TransformerEncoderConfig, device: Device | None = None) -> None:
        self.layers = [TransformerEncoderLayer(config, device) for _ in range(config.n_layers)]
        self.d_model = config.d_model
        self.d_ff = config.d_ff
        self.n_heads = config.n_heads
        self.n_layers = config.n_layers
        self.dropout = config.dropout
        self.norm_first = config.norm_first
        self.quiet_softmax = config.quiet_softmax

    def forward(self, input: TransformerEncoderInput) -> Tensor:
        """The sequence after all layers."""
        expect(self, input, TransformerEncoderInput)
        for layer in self.layers:
            input = replace(input, tensor=layer.forward(input))
        return input.tensor

    def new_autoregressive_cache(self) -> TransformerEncoderAutoregressiveCache:
        """An empty cache for :meth:`forward_autoregressive_inference`."""
        return TransformerEncoderAutoregressiveCache(self.n_layers)

    def forward_autoregressive_inference(
        self, input: TransformerEncoderInput, cache: TransformerEncoderAutoregressiveCache
    ) -> Tensor:
        """:meth:`forward` of a sequence that grows: each call takes the whole, and computes what is new.

        For inference, and with a mask that hides the future; then the result is that of one :meth:`forward`.
        """

        def new(x: Tensor) -> Tensor:
            for layer, keys in zip(self.layers, cache.layers, strict=True):
                x = layer.forward_newest(replace(input, tensor=x), keys)
            return x

        return cache.output.forward_autoregressive(input.tensor, 1, new)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes and settings."""
        names = ("d_model", "d_ff", "n_heads", "n_layers", "dropout", "norm_first", "quiet_softmax")
        return [(name, getattr(self, name)) for name in names]


class TransformerEncoderLayer(Module):
    """One layer of a :class:`TransformerEncoder`: attention and feed forward, each with a norm and a way around it."""

    def __init__(self, config: TransformerEncoderConfig, device: Device | None = None) -> None:
        self.mha = config.attention().init(device)
        self.pwff = config.feed_forward().init(device)
        norm = config.norm()
        self.norm_1 = norm.init(device)
        self.norm_2 = norm.init(device)
        self.dropout = DropoutConfig(config.dropout).init()
        self.norm_first = config.norm_first

    @checkpointed
    def forward(self, input: TransformerEncoderInput) -> Tensor:
        """The sequence after this layer."""
        return self.forward_newest(input, MhaCache.autoregressive())

    def forward_newest(self, input: TransformerEncoderInput, cache: MhaCache) -> Tensor:
        """The newest places of a sequence after this layer; the cache has keys and values of the others."""
        expect(self, input, TransformerEncoderInput)
        x = input.tensor
        around = self.norm_2.forward(x) if self.norm_first else x
        attention = MhaInput(around, around, around, pad=input.pad, attn=input.attn)
        x = x + self.dropout.forward(self.mha.forward_newest(attention, cache))
        if self.norm_first:
            return x + self.dropout.forward(self.pwff.forward(self.norm_1.forward(x)))
        x = self.norm_1.forward(x)
        return self.norm_2.forward(x + self.dropout.forward(self.pwff.forward(x)))
