"""Any checkpoint as a mapping from names to tensors that are read when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from burnpy import _core
from burnpy._places import is_remote, place_of
from burnpy.errors import TensorNotFound
from burnpy.store.layout import choose, find_layout
from burnpy.store.sniff import open_archive

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType
    from typing import Self

    from burnpy._typing import Place
    from burnpy.pack import Limits
    from burnpy.storage.location import Location
    from burnpy.store.archive import Archive, LazyTensor, Skipped, TensorInfo
    from burnpy.store.layout import Chosen

__all__ = ["Checkpoint", "open"]

AUTO = "auto"

PICKLED = ("pytorch", "pickle")
"""How the formats begin that have more than a model in them."""


class Checkpoint(Mapping[str, "LazyTensor"]):
    """An open checkpoint of any format: a mapping from names to lazy views, the same for all of them.

    Opening reads the header, or the pickle as data; elements are read when they are asked for, and arrays of them are
    windows of the mapped file wherever they lie there as they are wanted. Nothing in a file is ever executed.

    A checkpoint may be used from many threads, in forked workers, and pickled (it opens its path again). Closing it
    lets the file go; arrays made before stay valid, views do not. ``burnpy.open`` makes one.

    Attributes:
        path: the file, absolute, or the URL.
        chosen: which part of the file is shown, and what was taken off its names; ``None`` if it is all as it is.
    """

    __slots__ = ("__weakref__", "_archive", "_limits", "_names", "_place", "_top_level_key", "chosen", "path")

    def __init__(
        self, place: str | Location, top_level_key: str | None = None, limits: Limits | None = None
    ) -> None:
        self.path = str(place)
        self._place = place
        self.chosen: Chosen | None = None
        self._top_level_key = top_level_key
        self._limits = limits
        self._archive: Archive = open_archive(place, limits)
        self._names: dict[str, str] | None = None
        if top_level_key is not None:
            self._narrow(top_level_key)

    def _narrow(self, key: str) -> None:
        try:
            self.chosen = find_layout(self._archive) if key == AUTO else choose(self._archive, key)
        except BaseException:
            self._archive.close()
            raise
        self._names = None if self.chosen is None else self.chosen.names

    @property
    def format(self) -> str:
        """What the file is.

        One of ``"burnpack"``, ``"safetensors"``, ``"npz"``, ``"pytorch zip"``, ``"pytorch legacy"``, ``"pytorch tar"``,
        ``"pickle"``, and ``"burnpack index"``, ``"safetensors index"``, ``"pytorch index"`` for several files.
        """
        return self._archive.format

    def keys(self) -> list[str]:  # type: ignore[override]  # a list, as safetensors has it
        """Names in data order; for pickles, in the order of the pickle."""
        return self._archive.keys() if (names := self._shown_names()) is None else list(names)

    def info(self, name: str) -> TensorInfo:
        """Name, dtype, shape, parameter id, length and offsets of a tensor.

        Raises:
            TensorNotFound: a ``KeyError`` with the nearest name that is there.
        """
        full = self._full(name)
        try:
            info = self._archive.info(full)
        except KeyError as error:
            raise self._not_found(name) from error
        return info if full == name else _renamed(info, name)

    def metadata(self) -> dict[str, str]:
        """Texts: a safetensors file's ``__metadata__``, a burnpack's metadata, a pickle's strings by full name."""
        return self._shown(self._archive.metadata())

    def scalars(self) -> dict[str, Any]:
        """All other plain values by full name, as Python or NumPy has them.

        Numbers and booleans; out of a pickle also ``None``, bytes, complex numbers and sets.
        """
        return self._shown(self._archive.scalars())

    def typed_scalars(self) -> dict[str, Any]:
        """The same, but those of a burnpack as ``burnpy.pack.Scalar``, with the kinds that they have in the file."""
        return self._shown(self._archive.typed_scalars())

    def skipped(self) -> list[Skipped]:
        """What was not built, by name and kind: calls that would have to be made, tensors that no format holds."""
        return self._archive.skipped()

    def ties(self) -> list[list[str]]:
        """Groups of names that are one tensor: the same part of the same storage."""
        return self._shown_groups(self._archive.ties())

    def overlaps(self) -> list[list[str]]:
        """Groups of names that share a storage and are not one tensor."""
        return self._shown_groups(self._archive.overlaps())

    def _verifying(self, names: Iterable[str]) -> AbstractContextManager[Callable[[], None]]:
        """Compare tensors with their checksums while they are read; what is read meanwhile counts after the call."""
        return self._archive.verifying([self._full(name) for name in names])

    def close(self) -> None:
        """Let the file go. Arrays stay valid, lazy views do not."""
        self._archive.close()

    def _shown_names(self) -> dict[str, str] | None:
        """Names as shown to full names; ``None`` if they are the same. Raises when closed, as the archive does."""
        if self._names is not None:
            self._archive.has("")
        return self._names

    def _full(self, name: str) -> str:
        names = self._shown_names()
        if names is None:
            return name
        try:
            return names[name]
        except KeyError:
            raise self._not_found(name) from None

    def _not_found(self, name: object) -> TensorNotFound:
        message = f"{self.path}: no tensor is named {name!r}"
        if isinstance(name, str):
            skipped = [skipped for skipped in self._archive.skipped() if skipped.name == name]
            near = _core.closest(name, self.keys())
            if skipped:
                of = f" of {skipped[0].dtype}" if skipped[0].dtype else ""
                message = f"{self.path}: {name!r} was skipped: it is {skipped[0].kind}{of}"
            elif near is not None:
                message += f"; did you mean {near!r}?"
        return TensorNotFound(message, path=self.path, tensor=str(name))

    def _shown(self, values: dict[str, Any]) -> dict[str, Any]:
        """Values by name; those below the chosen key without it, others in full."""
        if self.chosen is None or self.chosen.top_level_key is None:
            return values
        below = f"{self.chosen.top_level_key}."
        inside = {name.removeprefix(below): value for name, value in values.items() if name.startswith(below)}
        return {**{name: value for name, value in values.items() if not name.startswith(below)}, **inside}

    def _shown_groups(self, groups: list[list[str]]) -> list[list[str]]:
        if self._names is None:
            return groups
        shown = {full: name for name, full in self._names.items()}
        kept = [[shown[name] for name in group if name in shown] for group in groups]
        return [group for group in kept if len(group) > 1]

    def __getitem__(self, name: str) -> LazyTensor:
        full = self._full(name)
        try:
            return self._archive.view(full, name)
        except KeyError as error:
            raise self._not_found(name) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, name: object) -> bool:
        names = self._shown_names()
        return self._archive.has(name) if names is None else name in names

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # The file decides what is equal, and it may be large: checkpoints compare as objects do.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._place, self._top_level_key, self._limits)

    def __repr__(self) -> str:
        try:
            return f"<burnpy.Checkpoint of {self.path}: {self.format}, {len(self)} tensors>"
        except ValueError:
            return f"<burnpy.Checkpoint of {self.path}: closed>"


def open(path: Place, *, top_level_key: str | None = None, limits: Limits | None = None) -> Checkpoint:
    """Open a checkpoint of any format, found by its content, as one lazy, read-only mapping.

    Burnpacks, safetensors files, their sharded sets by the index, checkpoints of PyTorch (zip, legacy stream, tar,
    plain pickle; torch is not needed and nothing is ever executed), and NumPy's ``.npz``.

    Args:
        path: the file, a URL, a file object or a place of ``burnpy.storage.at``; if nothing is there, ``.bpk`` is
            appended. Of what is no file here, burnpacks and safetensors files are read tensor by tensor, and all else
            is copied first; everything is where the place has a cache.
        top_level_key: show only what is below this key, without it in the names (``"state_dict"``). ``"auto"`` finds
            the model in a training script's or Lightning's checkpoint, takes ``module.`` and ``_orig_mod.`` off its
            names, and says on ``chosen`` what it did.
        limits: bounds on what is accepted.

    Raises:
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
        CheckpointError: the file is none of the formats, or not a sound one; ``kind`` says how.
        Error: of ``burnpy.pack``: it is a burnpack, but not a sound one.
        ValueError: there is a NUL in the path.

    Example:
        >>> import burnpy, numpy as np
        >>> np.savez("weights.npz", w=np.arange(6.0).reshape(3, 2))
        >>> with burnpy.open("weights.npz") as checkpoint:
        ...     checkpoint.format, checkpoint["w"].shape, checkpoint["w"][1].tolist()
        ('npz', (3, 2), [2.0, 3.0])
    """
    place = place_of(path)
    if is_remote(place):
        from burnpy.storage.whole import or_with_extension

        return or_with_extension(lambda found: Checkpoint(found, top_level_key, limits), place)
    given: str = os.fspath(place)
    if "\0" in os.fsdecode(given):
        raise ValueError(f"path must have no NUL in it, got {given!r}")
    asked, resolved = os.path.abspath(given), _find(os.path.abspath(given))
    try:
        return Checkpoint(resolved, top_level_key, limits)
    except FileNotFoundError as error:
        if error.filename != resolved:
            raise
        # The names as asked and as looked for, as everywhere in burnpy.
        raise FileNotFoundError(error.errno, error.strerror, given, None, asked) from None


def _find(path: str) -> str:
    """The path itself if anything is there, else with ``.bpk`` behind it if that is there."""
    extended = f"{path}.{_core.EXTENSION}"
    return extended if not os.path.lexists(path) and os.path.exists(extended) else path


def _renamed(info: TensorInfo, name: str) -> TensorInfo:
    from dataclasses import replace

    return replace(info, name=name)
