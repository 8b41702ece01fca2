"""Where bytes come from and go to: files, file objects, URLs, object stores.

Everything that takes a path takes a URL as well, and what ``at`` makes of one.

Example:
    >>> import burnpy, numpy as np
    >>> from burnpy.numpy import load_file, save_file
    >>> save_file({"w": np.arange(3.0)}, "memory://models/a.bpk")
    >>> load_file("memory://models/a.bpk")
    {'w': array([0., 1., 2.])}
    >>> quick = burnpy.storage.at("memory://models/a.bpk", transfer=burnpy.storage.Transfer(max_requests=16))
    >>> with burnpy.open(quick) as model:
    ...     model["w"][1:].tolist()
    [1.0, 2.0]
"""

from __future__ import annotations

from burnpy.errors import StorageError
from burnpy.storage.cache import Cache
from burnpy.storage.file_object import FileObjectStorage
from burnpy.storage.fsspec_storage import FsspecStorage
from burnpy.storage.local import LocalStorage
from burnpy.storage.location import Location, at
from burnpy.storage.obstore_storage import ObstoreStorage
from burnpy.storage.remote_file import RemoteFile
from burnpy.storage.storage import Piece, Stat, Storage, Upload
from burnpy.storage.transfer import Transfer

__all__ = [
    "Cache",
    "FileObjectStorage",
    "FsspecStorage",
    "LocalStorage",
    "Location",
    "ObstoreStorage",
    "Piece",
    "RemoteFile",
    "Stat",
    "Storage",
    "StorageError",
    "Transfer",
    "Upload",
    "at",
]
