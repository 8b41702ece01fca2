"""A model in several files: shards of at most so many bytes, and an index that says which tensor is where."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from burnpy import _core
from burnpy._places import is_remote, place_of
from burnpy.errors import TensorNotFound, ValidationError
from burnpy.pack import AtomicFile

if TYPE_CHECKING:
    from burnpy._core import Reader, TensorInfo, View
    from burnpy._typing import Backend, PathLike, Place
    from burnpy.errors import Error
    from burnpy.pack import Limits, Scalar
    from burnpy.storage.location import Location
    from burnpy.storage.storage import Upload

__all__ = ["ShardedReader", "save_sharded"]

_UNITS = {
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}


@overload
def save_sharded(
    tensors: Mapping[str, Any],
    folder: os.PathLike[str],
    max_shard_bytes: int | str = "5GB",
    *,
    metadata: Mapping[str, str] | None = None,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    name: str = "model",
    durable: bool = False,
    limits: Limits | None = None,
) -> Path: ...
@overload
def save_sharded(
    tensors: Mapping[str, Any],
    folder: Place,
    max_shard_bytes: int | str = "5GB",
    *,
    metadata: Mapping[str, str] | None = None,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    name: str = "model",
    durable: bool = False,
    limits: Limits | None = None,
) -> Path | Location: ...
def save_sharded(
    tensors: Mapping[str, Any],
    folder: Place,
    max_shard_bytes: int | str = "5GB",
    *,
    metadata: Mapping[str, str] | None = None,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    name: str = "model",
    durable: bool = False,
    limits: Limits | None = None,
) -> Path | Location:
    """Write tensors to several files and return the path of their index, which ``safe_open`` opens as one mapping.

    The files are ``model-00001-of-00003.bpk`` …, filled in the order of the mapping, and ``model.bpk.index.json``.
    All of them are written beside their places first, and put in place together, the index last; an error before that
    leaves an older set as it was. Shards of an older set that the new index does not name are deleted at the end.

    Args:
        tensors: names to NumPy, torch or jax arrays, ``burnpy.pack.Tensor`` (deferred ones too) or lazy views.
        folder: is made if it is not there; or a URL, to which the files are sent as they are drawn.
        max_shard_bytes: the most payload of a file, a number or a text like ``"500MB"`` or ``"2GiB"``; a tensor that is
            larger gets a file of its own.
        metadata: texts by key, kept in the first file.
        scalars: numbers and flags by name, kept in the first file.
        param_ids: ids of parameters by tensor name.
        name: the first part of the files' names.
        durable: wait until the disk has the files.
        limits: what a single file may not exceed.

    Raises:
        DTypeError, ValidationError, IoError: as ``burnpy.numpy.save_file``.
        ValueError: ``name`` is no part of a file's name, or ``max_shard_bytes`` no size.

    Example:
        >>> import numpy as np
        >>> layers = {f"layer{i}": np.ones(100, np.float32) for i in range(5)}
        >>> save_sharded(layers, "checkpoint", max_shard_bytes=800).name
        'model.bpk.index.json'
        >>> sorted(os.listdir("checkpoint"))[:2]
        ['model-00001-of-00003.bpk', 'model-00002-of-00003.bpk']
    """
    _check_arguments(tensors, param_ids, name)
    entries = {key: _entry(key, value) for key, value in tensors.items()}
    shards = fill_shards(entries, num_bytes(max_shard_bytes))
    files = shard_names(name, _core.EXTENSION, len(shards))
    index = index_json(dict(zip(files, shards, strict=True)))
    ids = _split_ids(param_ids or {}, shards)
    target = _target(folder, durable, limits)
    with ExitStack() as stack:
        staged: list[AtomicFile | Upload] = []
        for number, (file, shard) in enumerate(zip(files, shards, strict=True)):
            texts, numbers = (metadata, scalars) if number == 0 else (None, None)
            scratch: AtomicFile | Upload = target.stage(file, shard, texts, numbers, ids[number])
            stack.enter_context(scratch)
            staged.append(scratch)
        last = target.create(index_name(name))
        stack.enter_context(last)
        last.write(index)
        for scratch in [*staged, last]:
            scratch.commit()
    target.delete_others(name, files)
    return target.place(index_name(name))


def _target(folder: Place, durable: bool, limits: Limits | None) -> _Folder | _RemoteFolder:
    place = place_of(folder)
    return _RemoteFolder(place, limits) if is_remote(place) else _Folder(Path(place), durable, limits)


class _Folder:
    """A folder that a set is written to."""

    def __init__(self, folder: Path, durable: bool, limits: Limits | None) -> None:
        self._folder, self._durable, self._limits = folder, durable, limits
        folder.mkdir(parents=True, exist_ok=True)

    def place(self, file: str) -> Path:
        return self._folder / file

    def create(self, file: str) -> AtomicFile:
        return AtomicFile(self._folder / file, durable=self._durable)

    def stage(
        self,
        file: str,
        tensors: Mapping[str, Any],
        metadata: Mapping[str, str] | None,
        scalars: Mapping[str, Any] | None,
        param_ids: Mapping[str, int],
    ) -> AtomicFile:
        return _core.stage_file(
            tensors,
            self._folder / file,
            metadata,
            scalars=scalars,
            param_ids=param_ids,
            durable=self._durable,
            limits=self._limits,
        )

    def delete_others(self, name: str, files: Iterable[str]) -> None:
        delete_others(self._folder, name, _core.EXTENSION, files)


class _RemoteFolder:
    """The same in a store."""

    def __init__(self, folder: Location, limits: Limits | None) -> None:
        self._folder, self._limits = folder, limits

    def place(self, file: str) -> Location:
        return self._folder.child(file)

    def create(self, file: str) -> Upload:
        return self._folder.child(file).create()

    def stage(
        self,
        file: str,
        tensors: Mapping[str, Any],
        metadata: Mapping[str, str] | None,
        scalars: Mapping[str, Any] | None,
        param_ids: Mapping[str, int],
    ) -> Upload:
        from burnpy.storage.whole import stage

        writer = _core.plan_file(tensors, metadata, scalars=scalars, param_ids=param_ids, limits=self._limits)
        return stage(writer, self._folder.child(file))

    def delete_others(self, name: str, files: Iterable[str]) -> None:
        kept = set(files)
        for old in list(self._folder.list()):
            file = old.key.rpartition("/")[2]
            if file not in kept and _is_shard(file, name, _core.EXTENSION):
                self._folder.child(file).delete()


def _check_arguments(tensors: object, param_ids: object, name: object) -> None:
    for what, mapping in (("tensors", tensors), ("param_ids", param_ids or {})):
        if not isinstance(mapping, Mapping):
            raise TypeError(f"{what} must be a mapping, got {type(mapping).__name__}")
        for key in mapping:
            if not isinstance(key, str):
                raise TypeError(f"keys of {what} must be str, got {type(key).__name__} {key!r}")
    if not _is_file_name(name):
        raise ValueError(f"name must be the first part of a file's name, got {name!r}")


def index_name(name: str) -> str:
    """The name of the index of a set of files."""
    return f"{name}.{_core.EXTENSION}.index.json"


def _entry(name: str, value: Any) -> Any:
    """What the core takes for a value of any framework."""
    match type(value).__module__.partition(".")[0]:
        case "torch":
            from burnpy.torch import entry_of

            return entry_of(name, value)
        case "jax" | "jaxlib":
            from burnpy.jax import entry_of as entry_of_jax

            return entry_of_jax(name, value)
    return value


def _nbytes(value: Any) -> int:
    size = value.byte_len() if isinstance(value, _core.TensorEntry) else getattr(value, "nbytes", 0)
    return int(size)


def num_bytes(size: int | str, argument: str = "max_shard_bytes") -> int:
    """The most bytes of a file: a number, or a text like ``"5GB"``.

    Raises:
        ValueError: it is neither, or less than 1.
    """
    number: float | str = size
    if isinstance(size, str):
        parts = re.fullmatch(r"\s*(\d{1,18}(?:\.\d+)?)\s*([KMGT]I?B)\s*", size.upper(), re.ASCII)
        number = int(float(parts[1]) * _UNITS[parts[2]]) if parts else size
    if not isinstance(number, int | float) or (isinstance(number, float) and not number.is_integer()):
        raise ValueError(f'{argument} must be a number or a text like "5GB" or "500MiB", got {size!r}')
    if number < 1:
        raise ValueError(f"{argument} must be at least 1, got {size}")
    return int(number)


def fill_shards(entries: Mapping[str, Any], max_bytes: int) -> list[dict[str, Any]]:
    """The entries of each file, in order; one that is larger than a file may be has a file of its own."""
    shards: list[dict[str, Any]] = [{}]
    filled = 0
    for key, value in entries.items():
        size = _nbytes(value)
        if shards[-1] and filled + size > max_bytes:
            shards.append({})
            filled = 0
        shards[-1][key] = value
        filled += size
    return shards


def shard_names(name: str, extension: str, count: int) -> list[str]:
    """The names of so many files."""
    return [f"{name}-{i:05}-of-{count:05}.{extension}" for i in range(1, count + 1)]


def index_json(shards: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The index of files by name, each with its entries."""
    total = sum(_nbytes(value) for shard in shards.values() for value in shard.values())
    weight_map = {key: file for file, shard in shards.items() for key in shard}
    index = {"metadata": {"total_size": total}, "weight_map": weight_map}
    return json.dumps(index, indent=2).encode() + b"\n"


