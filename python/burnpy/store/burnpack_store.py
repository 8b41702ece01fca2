"""``BurnpackStore``: a module in a burnpack."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

from burnpy import _core
from burnpy.errors import IoError, ValidationError
from burnpy.pack import Reader, Scalar
from burnpy.storage.whole import reader_at, write_pack
from burnpy.store.module_store import (
    ModuleStore,
    Options,
    Source,
    invalid_text,
    missing_text,
    parts_of,
)
from burnpy.store.remote import path_or_place
from burnpy.store.snapshot import TensorSnapshot
from burnpy.store.target import Burnpack, refuse_existing

if TYPE_CHECKING:
    from typing import Self

    from burnpy._typing import Place
    from burnpy.storage.location import Location
    from burnpy.store.apply import ApplyResult

__all__ = ["BurnpackStore"]

# What the version of Burn whose files these are would write.
_DEFAULT_METADATA = {"format": "burnpack", "producer": "burn", "version": "0.22.1"}


class BurnpackOptions(Options, total=False):
    """The keywords of a ``BurnpackStore``."""

    metadata: Mapping[str, str] | None
    overwrite: bool
    auto_extension: bool
    durable: bool


class BurnpackStore(ModuleStore):
    """A module in a burnpack, in a file or in memory; ids of parameters are kept.

    Renaming is for loading alone, as in Burn. Unlike Burn, the options of the other stores are here too, and the
    file's metadata and scalars can be read.

    Args:
        filter: which tensors are loaded and saved; an empty one is nothing.
        remapper: new names when loading.
        from_adapter: changes tensors when loading.
        to_adapter: changes tensors when saving.
        metadata: texts beside the default ones.
        allow_partial: whether a module may have parameters that the file lacks.
        validate: whether tensors of wrong shape or kind are an error.
        skip_enum_variants: leave the names of enum variants out of paths.
        map_indices_contiguous: close the gaps in numbers when loading.
        map_indices_contiguous_except: patterns of prefixes whose numbers stay.
        overwrite: whether a file is replaced.
        auto_extension: whether a path without an extension gets ``.bpk``, for saving and loading.
        durable: whether a save waits until the disk has the file.

    Raises:
        Error: of ``burnpy.pack``, from every method.

    Example:
        >>> import numpy as np
        >>> store = BurnpackStore.from_file("model").with_key_remapping("^fc", "head")
        >>> store.save({"fc.weight": np.ones((2, 3), np.float32)})
        >>> store.keys(), store.get_tensor("head.weight").shape, store.file_metadata()["producer"]
        (['head.weight'], (2, 3), 'burn')
    """

    def __init__(
        self,
        path: Place | None = None,
        *,
        data: Any = None,
        metadata: Mapping[str, str] | None = None,
        overwrite: bool = False,
        auto_extension: bool = True,
        durable: bool = True,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(**options)
        self._path = None if path is None else path_or_place(path)
        self._data = data
        self._metadata = _DEFAULT_METADATA | dict(metadata or {})
        self._overwrite = overwrite
        self._auto_extension = auto_extension
        self._durable = durable

    @classmethod
    def from_file(cls, path: Place, **options: Unpack[BurnpackOptions]) -> Self:
        """A store of a file, or of what is at a URL or a place of ``burnpy.storage.at``."""
        return cls(path, **options)

    @classmethod
    def from_bytes(cls, data: Any = None, **options: Unpack[BurnpackOptions]) -> Self:
        """A store in memory: of these bytes, which are shared and must not change, or of what will be saved."""
        return cls(data=data, **options)

    @classmethod
    def from_static(cls, data: Any, **options: Unpack[BurnpackOptions]) -> Self:
        """As ``from_bytes``, under Burn's name for bytes that live for ever."""
        return cls(data=data, **options)

    @staticmethod
    def default_metadata() -> dict[str, str]:
        """The texts that every file gets."""
        return dict(_DEFAULT_METADATA)

    def metadata(self, key: str, value: str) -> Self:
        """Write one more text; the same key again replaces."""
        self._metadata[key] = value
        return self

    def clear_metadata(self) -> Self:
        """Write no text, not even the default ones."""
        self._metadata = {}
        return self

    def overwrite(self, on: bool) -> Self:
        """Whether a file is replaced."""
        self._overwrite = on
        return self

    def auto_extension(self, on: bool) -> Self:
        """Whether a path without an extension gets ``.bpk``."""
        self._auto_extension = on
        self.close()
        return self

    def with_remap_pattern(self, from_pattern: str, to_pattern: str) -> Self:
        """As ``with_key_remapping``, under the name that it has in Burn's store."""
        return self.with_key_remapping(from_pattern, to_pattern)

    def file_scalars(self) -> dict[str, Scalar]:
        """The numbers and flags in the file."""
        return self._reader().scalars()

    def get_bytes(self) -> bytes:
        """The file in memory.

        Raises:
            IoError: nothing was saved, or the store is of a file.
        """
        if self._path is not None or self._data is None:
            raise IoError("the store has no bytes: nothing was saved into memory")
        return bytes(self._data)

    def _texts(self) -> dict[str, str]:
        return self._reader().metadata()

    def _reader(self) -> Reader:
        reader = self._opened()
        assert isinstance(reader, Reader), "it opens nothing else"
        return reader

    def _open(self) -> Source:
        if self._path is not None:
            place = self._resolved()
            return Reader.from_file_exact(place) if isinstance(place, str) else reader_at(place)
        if self._data is None:
            raise IoError("the store has no bytes: nothing was saved into memory")
        return Reader.from_bytes(self._data)

    def _save(self, tensors: list[TensorSnapshot]) -> None:
        target = Burnpack()
        parts = parts_of(tensors)
        self.close()
        if self._path is None:
            packed = [target.tensor(part) for part in parts]
            self._data = _core.Writer(packed, self._metadata).into_bytes()
            return
        path = self._resolved()
        if not self._overwrite:
            refuse_existing(path)
        if not isinstance(path, str):
            writer = _core.Writer([target.tensor(part) for part in parts], self._metadata)
            write_pack(writer, path, overwrite=self._overwrite)
            return
        packed = [target.tensor(part) for part in parts]
        writer = _core.Writer(
            packed, self._metadata, auto_extension=False, overwrite=self._overwrite, durable=self._durable
        )
        writer.write_to_file(path)

    def _resolved(self) -> str | Location:
        path = self._path
        assert path is not None, "a store of a file"
        if not isinstance(path, str):
            return path.with_extension(_core.EXTENSION) if self._auto_extension else path
        has_extension = os.path.splitext(os.path.basename(path))[1] != ""
        return path if has_extension or not self._auto_extension else f"{path}.{_core.EXTENSION}"

    def _invalid(self, result: ApplyResult) -> Exception:
        return _with_result(ValidationError(invalid_text(result), path=self._name()), result)

    def _missing(self, result: ApplyResult) -> Exception:
        return _with_result(ValidationError(missing_text(result), path=self._name()), result)

    def _name(self) -> str | None:
        return None if self._path is None else str(self._path)

    def _told(self) -> Any:
        return nullcontext()  # they are the container's own

    def __repr__(self) -> str:
        return f"BurnpackStore({'memory' if self._path is None else repr(self._name())})"


def _with_result(error: ValidationError, result: ApplyResult) -> ValidationError:
    error.result = result  # type: ignore[attr-defined]  # only a store's errors have one
    return error
