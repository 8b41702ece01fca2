"""``PytorchReader``: what is in a file of ``torch.save``, without torch and without running anything in it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeVar, overload

from burnpy import _core
from burnpy.errors import CheckpointError, PickleError, PytorchError
from burnpy.store.layout import Chosen, choose, find_layout
from burnpy.store.plain_config import config_of
from burnpy.store.pytorch import PytorchArchive
from burnpy.store.remote import kept_with_its_copy, path_or_place
from burnpy.store.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from typing import Self

    from burnpy._typing import Place

__all__ = ["PytorchMetadata", "PytorchReader", "Unsupported"]

T = TypeVar("T")

_FORMATS = {
    "pytorch zip": "Zip",
    "pytorch legacy": "Legacy",
    "pytorch tar": "Tar",
    "pickle": "Pickle",
}
_KINDS = {
    "malformed pickle": "Pickle",
    "unsafe global": "Pickle",
    "over limit": "Pickle",
    "malformed archive": "Zip",
    "missing key": "KeyNotFound",
}


@dataclass(frozen=True)
class Unsupported:
    """What a pickle holds that is no plain data: only the name of its type is kept.

    Attributes:
        type_name: module and name: ``"torch.Tensor"``, ``"argparse.Namespace"``.
    """

    type_name: str


@dataclass(frozen=True)
class PytorchMetadata:
    """What a checkpoint says of itself.

    Attributes:
        format_version: of the zip, or ``None``.
        format_type: ``"Zip"``, ``"Tar"``, ``"Legacy"`` or ``"Pickle"``.
        byte_order: ``"LittleEndian"`` or ``"BigEndian"``; tensors are read right either way.
        has_storage_alignment: whether the archive tells an alignment.
        pytorch_version: what the archive calls its version, which is not PyTorch's.
        tensor_count: number of tensors.
        total_data_size: bytes of all storages, or ``None`` for a plain pickle.
    """

    format_version: str | None
    format_type: str
    byte_order: str
    has_storage_alignment: bool
    pytorch_version: str | None
    tensor_count: int
    total_data_size: int | None

    def is_modern_format(self) -> bool:
        """Whether it is a zip archive: PyTorch 1.6 and later."""
        return self.format_type == "Zip"

    def is_legacy_format(self) -> bool:
        """Whether it is a stream of pickles: PyTorch 0.1.10 to 1.5."""
        return self.format_type == "Legacy"


class PytorchReader:
    """The tensors of a PyTorch checkpoint, by name.

    Args:
        path: the file, or a URL or place of ``burnpy.storage.at``: that is copied first.
        top_level_key: show only what is below this key of the root, without it in the names; ``"auto"`` finds the
            model in a training script's checkpoint.

    Raises:
        PytorchError: the file is no checkpoint, or a damaged one; ``kind`` says which, and the ``__cause__`` how.
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
    """

    def __init__(self, path: Place, top_level_key: str | None = None) -> None:
        with _told():
            self._start(_archive_at(path), top_level_key)

    @classmethod
    def with_top_level_key(cls, path: Place, key: str) -> Self:
        """A reader of what is below one key."""
        return cls(path, key)

    @classmethod
    def from_bytes(cls, data: Any, top_level_key: str | None = None) -> Self:
        """A reader of a checkpoint in memory, which is shared and must not change."""
        reader = cls.__new__(cls)
        with _told():
            reader._start(PytorchArchive.from_bytes(data), top_level_key)
        return reader

    @classmethod
    def from_reader(cls, readable: IO[bytes], top_level_key: str | None = None) -> Self:
        """A reader of all that a file object gives. Unlike Burn, in any container."""
        return cls.from_bytes(readable.read(), top_level_key)

    def _start(self, archive: PytorchArchive, key: str | None) -> None:
        self._archive = archive
        self.chosen: Chosen | None = None
        if key is not None:
            self.chosen = find_layout(archive) if key == "auto" else choose(archive, key)
        self._names = {name: name for name in archive.keys()} if self.chosen is None else self.chosen.names  # noqa: SIM118

    def keys(self) -> list[str]:
        """Names, in the order of the pickle."""
        return list(self._names)

    def get(self, name: str) -> TensorSnapshot | None:
        """A lazy tensor."""
        return self._snapshot(name) if name in self._names else None

    def tensors(self) -> list[TensorSnapshot]:
        """All lazy tensors."""
        return [self._snapshot(name) for name in self._names]

    def into_tensors(self) -> list[TensorSnapshot]:
        """As ``tensors``: nothing in Python is used up by being read."""
        return self.tensors()

    def is_empty(self) -> bool:
        """Whether there is no tensor."""
        return not self._names

    def metadata(self) -> PytorchMetadata:
        """What the checkpoint says of itself."""
        info = _core.archive_info(self._archive.file)
        return PytorchMetadata(
            format_version=info["format_version"],
            format_type=_FORMATS[self._archive.format],
            byte_order="BigEndian" if info["big_endian"] else "LittleEndian",
            has_storage_alignment=info["storage_alignment"] is not None,
            pytorch_version=info["version"],
            tensor_count=len(self),
            total_data_size=info["data_size"],
        )

    def close(self) -> None:
        """Let the file go; lazy tensors made of it are of no use afterwards."""
        self._archive.close()

    @staticmethod
    def read_pickle_data(path: Place, top_level_key: str | None = None) -> Any:
        """Everything that is plain data: numbers, texts, bytes, lists (tuples and sets too), dicts.

        What is none, tensors too, is an ``Unsupported`` with the name of its type. Nothing is executed.

        Raises:
            PytorchError: ``KeyNotFound`` for a key that is not there, ``InvalidFormat`` where the root is no dict.
        """
        with _told():
            archive = _archive_at(path)
        try:
            return _core.pickle_data(archive.file, Unsupported, top_level_key)
        except KeyError as error:
            message = f"{path_or_place(path)}: there is no key {top_level_key!r}"
            raise PytorchError(message, kind="KeyNotFound") from error
        except TypeError as error:
            message = f"{path_or_place(path)}: the root is no dictionary, found {error}"
            raise PytorchError(message, kind="InvalidFormat") from error
        finally:
            archive.close()

    @overload
    @staticmethod
    def load_config(path: Place, top_level_key: str | None = None) -> Any: ...
    @overload
    @staticmethod
    def load_config(path: Place, top_level_key: str | None, cls: type[T]) -> T: ...
    @staticmethod
    def load_config(path: Place, top_level_key: str | None = None, cls: Any = None) -> Any:
        """A configuration out of a checkpoint: plain objects, or an object of a dataclass.

        A dataclass needs all of its fields that have no default; what it does not have is left out.

        Raises:
            PytorchError: as ``read_pickle_data``; ``Serde`` for a field that is missing or of another type.
        """
        data = PytorchReader.read_pickle_data(path, top_level_key)
        return data if cls is None else config_of(cls, data)

    def _snapshot(self, name: str) -> TensorSnapshot:
        return TensorSnapshot.from_view(self.view(name), name=name)

    def view(self, name: str, /) -> Any:
        """A lazy view, as ``burnpy.open`` gives it."""
        return self._archive.view(self._names[name], name)

    def texts(self) -> dict[str, str]:
        """The strings in the pickle, by full name."""
        return self._archive.metadata()

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{len(self)} tensors of {self._archive.path}>"


def _archive_at(path: Place) -> PytorchArchive:
    place = path_or_place(path)
    if isinstance(place, str):
        return PytorchArchive(os.path.abspath(place))
    return kept_with_its_copy(place, PytorchArchive)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except CheckpointError as error:
        kind = _KINDS.get(error.kind, "InvalidFormat")
        make = PickleError if kind == "Pickle" else PytorchError
        raise make(str(error), kind=kind) from error