def _split_ids(param_ids: Mapping[str, int], shards: Iterable[Mapping[str, Any]]) -> list[dict[str, int]]:
    parts = [{key: param_ids[key] for key in shard if key in param_ids} for shard in shards]
    unknown = set(param_ids).difference(*parts)
    if unknown:
        raise ValueError(f"param_ids names {min(unknown)!r}, but no tensor has this name")
    return parts


def delete_others(folder: PathLike, name: str, extension: str, files: Iterable[str]) -> None:
    """Delete the files of an older set that are not among the new ones."""
    try:
        there = os.listdir(folder)
    except PermissionError:
        return  # a folder that may be written and not looked into; the new set is whole without this
    for old in set(there).difference(files):
        if _is_shard(old, name, extension):
            Path(folder, old).unlink(missing_ok=True)


def _is_shard(file: str, name: str, extension: str) -> bool:
    return bool(re.fullmatch(rf"{re.escape(name)}-\d{{5}}-of-\d{{5}}\.{re.escape(extension)}", file))


class ShardedReader:
    """The readers of all files that an index names, as if they were one.

    Everything is opened and compared with the index at once, so that a set with a file missing or of another save is
    told at the start and not hours later.

    Args:
        filename: the index.
        backend: how the files are reached.
        strict: refuse what Burn's own writer would not have written.
        private: map the files so that they may be written to in memory.

    Raises:
        ValidationError: the index is none, leads out of its folder, or does not agree with the files.
    """

    def __init__(self, filename: Place, *, backend: Backend, strict: bool, private: bool) -> None:
        place = place_of(filename)
        self._path = str(place) if is_remote(place) else os.path.abspath(place)
        self._location: Location | None = place if is_remote(place) else None
        self._is_closed = False
        self._homes: dict[str, Reader] = {}
        weight_map = _read_index(self._path, self._location)
        with ExitStack() as stack:
            files = sorted(set(weight_map.values())) or self._only_file()
            opened = self._open_all(files, lambda file: self._open_shard(file, backend, strict, private))
            self._readers = [stack.enter_context(reader) for reader in opened]
            for file, reader in zip(files, self._readers, strict=True):
                self._homes.update(dict.fromkeys(_names_in(file, reader, weight_map, self._path), reader))
            stack.pop_all()

    def _only_file(self) -> list[str]:
        """The file of a set without tensors, which no tensor names; it has the metadata."""
        ending = index_name("")
        if not self._path.endswith(ending):
            return []
        name = os.path.basename(self._path).removesuffix(ending)
        files = shard_names(name, _core.EXTENSION, 1)
        if self._location is not None:
            return files if self._location.sibling(files[0]).exists() else []
        return files if os.path.exists(os.path.join(os.path.dirname(self._path), files[0])) else []

    def _open_all(self, files: Sequence[str], open_shard: Callable[[str], Reader]) -> Iterator[Reader]:
        """The readers one by one; over a network the answers of several files are waited for at once."""
        if self._location is None:
            yield from map(open_shard, files)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(self._location.transfer.max_requests) as pool:
            yield from pool.map(open_shard, files)

    def _open_shard(self, file: str, backend: Backend, strict: bool, private: bool) -> Reader:
        if self._location is not None:
            from burnpy.storage.whole import reader_at

            return reader_at(self._location.sibling(file), strict=strict)
        path = os.path.join(os.path.dirname(self._path), file)
        return _core.Reader._reopen(path, strict, None, backend, private)

    @property
    def path(self) -> Path:
        """The index."""
        return Path(self._path)

    def keys(self) -> list[str]:
        return list(self._open_homes())

    def view(self, name: str) -> View:
        return self._home(name).view(name)

    def info(self, name: str) -> TensorInfo:
        return self._home(name).info(name)

    def metadata(self) -> dict[str, str]:
        return _merged(reader.metadata() for reader in self._readers)

    def scalars(self) -> dict[str, Scalar]:
        return _merged(reader.scalars() for reader in self._readers)

    def problems(self) -> list[Error]:
        """Those of all the files."""
        return [problem for reader in self._readers for problem in reader.problems()]

    def _scalar_values(self) -> dict[str, bool | int | float]:
        return _merged(reader._scalar_values() for reader in self._readers)

    def _arrays(self, *, copy: bool) -> dict[str, Any]:
        return _merged(reader._arrays(copy=copy) for reader in self._readers)

    def _arrays_of(self, names: list[str]) -> dict[str, Any]:
        homes: dict[int, tuple[Reader, list[str]]] = {}
        for name in names:
            reader = self._home(name)
            homes.setdefault(id(reader), (reader, []))[1].append(name)
        found = _merged(reader._arrays_of(own) for reader, own in homes.values())
        return {name: found[name] for name in names}

    def _capsules(self, *, copy: bool) -> dict[str, Any]:
        return _merged(reader._capsules(copy=copy) for reader in self._readers)

    def close(self) -> None:
        self._is_closed = True
        for reader in self._readers:
            reader.close()

    def _open_homes(self) -> dict[str, Reader]:
        if self._is_closed:
            raise ValueError(f"{self._path}: the reader is closed")
        return self._homes

    def _home(self, name: str) -> Reader:
        homes = self._open_homes()
        try:
            return homes[name]
        except KeyError:
            near = _core.closest(name, list(homes))
            hint = f"; did you mean {near!r}?" if near is not None else ""
            raise TensorNotFound(
                f"{self._path}: no tensor is named {name!r}{hint}", path=self._path, tensor=name
            ) from None

    def __len__(self) -> int:
        return len(self._open_homes())

    def __contains__(self, name: object) -> bool:
        return name in self._open_homes()

    def __repr__(self) -> str:
        return f"<{len(self._homes)} tensors in {len(self._readers)} files of {self._path}>"


