"""The folder of what a run leaves: on this machine, or elsewhere."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from burnpy._places import is_remote, place_of

if TYPE_CHECKING:
    from burnpy._typing import PathLike, Place
    from burnpy.storage import Location

__all__ = ["UNSENT", "ArtifactFolder"]

_LOG = logging.getLogger("burnpy.train")
_CHECKPOINT = "checkpoint"
UNSENT = "the logs could not be sent"
"""What an error says of them."""
_Version = tuple[int, int]


class ArtifactFolder:
    """The artifact folder of a run: a path, or a place elsewhere, whose logs are written into a folder here first.

    Of a path this does nothing at all. Of another place :meth:`opened` brings the logs that are there, so that they
    are gone on with, and :meth:`send` sends all files that have changed, but for those of ``checkpoint``, which are
    nobody's business here.

    Args:
        directory: a path, a URL, or a place of ``burnpy.storage.at``.
        local: of another place, the folder here; by default a temporary one, which is there as long as it is open, and
            stays if something of it could not be sent.

    Attributes:
        place: what was given.

    Raises:
        ValueError: ``local`` is given, and the folder is a path.

    Example:
        >>> folder = ArtifactFolder("memory://runs/1")
        >>> with folder.opened() as here:
        ...     _ = (here / "experiment.log").write_text("epoch 1")
        ...     folder.send()
        >>> list(folder.place.files())
        ['experiment.log']
    """

    def __init__(self, directory: Place, local: PathLike | None = None) -> None:
        place = place_of(directory)
        self.place: Path | Location = place if is_remote(place) else Path(place)
        if local is not None and isinstance(self.place, Path):
            raise ValueError(
                f"local_directory is for an artifact folder elsewhere, and {directory} is on this machine"
            )
        self._given = None if local is None else Path(os.fspath(local))
        self._local: Path | None = None
        self._sent: dict[str, _Version] = {}
        self._lock = threading.Lock()

    @property
    def checkpoint(self) -> Path | Location:
        """The folder of checkpoints."""
        return self.place / _CHECKPOINT if isinstance(self.place, Path) else self.place.child(_CHECKPOINT)

    @property
    def local(self) -> Path:
        """The folder here; of a temporary one, only while it is open."""
        found = self.place if isinstance(self.place, Path) else self._local or self._given
        assert found is not None, "opened first"
        return found

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """The folder here, with the logs that there are; they replace what is in a given one.

        Raises:
            OSError, StorageError: they cannot be had.
        """
        if isinstance(self.place, Path):
            yield self.place
            return
        local = self._local = self._given or Path(tempfile.mkdtemp(prefix="burnpy-run-"))
        self._sent.clear()
        keep = self._given is not None
        try:
            self._fetch(self.place, local)
            try:
                yield local
            finally:
                keep = keep or self._changed(local) != []
        finally:
            self._local = None
            if not keep:
                shutil.rmtree(local, ignore_errors=True)

    def _fetch(self, place: Location, local: Path) -> None:
        from burnpy.storage.whole import download

        def bring(name: str) -> None:
            path = local / name
            path.parent.mkdir(parents=True, exist_ok=True)
            download(place.child(name), str(path))
            self._sent[name] = _version(path)

        names = [name for name in place.files() if _is_log(name)]
        with ThreadPoolExecutor(place.transfer.max_requests, thread_name_prefix="burnpy-fetch") as pool:
            list(pool.map(bring, names))

    def send(self) -> None:
        """Send the files that have changed; may be called from several threads.

        Raises:
            OSError, StorageError: one could not be sent; the others are, and this one will be with the next call.
        """
        place = self.place
        if isinstance(place, Path):
            return
        with self._lock, ThreadPoolExecutor(place.transfer.max_requests, "burnpy-send") as pool:
            list(pool.map(self._send_one, self._changed(self.local)))

    def try_send(self) -> Exception | None:
        """:meth:`send`, at the end of all: what fails is returned, and a line tells where the files are."""
        try:
            self.send()
        except Exception as error:
            _LOG.warning("logs could not be sent to %s, and are left in %s", self.place, self.local)
            return error
        return None

    def _changed(self, local: Path) -> list[str]:
        paths = (path for path in sorted(local.rglob("*")) if path.is_file())
        names = (path.relative_to(local).as_posix() for path in paths)
        return [name for name in names if _is_log(name) and self._sent.get(name) != _version(local / name)]

    def _send_one(self, name: str) -> None:
        from burnpy.storage.whole import upload_file

        assert not isinstance(self.place, Path), "asked above"
        path = self.local / name
        # Of what is there before: a file that grows meanwhile is sent once more.
        version = _version(path)
        with upload_file(str(path), self.place.child(name)) as upload:
            upload.commit()
        self._sent[name] = version


def _is_log(name: str) -> bool:
    # A name with a point in front is that of a file on its way into place.
    return not name.startswith(f"{_CHECKPOINT}/") and not any(
        part.startswith(".") for part in name.split("/")
    )


def _version(path: Path) -> _Version:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns
