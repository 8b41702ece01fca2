"""Size and hash of the files of a set: of those that are there, and of those on their way to a store."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnpy.train.checkpoint.checkpointer import beside, index_path, is_file

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from burnpy.storage import Location, Storage, Upload

__all__ = ["FingerprintingStorage", "fingerprint", "fingerprints"]


def fingerprint(path: Path | Location) -> dict[str, Any]:
    """Size and hash of a file; one of a store is read for it, into the store's cache if it has one."""
    if not isinstance(path, Path):
        from burnpy.storage.whole import local_copy

        with local_copy(path) as copy:
            return fingerprint(Path(copy))
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"size": file.tell(), "sha256": digest}


def fingerprints(path: Path | Location) -> dict[str, Any]:
    """:func:`fingerprint` of a part of a set; of its index, and of each file, where several ranks wrote it."""
    index = index_path(path)
    if not is_file(index):
        return fingerprint(path)
    text = index.read_text() if isinstance(index, Path) else bytes(index.read())
    names = sorted(set(json.loads(text)["weight_map"].values()))
    return fingerprint(index) | {"files": {name: fingerprint(beside(path, name)) for name in names}}


class FingerprintingStorage:
    """A storage that knows size and hash of what it was sent, so that nothing is read back for them.

    Args:
        storage: the store.

    Attributes:
        sent: by key.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.sent: dict[str, dict[str, Any]] = {}

    def create(self, key: str, *, part_bytes: int) -> Upload:
        """An upload that is told of in ``sent`` when it is visible."""
        return _Fingerprinting(self, key, self._storage.create(key, part_bytes=part_bytes))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._storage, name)


class _Fingerprinting:
    def __init__(self, storage: FingerprintingStorage, key: str, upload: Upload) -> None:
        self._storage, self._key, self._upload = storage, key, upload
        self._size, self._digest = 0, hashlib.sha256()

    def write(self, data: Any, /) -> int:
        self._size += memoryview(data).nbytes
        self._digest.update(data)
        return self._upload.write(data)

    def commit(self, overwrite: bool = True) -> None:
        self._upload.commit(overwrite)
        self._storage.sent[self._key] = {"size": self._size, "sha256": self._digest.hexdigest()}

    def abort(self) -> None:
        self._upload.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._upload.__exit__(kind, error, trace)
