"""Transformers: encoder, decoder, and their feed-forward part."""

from __future__ import annotations

from burnpy.nn.transformer.decoder import (
    TransformerDecoder,
    TransformerDecoderAutoregressiveCache,
    TransformerDecoderConfig,
    TransformerDecoderInput,
    TransformerDecoderLayer,
)
from burnpy.nn.transformer.encoder import (
    TransformerEncoder,
    TransformerEncoderAutoregressiveCache,
    TransformerEncoderConfig,
    TransformerEncoderInput,
    TransformerEncoderLayer,
)
from burnpy.nn.transformer.pwff import PositionWiseFeedForward, PositionWiseFeedForwardConfig

__all__ = [
    "PositionWiseFeedForward",
    "PositionWiseFeedForwardConfig",
    "TransformerDecoder",
    "TransformerDecoderAutoregressiveCache",
    "TransformerDecoderConfig",
    "TransformerDecoderInput",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderAutoregressiveCache",
    "TransformerEncoderConfig",
    "TransformerEncoderInput",
    "TransformerEncoderLayer",
]
