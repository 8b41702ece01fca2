"""Switches that a module carries beside its parameters."""

from __future__ import annotations

from burnpy.module.param_id import ParamId

__all__ = ["Flag"]


class Flag:
    """Whether a module behaves as in training: part of dropout, noise and batch normalisation.

    It has an id and a path, so that groups find it; it is on no device, not counted and never recorded, and a load
    keeps the target's. ``valid()`` disables it, ``train()`` gives it back the value it was configured with.

    Example:
        >>> flag = Flag(True)
        >>> flag.is_enabled(), str(flag)
        (True, 'enabled')

    Source: Burn ``module::Flag``.
    """

    __slots__ = ("_active", "_enabled", "id")

    def __init__(
        self, enabled: bool = True, *, id: ParamId | None = None, active: bool | None = None
    ) -> None:
        self.id = id or ParamId.new()
        self._enabled = enabled
        self._active = enabled if active is None else active

    def is_enabled(self) -> bool:
        """Whether it is on now."""
        return self._enabled

    @property
    def active(self) -> bool:
        """The configured value, which ``train()`` restores."""
        return self._active

    def with_value(self, enabled: bool) -> Flag:
        """The same flag, on or off, and so configured."""
        return Flag(enabled, id=self.id)

    def valid(self) -> Flag:
        """The same flag, off; what it was configured with is remembered."""
        return Flag(False, id=self.id, active=self._active)

    def train(self) -> Flag:
        """The same flag as it was configured."""
        return Flag(self._active, id=self.id)

    def __str__(self) -> str:
        return "enabled" if self._enabled else "disabled"

    def __repr__(self) -> str:
        return f"Flag({self._enabled})"
