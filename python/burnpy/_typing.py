"""Aliases that signatures share."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias

__all__ = ["Backend", "Framework", "PathLike"]

PathLike: TypeAlias = str | os.PathLike[str]
"""A path as ``open`` takes it."""

Backend: TypeAlias = Literal["auto", "mmap", "pread"]
"""How a file is reached: mapped, or read."""

Framework: TypeAlias = Literal["numpy", "np", "torch", "pt", "pytorch", "jax", "flax"]
"""Whose tensors are made, in burnpy's words and in those of safetensors."""
