"""What a run needs beside the three records to go on as if nothing had happened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from burnpy.errors import RecordValidationError
from burnpy.pack import Scalar, Tensor
from burnpy.record.entry import Entry
from burnpy.record.record import Record
from burnpy.record.state import StateSink, StateSource

if TYPE_CHECKING:
    from burnpy.pack import Reader

__all__ = ["TrainerRecord"]

_KEY = "burnpy.trainer"
_DIGEST = "burnpy.trainer.sha256"
_VERSION = 1


class TrainerRecord(Record):
    """The fourth file of a checkpoint, written last: it marks the set complete.

    Args:
        plain: what JSON can hold: epoch, iteration, random state, place in the data, sizes and hashes of the others.
        states: tensors and scalars of metrics.

    Raises:
        RecordValidationError: a file is no such record, damaged, or of a later version.

    Example:
        >>> record = TrainerRecord({"epoch": 3}, StateSink())
        >>> TrainerRecord.from_bytes(record.into_bytes()).plain
        {'epoch': 3}
    """

    def __init__(self, plain: Mapping[str, Any], states: StateSink | None = None) -> None:
        self.plain = dict(plain)
        self._states = states or StateSink()
        self._source: StateSource | None = None

    def source(self) -> StateSource:
        """The states, to be read from."""
        if self._source is not None:
            return self._source
        return StateSource(self._states.scalars, self._states.tensors)

    def _content(self) -> tuple[Sequence[Tensor], Mapping[str, str], Mapping[str, Scalar]]:
        tensors = [Entry(name, value, None).into_pack() for name, value in self._states.tensors.items()]
        text = json.dumps({"version": _VERSION, **self.plain}, allow_nan=True)
        # The file vouches for the other three of its set, and its container has no checksum.
        return tensors, {_KEY: text, _DIGEST: _digest(text)}, self._states.scalars

    @classmethod
    def _read(cls, reader: Reader) -> Self:
        text = reader.metadata().get(_KEY)
        if text is None:
            raise RecordValidationError(
                f"{reader.path or 'the record'} is no trainer file: no {_KEY!r} in it"
            )
        if reader.metadata().get(_DIGEST) != _digest(text):
            raise RecordValidationError(
                f"{reader.path or 'the record'} is damaged: its text is not that of its hash"
            )
        plain = json.loads(text)
        if plain.pop("version", None) != _VERSION:
            raise RecordValidationError(f"{reader.path or 'the record'} is a trainer file of another version")
        record = cls(plain)
        tensors = {name: Entry(name, reader.view(name), None).tensor for name in list(reader.keys())}
        record._source = StateSource(reader.scalars(), tensors)
        return record


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
