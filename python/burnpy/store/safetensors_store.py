"""``SafetensorsStore``: a module in a safetensors file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from burnpy import _core
from burnpy.errors import AlreadyExists, BurnpyError, CheckpointError, DTypeError, SafetensorsStoreError
from burnpy.store.filter import PathFilter
from burnpy.store.foreign import ForeignArchive
from burnpy.store.landing import landing
from burnpy.store.module_store import (
    ModuleStore,
    Options,
    Source,
    invalid_text,
    missing_text,
    parts_of,
)
from burnpy.store.remote import path_or_place, safetensors_at
from burnpy.store.snapshot import TensorSnapshot
from burnpy.store.target import Part, Safetensors, refuse_existing

if TYPE_CHECKING:
    from typing import Self

    from burnpy._typing import Place
    from burnpy.store.apply import ApplyResult

__all__ = ["SafetensorsStore"]

_DEFAULT_METADATA = {"format": "safetensors", "producer": "burn", "version": "0.22.1"}


class SafetensorsOptions(Options, total=False):
    """The keywords of a ``SafetensorsStore``."""

    metadata: Mapping[str, str] | None
    overwrite: bool
    durable: bool


_PASS = (FileNotFoundError, PermissionError, IsADirectoryError)


class SafetensorsStore(ModuleStore):
    """A module in a safetensors file, or in memory.

    When saving, the filter sees names as the adapter has made them, without container types, and renaming comes last,
    as in Burn. A file exported from PyTorch wants ``from_adapter=PyTorchToBurnAdapter()``, and usually
    ``map_indices_contiguous=True`` and ``skip_enum_variants=True``; none of them is on by itself.

    Unlike Burn, the same tensors give the same bytes, a new file has the mode that the umask says, element types that
    Burn does not know can be read, and so can the metadata.

    Args:
        filter: which tensors are loaded and saved; an empty one is no filter.
        remapper: new names, when loading and when saving.
        from_adapter: changes tensors when loading.
        to_adapter: changes tensors when saving.
        metadata: texts beside the default ones.
        allow_partial: whether a module may have parameters that the file lacks.
        validate: whether tensors of wrong shape or kind are an error.
        skip_enum_variants: leave the names of enum variants out of paths.
        map_indices_contiguous: close the gaps in numbers when loading.
        map_indices_contiguous_except: patterns of prefixes whose numbers stay.
        overwrite: whether a file is replaced.
        durable: whether a save waits until the disk has the file.

    Raises:
        SafetensorsStoreError: from every method; ``kind`` says what, the file's fault is its ``__cause__``.
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.

    Example:
        >>> import numpy as np
        >>> store = SafetensorsStore.from_bytes()
        >>> store.save({"fc.weight": np.ones((2, 3), np.float32)})
        >>> store.keys(), SafetensorsStore.from_bytes(store.get_bytes()).file_metadata()["format"]
        (['fc.weight'], 'safetensors')
    """

    def __init__(
        self,
        path: Place | None = None,
        *,
        data: Any = None,
        metadata: Mapping[str, str] | None = None,
        overwrite: bool = False,
        durable: bool = True,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(**options)
        self._path = None if path is None else path_or_place(path)
        self._data = data
        self._metadata = _DEFAULT_METADATA | dict(metadata or {})
        self._overwrite = overwrite
        self._durable = durable
        if self._filter is not None:
            self.filter(self._filter)

    @classmethod
    def from_file(cls, path: Place, **options: Unpack[SafetensorsOptions]) -> Self:
        """A store of a file, or of what is at a URL or a place of ``burnpy.storage.at``; the name is used as it is."""
        return cls(path, **options)

    @classmethod
    def from_bytes(cls, data: Any = None, **options: Unpack[SafetensorsOptions]) -> Self:
        """A store in memory: of these bytes, which are shared and must not change, or of what will be saved."""
        return cls(data=data, **options)

    @staticmethod
    def default_metadata() -> dict[str, str]:
        """The texts that every file gets."""
        return dict(_DEFAULT_METADATA)

    def filter(self, filter: PathFilter) -> Self:
        """Load and save only what a filter accepts; an empty one is none."""
        self._filter = None if filter.is_empty() else filter
        return self

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

    def get_bytes(self) -> bytes:
        """The file in memory.

        Raises:
            SafetensorsStoreError: nothing was saved, or the store is of a file.
        """
        if self._path is not None or self._data is None:
            raise SafetensorsStoreError("the store has no bytes: nothing was saved into memory")
        return bytes(self._data)

    def _collect_filter(self) -> PathFilter | None:
        return None  # it has its turn after the adapter

    def _texts(self) -> dict[str, str]:
        archive = self._opened()
        assert isinstance(archive, ForeignArchive), "it opens nothing else"
        return archive.metadata()

    def _open(self) -> Source:
        if self._path is not None:
            return safetensors_at(self._path)
        if self._data is None:
            raise SafetensorsStoreError("the store has no bytes: nothing was saved into memory")
        return ForeignArchive(_core.ForeignFile.from_bytes(self._data, "safetensors"), "<memory>")

    def _save(self, tensors: list[TensorSnapshot]) -> None:
        self.close()
        with self._told():
            kept = [one for one in tensors if self._filter is None or self._filter.matches(one.name)]
            kept, _ = self._remapper.remap(kept)
            parts = _checked(parts_of(kept))
            if self._path is None:
                self._data = _core.safetensors_bytes(parts, self._metadata)
                return
            path = self._path
            if not self._overwrite:
                refuse_existing(path)
            with landing(path, overwrite=self._overwrite) as found:
                with _core.stage_safetensors(
                    parts, found.path, self._metadata, durable=self._durable and isinstance(path, str)
                ) as scratch:
                    scratch.commit(self._overwrite)
                found.send([found.path], overwrite=self._overwrite)

    def _invalid(self, result: ApplyResult) -> Exception:
        return SafetensorsStoreError(invalid_text(result), kind="ValidationFailed", result=result)

    def _missing(self, result: ApplyResult) -> Exception:
        return SafetensorsStoreError(missing_text(result), kind="TensorNotFound", result=result)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (*_PASS, SafetensorsStoreError):
            raise
        except CheckpointError as error:
            raise SafetensorsStoreError(str(error), kind="Safetensors") from error
        except OSError as error:
            kind = "Other" if isinstance(error, AlreadyExists) else "Io"
            raise SafetensorsStoreError(str(error), kind=kind) from error
        except BurnpyError as error:
            raise SafetensorsStoreError(str(error), kind="Other") from error

    def __repr__(self) -> str:
        return f"SafetensorsStore({'memory' if self._path is None else repr(str(self._path))})"


def _checked(parts: list[Part]) -> list[tuple[str, str, tuple[int, ...], _core.TensorEntry]]:
    target = Safetensors()
    for part in parts:
        if target.stored_dtype(part.dtype) is None:
            raise DTypeError(
                f"tensor {part.name!r}: safetensors has no dtype for {part.dtype}", tensor=part.name
            )
    return target.parts(parts)
