"""``PytorchStore``: a module out of a checkpoint that ``torch.save`` wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Unpack

from burnpy.errors import BurnpyError, PytorchError, PytorchStoreError
from burnpy.store.adapter import PyTorchToBurnAdapter
from burnpy.store.filter import PathFilter
from burnpy.store.layout import Chosen
from burnpy.store.module_store import ModuleStore, Options, Source, invalid_text, missing_text
from burnpy.store.pytorch_reader import PytorchReader
from burnpy.store.remote import path_or_place
from burnpy.store.snapshot import TensorSnapshot

if TYPE_CHECKING:
    from typing import Self

    from burnpy._typing import Place
    from burnpy.store.apply import ApplyResult

__all__ = ["PytorchStore"]

_PASS = (FileNotFoundError, PermissionError, IsADirectoryError)


class PytorchOptions(Options, total=False):
    """The keywords of a ``PytorchStore``."""

    top_level_key: str | None


class PytorchStore(ModuleStore):
    """A module out of a PyTorch checkpoint; it is loaded from and never saved to.

    ``PyTorchToBurnAdapter``, the closing of gaps in numbers and the leaving out of enum variants are on by themselves.

    Unlike Burn, the state dict is found where a training script or Lightning has put it, and wrappers (``module.``,
    ``_orig_mod.``) are taken off; ``chosen`` says what was done. ``top_level_key=None`` takes everything as it is.

    Args:
        top_level_key: the part of the checkpoint that is loaded; ``"auto"`` finds it.
        filter: which of the module's parameters are loaded; an empty one is no filter.
        remapper: new names.
        from_adapter: changes tensors; PyTorch's conventions into Burn's, if not given.
        allow_partial: whether a module may have parameters that the file lacks.
        validate: whether tensors of wrong shape or kind are an error.
        skip_enum_variants: leave the names of enum variants out of paths.
        map_indices_contiguous: close the gaps in numbers.
        map_indices_contiguous_except: patterns of prefixes whose numbers stay.

    Raises:
        PytorchStoreError: from every method; ``kind`` says what, the file's fault is its ``__cause__``.
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
    """

    def __init__(
        self,
        path: Place | None = None,
        *,
        data: Any = None,
        top_level_key: str | None = "auto",
        **options: Unpack[Options],
    ) -> None:
        on: Options = {
            "from_adapter": PyTorchToBurnAdapter(),
            "skip_enum_variants": True,
            "map_indices_contiguous": True,
        }
        super().__init__(**(on | options))
        self._path = None if path is None else path_or_place(path)
        self._data = data
        self._top_level_key = top_level_key
        if self._filter is not None:
            self.filter(self._filter)

    @classmethod
    def from_file(cls, path: Place, **options: Unpack[PytorchOptions]) -> Self:
        """A store of a file, or of what is at a URL or a place of ``burnpy.storage.at``, which is copied first."""
        return cls(path, **options)

    @classmethod
    def from_bytes(cls, data: Any, **options: Unpack[PytorchOptions]) -> Self:
        """A store of a checkpoint in memory, which is shared and must not change. Unlike Burn, which has none."""
        return cls(data=data, **options)

    def filter(self, filter: PathFilter) -> Self:
        """Load only what a filter accepts; an empty one is none."""
        self._filter = None if filter.is_empty() else filter
        return self

    def with_top_level_key(self, key: str | None) -> Self:
        """Load this part of the checkpoint: a key of its root, ``"auto"``, or ``None`` for all of it."""
        self._top_level_key = key
        self.close()
        return self

    @property
    def chosen(self) -> Chosen | None:
        """Which part of the file is loaded, and what was taken off its names; ``None`` if it is all as it is."""
        with self._told():
            return self._reader().chosen

    def _texts(self) -> dict[str, str]:
        return self._reader().texts()

    def _reader(self) -> PytorchReader:
        reader = self._opened()
        assert isinstance(reader, PytorchReader), "it opens nothing else"
        return reader

    def _open(self) -> Source:
        if self._path is not None:
            return PytorchReader(self._path, self._top_level_key)
        return PytorchReader.from_bytes(self._data, self._top_level_key)

    def _save(self, tensors: list[TensorSnapshot]) -> None:
        raise PytorchStoreError(
            "a PyTorch checkpoint is never written; SafetensorsStore writes what torch reads"
        )

    def _invalid(self, result: ApplyResult) -> Exception:
        return PytorchStoreError(invalid_text(result), kind="ValidationFailed", result=result)

    def _missing(self, result: ApplyResult) -> Exception:
        return PytorchStoreError(missing_text(result), kind="TensorNotFound", result=result)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except (*_PASS, PytorchStoreError):
            raise
        except OSError as error:
            raise PytorchStoreError(str(error), kind="Io") from error
        except BurnpyError as error:
            kind = "Reader" if isinstance(error, PytorchError) else "Other"
            raise PytorchStoreError(str(error), kind=kind) from error

    def __repr__(self) -> str:
        return f"PytorchStore({'memory' if self._path is None else repr(str(self._path))})"
