"""What a metric says after a batch or an epoch: a text to show, and one to write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from burnpy.train.metric.number_text import format_float, plain_float
from burnpy.train.metric.numeric_entry import NumericEntry

__all__ = ["FormatOptions", "NumericText", "SerializedEntry"]

_ABSENT = "N/A"


class FormatOptions:
    """How numbers of a metric are shown: its name, and by the methods its unit and decimals.

    Example:
        >>> options = FormatOptions("Accuracy").unit("%").precision(2)
        >>> options.line(59.0, 75.0)
        'epoch 59.00 % - batch 75.00 %'
    """

    __slots__ = ("_precision", "_unit", "name")

    def __init__(self, name: str, unit: str | None = None, precision: int | None = None) -> None:
        self.name = name
        self._unit = unit
        self._precision = precision

    def unit(self, unit: str) -> FormatOptions:
        """The same with a unit."""
        return FormatOptions(self.name, unit, self._precision)

    def precision(self, precision: int) -> FormatOptions:
        """The same with so many decimals; without, numbers are shown as they are written."""
        return FormatOptions(self.name, self._unit, precision)

    def line(self, running: float | None, current: float | None) -> str:
        """The text to show for the epoch so far and the last batch; ``None`` is what is not available."""
        unit = f" {self._unit}" if self._unit else ""
        return f"epoch {self._number(running)}{unit} - batch {self._number(current)}{unit}"

    def _number(self, value: float | None) -> str:
        if value is None:
            return _ABSENT
        return plain_float(value) if self._precision is None else format_float(value, self._precision)


class SerializedEntry:
    """A metric after a batch or an epoch: ``formatted`` to show, ``serialized`` to write.

    Example:
        >>> SerializedEntry.not_available("%").formatted, SerializedEntry("", "").is_not_available()
        ('epoch N/A % - batch N/A %', True)

    Source: Burn ``metric::SerializedEntry``.
    """

    __slots__ = ("_formatted", "_serialized")
    NOT_AVAILABLE: ClassVar[str] = _ABSENT

    def __init__(self, formatted: str, serialized: str) -> None:
        self._formatted = formatted
        self._serialized = serialized

    @classmethod
    def not_available(cls, unit: str | None = None) -> SerializedEntry:
        """That there is nothing to tell yet; never written to a file."""
        return SerializedEntry(FormatOptions("", unit).line(None, None), _ABSENT)

    @property
    def formatted(self) -> str:
        """The text to show."""
        return self._formatted

    @property
    def serialized(self) -> str:
        """The text to write, a line without its end."""
        return self._serialized

    def is_not_available(self) -> bool:
        """Whether there is nothing to write."""
        return self.serialized in ("", _ABSENT)

    @classmethod
    def lines(cls, entries: Sequence[SerializedEntry]) -> str:
        r"""The texts to write of entries of this class, each with the end of its line; without those of nothing.

        Example:
            >>> SerializedEntry.lines([SerializedEntry("", "0.5,1"), SerializedEntry("", "N/A")])
            '0.5,1\n'
        """
        return "".join([f"{entry.serialized}\n" for entry in entries if not entry.is_not_available()])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SerializedEntry):
            return NotImplemented
        return (self.formatted, self.serialized) == (other.formatted, other.serialized)

    def __hash__(self) -> int:
        return hash((self.formatted, self.serialized))

    def __repr__(self) -> str:
        return f"SerializedEntry({self.formatted!r}, {self.serialized!r})"


class NumericText(SerializedEntry):
    """The texts of a number, made when they are asked for: most batches are never shown.

    Example:
        >>> NumericText(FormatOptions("Loss").precision(2), 0.5, None, NumericEntry.Final(0.5)).formatted
        'epoch 0.50 - batch N/A'
    """

    __slots__ = ("_current", "_entry", "_options", "_running")

    def __init__(
        self, options: FormatOptions, running: float | None, current: float | None, entry: NumericEntry
    ) -> None:
        self._options = options
        self._running = running
        self._current = current
        self._entry = entry

    @property
    def formatted(self) -> str:
        """The text to show."""
        return self._options.line(self._running, self._current)

    @property
    def serialized(self) -> str:
        """The text to write."""
        return self._entry.serialize()
