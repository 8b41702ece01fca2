"""A checkpoint of another format with the face of a burnpack's reader, for the commands that look at files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from burnpy.errors import CheckpointError, Error
from burnpy.pack import Scalar
from burnpy.store.checkpoint import Checkpoint
from burnpy.store.passport import Passport

if TYPE_CHECKING:
    from burnpy.pack import QuantScheme

__all__ = ["ForeignContainer", "ForeignInfo", "PlainValue"]


@dataclass(frozen=True)
class ForeignInfo:
    """What is known of one tensor."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    param_id: int | None
    nbytes: int
    offsets: tuple[int, int] | None
    scheme: QuantScheme | None = None


@dataclass(frozen=True)
class PlainValue:
    """A value out of a pickle that is no number."""

    value: Any

    @property
    def kind(self) -> str:
        """Python's name of its type."""
        return type(self.value).__name__


class ForeignContainer:
    """An open checkpoint. What burnpy has put into its texts (scalars, ids, true dtypes) stands where it belongs."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._passport, self._metadata = Passport.split(checkpoint.metadata())

    @property
    def path(self) -> str:
        """The file, or the URL."""
        return self._checkpoint.path

    @property
    def format(self) -> str:
        """What it is."""
        return self._checkpoint.format

    def keys(self) -> list[str]:
        """Names in data order."""
        return self._checkpoint.keys()

    def view(self, name: str) -> Any:
        """A lazy tensor."""
        return self._checkpoint[name]

    def info(self, name: str) -> ForeignInfo:
        """What is known of a tensor."""
        info = self._checkpoint.info(name)
        param_id = self._passport.param_ids.get(name, info.param_id)
        dtype = self._passport.dtypes.get(name, info.dtype)
        return ForeignInfo(name, dtype, info.shape, param_id, info.nbytes, info.data_offsets, info.scheme)

    def metadata(self) -> dict[str, str]:
        """Texts."""
        return self._metadata

    def scalars(self) -> dict[str, Scalar | PlainValue]:
        """Numbers and flags with their kinds, and whatever else is no tensor."""
        values = {name: _scalar(value) for name, value in self._checkpoint.typed_scalars().items()}
        return {**self._passport.scalars, **values}

    def skipped(self) -> list[tuple[str, str]]:
        """Name and kind of what was not built."""
        return [(skipped.name, skipped.kind) for skipped in self._checkpoint.skipped()]

    def ties(self) -> list[list[str]]:
        """Groups of names that are one tensor."""
        return self._checkpoint.ties()

    def problems(self) -> Iterator[Error | CheckpointError]:
        """What is wrong with tensors, told when each of them is read."""
        for name in self._checkpoint:
            try:
                self._checkpoint[name].numpy()
            except (CheckpointError, Error) as error:
                yield error

    def close(self) -> None:
        """Let the file go."""
        self._checkpoint.close()

    def __contains__(self, name: object) -> bool:
        return name in self._checkpoint


def _scalar(value: Any) -> Scalar | PlainValue:
    if isinstance(value, Scalar):
        return value
    try:
        return Scalar(value)
    except (TypeError, ValueError, OverflowError):
        return PlainValue(value)
