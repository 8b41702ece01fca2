"""Which package serves a URL."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from burnpy.storage.storage import Storage

__all__ = ["missing", "storage_of_url"]

_OBSTORE = frozenset(("s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "http", "https"))
_ENGINES = ("auto", "obstore", "fsspec")


def storage_of_url(url: str, options: Mapping[str, Any], engine: str) -> tuple[Storage, str]:
    """The storage of a URL, and the key in it.

    Raises:
        ImportError: neither package is installed, or not the one that was asked for.
        ValueError: the engine is none, or the URL has no scheme.
    """
    if engine not in _ENGINES:
        raise ValueError(f"engine must be one of {', '.join(_ENGINES)}, got {engine!r}")
    scheme = url.partition("://")[0].lower()
    if not scheme:
        raise ValueError(f"a URL must begin with a scheme, got {url!r}")
    if scheme in ("file", "local"):
        from burnpy.storage.local import LocalStorage

        return LocalStorage(), unquote(urlsplit(url).path)
    if engine == "auto":
        engine = "obstore" if _suits_obstore(url, scheme) else "fsspec"
    if engine == "obstore":
        from burnpy.storage.obstore_storage import open_url

        return open_url(url, options)
    from burnpy.storage.fsspec_storage import open_url as open_with_fsspec

    return open_with_fsspec(url, options)


def _suits_obstore(url: str, scheme: str) -> bool:
    # A query, as signed URLs have it, is lost on obstore, which builds its own address from the key.
    is_plain = scheme not in ("http", "https") or "?" not in url
    return scheme in _OBSTORE and is_plain and importlib.util.find_spec("obstore") is not None


def missing(package: str, what: str) -> ImportError:
    """What to say where an engine is not installed."""
    return ImportError(f"{what} needs {package}: pip install 'burnpy[remote]'", name=package)