def _read_index(path: str, location: Location | None) -> dict[str, str]:
    """The index's map of tensors to files, none of which leads out of the index's folder."""
    try:
        data = Path(path).read_bytes() if location is None else bytes(location.read())
        weight_map = json.loads(data)["weight_map"]
        named = dict(weight_map.items())
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValidationError(f"{path}: not an index of a sharded model: {error}", path=path) from error
    for name, file_name in named.items():
        if not _is_file_name(file_name):
            raise ValidationError(
                f"{path}: tensor {name!r} is said to be in {file_name!r}, which is no file name",
                path=path,
                tensor=name,
            )
    return named


def _is_file_name(name: object) -> bool:
    return isinstance(name, str) and name not in ("", ".", "..") and os.path.basename(name) == name


def _names_in(file: str, reader: Reader, weight_map: Mapping[str, str], index: str) -> list[str]:
    """The names in a shard, which are those that the index promises."""
    names = reader.keys()
    promised = {name for name, home in weight_map.items() if home == file}
    differing = promised.symmetric_difference(names)
    if differing:
        name = min(differing)
        where = "the index, but not the file" if name in promised else "the file, but not the index"
        raise ValidationError(
            f"{index}: tensor {name!r} of {file} is in {where}: are they of the same save?",
            path=index,
            tensor=name,
        )
    return names


def _merged(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for part in parts:
        # The first file's metadata counts: that is where `save_sharded` puts it.
        for name, value in part.items():
            merged.setdefault(name, value)
    return merged
