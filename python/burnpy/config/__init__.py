"""Configurations: frozen dataclasses that check themselves, and are written and read as Burn's JSON."""

from dataclasses import KW_ONLY

from burnpy.config.config import Config, none_as_default, same_as
from burnpy.config.number import F32, NonNegative, Positive
from burnpy.config.variant import Variants

__all__ = ["F32", "KW_ONLY", "Config", "NonNegative", "Positive", "Variants", "none_as_default", "same_as"]
