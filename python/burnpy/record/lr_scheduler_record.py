"""``LrSchedulerRecord``: the state of a learning-rate scheduler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self, TypeVar

from burnpy.pack import Scalar, ScalarConversionError
from burnpy.record.record import Record
from burnpy.record.state import RecordState, StateSink, StateSource, join_path
from burnpy.record.told import tell

if TYPE_CHECKING:
    from burnpy.pack import Reader
    from burnpy.pack import Tensor as PackTensor

__all__ = ["LrSchedulerRecord"]

S = TypeVar("S", bound=RecordState)


class LrSchedulerRecord(Record):
    """Scalars by name: how far a scheduler has got. What it is configured with is not part of it.

    Schedulers read what they know of it and keep their state where something is missing, as in Burn;
    :meth:`warn_of_unread` tells afterwards what that left over.

    Example:
        >>> record = LrSchedulerRecord().with_record("0", LrSchedulerRecord().with_scalar("step", 3))
        >>> record.scalars(), record.record("0").scalar("step", "u64"), record.scalar("step", "u64")
        ({'0.step': Scalar(3, 'UInt')}, 3, None)

    Source: Burn ``LrSchedulerRecord``.
    """

    def __init__(self, scalars: Mapping[str, Scalar | bool | int | float] | None = None) -> None:
        self._scalars: dict[str, Scalar] = {}
        # Shared with the parts of this record: full names that were read, and prefixes of states that were not there.
        self._prefix = ""
        self._read_names: set[str] = set()
        self._failed: list[str] = []
        for key, value in (scalars or {}).items():
            self.with_scalar(key, value)

    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return not self._scalars

    def __len__(self) -> int:
        return len(self._scalars)

    def scalars(self) -> dict[str, Scalar]:
        """All of it."""
        return dict(self._scalars)

    def with_scalar(self, key: str, value: Scalar | bool | int | float) -> Self:
        """Hold one more scalar; returns the record. The kind of a plain number is that of ``burnpy.pack.Scalar``.

        Raises:
            TypeError: the key is no text.
        """
        if not isinstance(key, str):
            raise TypeError(f"key must be a text, got {key!r}")
        self._scalars[key] = value if isinstance(value, Scalar) else Scalar(value)
        return self

    def scalar(self, key: str, wanted: str | None = None) -> bool | int | float | None:
        """The value of a scalar, or ``None`` if it is missing or does not fit ``wanted``, as ``"u64"`` or ``"i32"``."""
        self._read_names.add(join_path(self._prefix, key))
        found = self._scalars.get(key)
        if found is None or wanted is None:
            return found if found is None else found.value
        try:
            return found.to(wanted)
        except ScalarConversionError:
            return None

    def with_record(self, prefix: str, child: LrSchedulerRecord) -> Self:
        """Hold all of another record under a prefix; returns the record."""
        for key, scalar in child._scalars.items():
            self.with_scalar(join_path(prefix, key), scalar)
        return self

    def record(self, prefix: str) -> LrSchedulerRecord:
        """What lies under a prefix, which ends at a dot: ``"1"`` has no part in ``10.step``."""
        start = f"{prefix}."
        child = LrSchedulerRecord(
            {key.removeprefix(start): value for key, value in self._scalars.items() if key.startswith(start)}
        )
        child._prefix = join_path(self._prefix, prefix)
        child._read_names, child._failed = self._read_names, self._failed
        return child

    @classmethod
    def from_state(cls, state: RecordState) -> Self:
        """The record of a state of scalars alone.

        Raises:
            ValueError: the state has tensors.
        """
        sink = StateSink()
        state.state_flatten("", sink)
        if sink.tensors:
            raise ValueError(f"the state of a scheduler has no tensors, got {', '.join(sink.tensors)}")
        return cls(sink.scalars)

    def into_state(self, cls: type[S]) -> S | None:
        """The state of a type, or ``None`` if something of it is missing or does not fit."""
        source = StateSource(self._scalars)
        state = cls.state_unflatten("", source)
        self._read_names |= {
            join_path(self._prefix, name) for name in set(self._scalars) - {*source.unread()}
        }
        if state is None:
            self._failed.append(f"{self._prefix or 'the state'} ({cls.__name__})")
        return state

    def warn_of_unread(self, *, strict: bool = False) -> None:
        """Tell what nobody has read since the last time, and which states were not there: the end of a load.

        Args:
            strict: raise instead of warning.

        Raises:
            RecordValidationError: there is something to tell, and ``strict``.
        """
        unread = sorted(
            name for name in (join_path(self._prefix, key) for key in self._scalars)
            if name not in self._read_names
        )  # fmt: skip
        found = {"not restored": list(self._failed), "unused": unread}
        self._read_names.clear()
        self._failed.clear()
        tell("scheduler", found, strict=strict)

    def clone(self) -> Self:
        """Another record of the same scalars."""
        return type(self)(self._scalars)

    def _content(self) -> tuple[Sequence[PackTensor], Mapping[str, str], Mapping[str, Scalar]]:
        return [], {}, self._scalars

    @classmethod
    def _read(cls, reader: Reader) -> Self:
        return cls(reader.scalars())

    def __repr__(self) -> str:
        return f"LrSchedulerRecord({self._scalars})"
