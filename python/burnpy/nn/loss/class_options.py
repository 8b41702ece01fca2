"""Weights of classes and smoothing of targets: what the cross entropies have in common."""

from __future__ import annotations

from collections.abc import Sequence

from burnpy.config.number import float_text
from burnpy.errors import ConfigError

__all__ = ["shown_options", "validate_options"]


def validate_options(config: str, weights: Sequence[float] | None, smoothing: float | None) -> None:
    """Refuse weights that are not above 0, and a smoothing outside of [0, 1].

    Raises:
        ConfigError: there is one.
    """
    for i, weight in enumerate(weights or ()):
        if not weight > 0:
            raise ConfigError(f"{config}: weights must be greater than 0, got {weight} at [{i}]")
    if smoothing is not None and not 0 <= smoothing <= 1:
        raise ConfigError(f"{config}: smoothing must lie in [0, 1], got {smoothing}")


def shown_options(weights: Sequence[float] | None, smoothing: float | None) -> list[tuple[str, object]]:
    """Both, as a loss is shown."""
    shape = None if weights is None else f"Tensor {{rank: 1, shape: [{len(weights)}]}}"
    share = None if smoothing is None else float(float_text(smoothing, single=True))
    return [("weights", shape), ("smoothing", share)]
