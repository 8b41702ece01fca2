"""Stores of obstore: S3, Google Cloud Storage, Azure, HTTP, memory."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from burnpy.errors import StorageError
from burnpy.storage.engine import missing
from burnpy.storage.storage import Piece, Stat, Upload
from burnpy.storage.upload import Streamed

if TYPE_CHECKING:
    from burnpy.storage.storage import Storage

__all__ = ["ObstoreStorage", "open_url"]

_STATUS = re.compile(r"(?:status(?: code)?:?|HTTP status \w+ error|non-2xx status code:?)\D{0,4}(\d{3})")
# What a server says of itself and of its load, not of the request.
_TRANSIENT = frozenset((408, 425, 429))
_WRITE_RETRIES = 6
_TIMEOUT = "120s"


class ObstoreStorage:
    """A store of obstore.

    A read asks for the version that was opened (``If-Match``) and learns the version of the answer; an upload is sent
    in parts that become one object at the end. A store that is handed in keeps its own retries, which come first.

    Args:
        store: a store of ``obstore.store``.
        writer: the store to write through, by default the same.
        base: the URL of the store's root, for messages.

    Example:
        >>> from obstore.store import MemoryStore
        >>> from burnpy.storage import at
        >>> place = at(MemoryStore(), "a/b.bpk")
        >>> place.exists()
        False
    """

    def __init__(self, store: Any, *, writer: Any = None, base: str | None = None) -> None:
        self._store, self._writer = store, writer or store
        self._base = base if base is not None else f"{type(store).__name__}:"

    def url(self, key: str) -> str:
        """The root and the key."""
        return f"{self._base}/{key}"

    def stat(self, key: str) -> Stat:
        """One HEAD."""
        try:
            return _stat_of(self._store.head(key))
        except Exception as error:
            raise self._fault(error, key) from error

    def begin(self, key: str, length: int) -> Piece:
        """One GET, whose answer tells everything."""
        try:
            return self.read(key, 0, length)
        except StorageError:
            # An object without a byte has no range that a store could answer with.
            stat = self.stat(key)
            if stat.size == 0:
                return Piece(b"", stat)
            raise

    def read(self, key: str, start: int, stop: int, *, etag: str | None = None) -> Piece:
        """One GET."""
        options: dict[str, Any] = {"range": (start, stop)}
        if etag is not None and not etag.startswith(("W/", "modified ")):
            # A weak tag never matches (RFC 9110, 8.8.3.2); the answer's own is compared all the same.
            options["if_match"] = etag
        try:
            result = self._store.get(key, options=options)
            return Piece(result.bytes(), _stat_of(result.meta))
        except Exception as error:
            raise self._fault(error, key, start, stop) from error

    def create(self, key: str, *, part_bytes: int) -> Upload:
        """A multipart upload."""

        def send(parts: Iterator[bytes]) -> None:
            try:
                self._writer.put(key, parts, chunk_size=part_bytes, max_concurrency=4)
            except Exception as error:
                raise self._fault(error, key) from error

        def exists() -> bool:
            try:
                self.stat(key)
            except FileNotFoundError:
                return False
            return True

        return Streamed(send, self.url(key), exists)

    def list(self, prefix: str) -> Iterator[Stat]:
        """One LIST for each thousand."""
        folder = prefix.rpartition("/")[0]
        try:
            for chunk in self._store.list(folder or None):
                for meta in chunk:
                    if meta["path"].startswith(prefix):
                        yield _stat_of(meta)
        except Exception as error:
            raise self._fault(error, prefix) from error

    def delete(self, key: str) -> None:
        """One DELETE."""
        try:
            self._writer.delete(key)
        except FileNotFoundError:
            return
        except Exception as error:
            fault = self._fault(error, key)
            if not isinstance(fault, FileNotFoundError):
                raise fault from error

    def local_path(self, key: str) -> str | None:
        """None."""
        return None

    def _fault(
        self, error: Exception, key: str, start: int | None = None, stop: int | None = None
    ) -> Exception:
        from obstore import exceptions

        url, name = self.url(key), type(error).__name__
        text = str(error).partition("\n\nDebug source")[0].strip()
        span = "" if start is None else f": bytes {start} to {stop}"
        found = _STATUS.search(str(error))
        status = int(found[1]) if found else None
        if status == 404 or name == "NotFoundError" or isinstance(error, FileNotFoundError):
            return FileNotFoundError(errno.ENOENT, "no such object (status 404)", url)
        if status in (401, 403) or isinstance(
            error, exceptions.PermissionDeniedError | exceptions.UnauthenticatedError
        ):
            return PermissionError(errno.EACCES, f"access was refused (status {status or 403}){span}", url)
        fields: dict[str, Any] = {"url": url, "start": start, "stop": stop, "errno": errno.EIO}
        if isinstance(error, exceptions.PreconditionError):
            what = "the object has changed since it was opened (status 412)"
            return StorageError(f"{url}{span}: {what}", status=412, **fields)
        if not isinstance(error, exceptions.BaseError):
            return error
        transient = status in _TRANSIENT or status is None or status >= 500
        transient = transient and name in ("GenericError", "JoinError")
        told = f" (status {status})" if status is not None else ""
        return StorageError(f"{url}{span}: {text}{told}", status=status, transient=transient, **fields)


def _stat_of(meta: Mapping[str, Any]) -> Stat:
    etag = meta.get("e_tag") or (f"modified {meta['last_modified']}" if meta.get("last_modified") else None)
    return Stat(meta["path"], meta["size"], etag)


def _endpoint(keywords: Mapping[str, Any]) -> str:
    """Where the caller or the environment say that the store is."""
    names = ("endpoint", "endpoint_url", "aws_endpoint", "aws_endpoint_url")
    told = [keywords.get(name) for name in names]
    told += [os.environ.get(name) for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT")]
    return next((str(found) for found in told if found), "")


def open_url(url: str, options: Mapping[str, Any]) -> tuple[Storage, str]:
    """The store of a URL, and the key in it.

    Raises:
        ImportError: obstore is not installed.
    """
    try:
        from obstore import store
    except ImportError as error:
        raise missing("obstore", url) from error
    scheme, _, rest = url.partition("://")
    root, _, key = rest.partition("/")
    base, is_web = f"{scheme.lower()}://{root}", scheme.lower() in ("http", "https")
    # A web address is written with escapes; the names in a bucket are what they are.
    key = unquote(key) if is_web else key
    keywords = dict(options)
    client = {"timeout": _TIMEOUT, **keywords.pop("client_options", {})}
    if scheme.lower() == "http" or _endpoint(keywords).startswith("http://"):
        client.setdefault("allow_http", True)
    # Which keywords there are depends on the scheme.
    make: Any = store.from_url
    # Reads are repeated here, where truncated bodies count too; parts of an upload only the engine can send again.
    reader = make(base, client_options=client, retry_config={"max_retries": 0}, **keywords)
    writer = make(base, client_options=client, retry_config={"max_retries": _WRITE_RETRIES}, **keywords)
    return ObstoreStorage(reader, writer=writer, base=base), key
