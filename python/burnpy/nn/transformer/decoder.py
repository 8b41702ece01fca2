"""The decoder of a transformer."""

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
    "TransformerDecoder",
    "TransformerDecoderAutoregressiveCache",
    "TransformerDecoderConfig",
    "TransformerDecoderInput",
    "TransformerDecoderLayer",
]


class TransformerDecoderConfig(StackConfig):
    """What a :class:`TransformerDecoder` is made of.

    Raises:
        ConfigError: ``n_heads`` is 0, or ``dropout`` does not lie in [0, 1).

    Example:
        >>> TransformerDecoderConfig(2, 4, 2, 3).init().num_params()
        246

    Source: Burn ``nn::transformer::TransformerDecoderConfig``.
    """

    def init(self, device: Device | None = None) -> TransformerDecoder:
        """The module, its parameters drawn when they are first needed."""
        return TransformerDecoder(self, device)


@dataclass(frozen=True)
class TransformerDecoderInput:
    """A sequence, ``(batch, seq, d_model)``, one that it looks at, and what is not to be looked at.

    Example:
        >>> input = TransformerDecoderInput(Tensor.ones((1, 2, 4)), Tensor.ones((1, 3, 4)))
        >>> input.memory_mask_pad(Tensor([[False, False, True]])).memory_pad.shape
        (1, 3)

    Source: Burn ``nn::transformer::TransformerDecoderInput``.
    """

    target: Tensor
    memory: Tensor
    target_pad: Tensor | None = field(default=None, kw_only=True)
    target_attn: Tensor | None = field(default=None, kw_only=True)
    memory_pad: Tensor | None = field(default=None, kw_only=True)
    memory_attn: Tensor | None = field(default=None, kw_only=True)

    def target_mask_pad(self, mask: Tensor) -> TransformerDecoderInput:
        """The same with places of the target hidden from all, ``(batch, seq)``: padding."""
        return replace(self, target_pad=mask)

    def target_mask_attn(self, mask: Tensor) -> TransformerDecoderInput:
        """The same with places of the target hidden from some, ``(batch, seq, seq)``: the future."""
        return replace(self, target_attn=mask)

    def memory_mask_pad(self, mask: Tensor) -> TransformerDecoderInput:
        """The same with places of the memory hidden from all, ``(batch, memory)``: padding."""
        return replace(self, memory_pad=mask)

    def memory_mask_attn(self, mask: Tensor) -> TransformerDecoderInput:
        """The same with places of the memory hidden from some, ``(batch, seq, memory)``."""
        return replace(self, memory_attn=mask)


class TransformerDecoderAutoregressiveCache:
    """What :meth:`TransformerDecoder.forward_autoregressive_inference` keeps from step to step.

    Source: Burn ``nn::transformer::TransformerDecoderAutoregressiveCache``.
    """

    def __init__(self, n_layers: int) -> None:
        self.layers = [_new_cache() for _ in range(n_layers)]
        self.output = TensorCache()


class TransformerDecoder(Module):
    """Layers of self attention, attention to a memory, and feed forward. There is no norm after the last one.

    Shapes:
        target: ``(batch, seq, d_model)``
        memory: ``(batch, memory, d_model)``
        returns: ``(batch, seq, d_model)``

    Raises:
        ShapeError: shapes do not fit, or ``d_model`` is no multiple of ``n_heads``.
        DTypeError: a mask is not of booleans.

    Example:
        >>> decoder = TransformerDecoderConfig(8, 16, 2, 2).init()
        >>> decoder.forward(TransformerDecoderInput(Tensor.ones((1, 3, 8)), Tensor.ones((1, 5, 8)))).shape
        (1, 3, 8)

    Source: Burn ``nn::transformer::TransformerDecoder``; Vaswani et al. 2017. With ``norm_first``, ``norm_3`` comes
    before the self attention, ``norm_1`` before the attention to the memory and ``norm_2`` before the feed forward.
    """

    def __init__(self, config: TransformerDecoderConfig, device: Device | None = None) -> None:
        self.layers = [TransformerDecoderLayer(config, device) for _ in range(config.n_layers)]
        self.d_model = config.d_model
        self.d_ff = config.d_ff
        self.n_heads = config.n_heads
        self.n_layers = config.n_layers
        self.dropout = config.dropout
        self.norm_first = config.norm_first
        self.quiet_softmax = config.quiet_softmax

    def forward(self, input: TransformerDecoderInput) -> Tensor:
        """The target after all layers."""
        expect(self, input, TransformerDecoderInput)
        for layer in self.layers:
            input = replace(input, target=layer.forward(input))
        return input.target

    def new_autoregressive_cache(self) -> TransformerDecoderAutoregressiveCache:
        """An empty cache for :meth:`forward_autoregressive_inference`."""
        return TransformerDecoderAutoregressiveCache(self.n_layers)

    def forward_autoregressive_inference(
        self, input: TransformerDecoderInput, cache: TransformerDecoderAutoregressiveCache
    ) -> Tensor:
        """:meth:`forward` of a target that grows: each call takes the whole, and computes what is new.

        For inference, with the same memory in each call, and a mask that hides the future of the target; then the
        result is that of one :meth:`forward`.
        """

        def new(x: Tensor) -> Tensor:
            for layer, keys in zip(self.layers, cache.layers, strict=True):
                x = layer.forward_newest(replace(input, target=x), keys)
            return x

        return cache.output.forward_autoregressive(input.target, 1, new)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes and settings."""
        names = ("d_model", "d_ff", "n_heads", "n_layers", "dropout", "norm_first", "quiet_softmax")
        return [(name, getattr(self, name)) for name in names]


class TransformerDecoderLayer(Module):
    """One layer of a :class:`TransformerDecoder`: two attentions and feed forward, each with norm and way around."""

    def __init__(self, config: TransformerDecoderConfig, device: Device | None = None) -> None:
        mha = config.attention()
        norm = config.norm()
        self.cross_attn = mha.init(device)
        self.self_attn = mha.init(device)
        self.pwff = config.feed_forward().init(device)
        self.norm_1 = norm.init(device)
        self.norm_2 = norm.init(device)
        self.norm_3 = norm.init(device)
        self.dropout = DropoutConfig(config.dropout).init()
        self.norm_first = config.norm_first

    @checkpointed
    def forward(self, input: TransformerDecoderInput) -> Tensor:
        """The target after this layer."""
        return self.forward_newest(input, _new_cache())

    def forward_newest(self, input: TransformerDecoderInput, cache: tuple[MhaCache, MhaCache]) -> Tensor:
        """The newest places of the target after this layer; the cache has the keys and values of the others."""
        expect(self, input, TransformerDecoderInput)
        x, (own, other) = input.target, cache
        if self.norm_first:
            x = x + self._self_attention(self.norm_3.forward(x), input, own)
            x = x + self._cross_attention(self.norm_1.forward(x), input, other)
            return x + self.dropout.forward(self.pwff.forward(self.norm_2.forward(x)))
        x = self.norm_1.forward(x + self._self_attention(x, input, own))
        x = self.norm_2.forward(x + self._cross_attention(x, input, other))
        return self.norm_3.forward(x + self.dropout.forward(self.pwff.forward(x)))

    def _self_attention(self, x: Tensor, input: TransformerDecoderInput, cache: MhaCache) -> Tensor:
        attention = MhaInput(x, x, x, pad=input.target_pad, attn=input.target_attn)
        return self.dropout.forward(self.self_attn.forward_newest(attention, cache))

    def _cross_attention(self, x: Tensor, input: TransformerDecoderInput, cache: MhaCache) -> Tensor:
        attention = MhaInput(x, input.memory, input.memory, pad=input.memory_pad, attn=input.memory_attn)
        return self.dropout.forward(self.cross_attn.forward_newest(attention, cache))


def _new_cache() -> tuple[MhaCache, MhaCache]:
    return MhaCache.autoregressive(), MhaCache.autoregressive_cross_attention()
