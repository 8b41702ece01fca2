"""Layers, losses and activations, under Burn's names."""

from __future__ import annotations

from burnpy.nn import loss

__all__ = ["loss"]
