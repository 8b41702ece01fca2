"""File systems of fsspec: memory, SFTP, HDFS, archives, and object stores by their own packages."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from burnpy.errors import AlreadyExists, StorageError
from burnpy.storage.engine import missing
from burnpy.storage.storage import Piece, Stat, Upload
from burnpy.storage.upload import Gathered

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from burnpy.storage.storage import Storage

__all__ = ["FsspecStorage", "open_url", "storage_of"]

# File systems whose files become visible at a commit of their own.
_STAGED = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "az"))
_VERSIONS = (
    "ETag",
    "etag",
    "e_tag",
    "generation",
    "md5Hash",
    "LastModified",
    "last_modified",
    "mtime",
    "created",
)
_TRANSIENT = frozenset((408, 425, 429))
_LEAST_PART = 5 << 20
_MORE = 16


class FsspecStorage:
    """A file system of fsspec.

    Its answers do not say of which version they are, so the version is asked for once more behind each call that read.

    Args:
        fs: an ``fsspec.AbstractFileSystem``.

    Example:
        >>> import fsspec
        >>> FsspecStorage(fsspec.filesystem("memory")).url("/a/b.bpk")
        'memory:///a/b.bpk'
    """

    def __init__(self, fs: Any) -> None:
        self._fs = fs

    def url(self, key: str) -> str:
        """The protocol and the key."""
        return str(self._fs.unstrip_protocol(key))

    def stat(self, key: str) -> Stat:
        """One request for the object's description, never answered from fsspec's memory of older ones."""
        try:
            self._fs.invalidate_cache(self._fs._parent(key))
            info = self._fs.info(key)
        except Exception as error:
            raise self._fault(error, key) from error
        if info.get("type") == "directory":
            raise IsADirectoryError(errno.EISDIR, "a folder, where a file is wanted", self.url(key))
        return _stat_of(key, info)

    def begin(self, key: str, length: int) -> Piece:
        """Two requests: the description, and the first bytes, more of them so that no third one is needed."""
        stat = self.stat(key)
        stop = min(stat.size, _MORE * length)
        return Piece(self.read(key, 0, stop).data if stop else b"", stat)

    def read(self, key: str, start: int, stop: int, *, etag: str | None = None) -> Piece:
        """One request for a range."""
        try:
            return Piece(self._fs.cat_file(key, start=start, end=stop))
        except Exception as error:
            raise self._fault(error, key, start, stop) from error

    def create(self, key: str, *, part_bytes: int) -> Upload:
        """An upload in parts where the file system has such, else one that is gathered and sent at once."""
        if _STAGED.isdisjoint(_protocols(self._fs)):
            return Gathered(lambda data: self._pipe(key, data), self.url(key), lambda: self._exists(key))
        return _Staged(self, key, part_bytes)

    def _pipe(self, key: str, data: bytes) -> None:
        try:
            self._fs.makedirs(self._fs._parent(key), exist_ok=True)
            self._fs.pipe_file(key, data)
        except Exception as error:
            raise self._fault(error, key) from error

    def _exists(self, key: str) -> bool:
        try:
            self.stat(key)
        except FileNotFoundError:
            return False
        return True

    def list(self, prefix: str) -> Iterator[Stat]:
        """All files of the folder that the prefix names or begins in."""
        folder = prefix.rpartition("/")[0]
        try:
            self._fs.invalidate_cache()
            found = self._fs.find(folder, detail=True)
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._fault(error, prefix) from error
        for key, info in sorted(found.items()):
            if key.startswith(self._fs._strip_protocol(folder)) and key.lstrip("/").startswith(
                prefix.lstrip("/")
            ):
                yield _stat_of(key, info)

    def delete(self, key: str) -> None:
        """Delete a file."""
        try:
            self._fs.rm_file(key)
        except FileNotFoundError:
            return
        except Exception as error:
            raise self._fault(error, key) from error

    def local_path(self, key: str) -> str | None:
        """None."""
        return None

    def _fault(
        self, error: Exception, key: str, start: int | None = None, stop: int | None = None
    ) -> Exception:
        url, status = self.url(key), _status_of(error)
        span = "" if start is None else f": bytes {start} to {stop}"
        if isinstance(error, FileNotFoundError) or status == 404:
            return FileNotFoundError(errno.ENOENT, "no such object", url)
        if isinstance(error, PermissionError) or status in (401, 403):
            return PermissionError(errno.EACCES, f"access was refused (status {status or 403}){span}", url)
        if isinstance(
            error, StorageError | IsADirectoryError | NotImplementedError | TypeError | AttributeError
        ):
            return error
        told = f" (status {status})" if status is not None else ""
        return StorageError(
            f"{url}{span}: {type(error).__name__}: {error}{told}",
            url=url,
            start=start,
            stop=stop,
            status=status,
            transient=status is None or status in _TRANSIENT or status >= 500,
            errno=getattr(error, "errno", None) or errno.EIO,
        )


class _Staged:
    """A file that fsspec writes in parts, and commits or discards when it is told to."""

    def __init__(self, storage: FsspecStorage, key: str, part_bytes: int) -> None:
        self._storage, self._key, self._is_done = storage, key, False
        size = max(part_bytes, _LEAST_PART)
        self._file: Any = self._told(lambda: storage._fs.open(key, "wb", block_size=size, autocommit=False))

    def _told(self, call: Any) -> Any:
        try:
            return call()
        except Exception as error:
            raise self._storage._fault(error, self._key) from error

    def write(self, data: Any, /) -> int:
        return int(self._told(lambda: self._file.write(data)))

    def commit(self, overwrite: bool = True) -> None:
        if not overwrite and self._storage._exists(self._key):
            self.abort()
            url = self._storage.url(self._key)
            raise AlreadyExists(f"{url}: something is there already, and overwriting is off", path=url)
        self._told(self._file.close)
        self._told(self._file.commit)
        self._is_done = True

    def abort(self) -> None:
        if self._is_done:
            return
        self._is_done = True
        self._file.discard()
        # What is left in the buffer is not to be sent when the object is collected.
        self._file.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()


def storage_of(fs: Any) -> Storage:
    """A file system of fsspec as a storage: the one of this machine is just files."""
    if "file" in _protocols(fs):
        from burnpy.storage.local import LocalStorage

        return LocalStorage()
    return FsspecStorage(fs)


def _protocols(fs: Any) -> set[str]:
    """Under which names fsspec knows a file system."""
    return {fs.protocol} if isinstance(fs.protocol, str) else set(fs.protocol)


def _stat_of(key: str, info: Mapping[str, Any]) -> Stat:
    version = next((f"{info[name]}" for name in _VERSIONS if info.get(name)), None)
    if info.get("size") is None:
        raise StorageError(f"{key}: the store does not tell the size, so ranges cannot be read", url=key)
    return Stat(key, int(info["size"]), version)


def _status_of(error: Exception) -> int | None:
    """The status of an HTTP answer, where one of the packages below fsspec put it."""
    response = getattr(error, "response", None)
    told = response.get("ResponseMetadata", {}).get("HTTPStatusCode") if isinstance(response, dict) else None
    # What aiohttp's parser raises has a code of its own, which no server sent; its answers have a status.
    code = None if type(error).__module__.startswith("aiohttp") else getattr(error, "code", None)
    for value in (getattr(error, "status", None), code, told):
        if isinstance(value, int) and 400 <= value < 600:
            return value
    return _status_of(error.__cause__) if isinstance(error.__cause__, Exception) else None


def open_url(url: str, options: Mapping[str, Any]) -> tuple[Storage, str]:
    """The file system of a URL, and the key in it.

    Raises:
        ImportError: fsspec, or what it needs for this protocol, is not installed.
        ValueError: no file system has this protocol.
    """
    try:
        import fsspec
    except ImportError as error:
        raise missing("fsspec", url) from error
    if url.lower().startswith("http") and "%" in url:
        # A signature is of the address as it is written; aiohttp would write it in its own way.
        options = {"encoded": True, **options}
    fs, key = fsspec.core.url_to_fs(url, **options)
    return storage_of(fs), str(key)
