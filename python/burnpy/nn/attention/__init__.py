"""Attention, and the masks for it."""

from __future__ import annotations

from burnpy.nn.attention.cross_attention import CrossAttention, CrossAttentionCache, CrossAttentionConfig
from burnpy.nn.attention.mask import (
    GeneratePaddingMask,
    SeqLengthOption,
    generate_autoregressive_mask,
    generate_padding_mask,
)
from burnpy.nn.attention.mha import (
    MhaCache,
    MhaInput,
    MhaOutput,
    MultiHeadAttention,
    MultiHeadAttentionConfig,
)

__all__ = [
    "CrossAttention",
    "CrossAttentionCache",
    "CrossAttentionConfig",
    "GeneratePaddingMask",
    "MhaCache",
    "MhaInput",
    "MhaOutput",
    "MultiHeadAttention",
    "MultiHeadAttentionConfig",
    "SeqLengthOption",
    "generate_autoregressive_mask",
    "generate_padding_mask",
]
