"""Configurations: frozen dataclasses that check themselves, and are written and read as Burn's JSON."""

from dataclasses import KW_ONLY

from burnpy.config.config import Config
from burnpy.config.number import F32
from burnpy.config.variant import Variants

__all__ = ["F32", "KW_ONLY", "Config", "Variants"]
