"""Where a conversion goes: what each format can hold, and how its files are written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from burnpy import _core
from burnpy.errors import AlreadyExists
from burnpy.pack import AtomicFile, QuantScheme, Scalar
from burnpy.store.passport import Passport

if TYPE_CHECKING:
    from burnpy.storage.location import Location

__all__ = ["TARGETS", "Burnpack", "Part", "Safetensors", "Target", "refuse_existing", "target_format"]

_BURNPACK = frozenset(
    ("f64", "f32", "flex32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "qfloat",
     "bool", "bool(u8)", "bool(u32)")
)  # fmt: skip
# Elements that only Burn tells apart, under the dtype that has the same bytes.
_STAND_INS = {"flex32": "f32", "bool(u8)": "u8", "bool(u32)": "u32"}
# Wide ones first, as the format orders its tensors.
_SAFETENSORS = (
    "u64", "i64", "f64", "c64", "f32", "u32", "i32", "bf16", "f16", "u16", "i16", "f8e5m2fnuz", "f8e4m3fnuz",
    "f8e8m0fnu", "f8e4m3fn", "f8e5m2", "i8", "u8", "f6e3m2fn", "f6e2m3fn", "f4e2m1fn", "bool",
)  # fmt: skip
_SUFFIXES = {".bpk": "burnpack", ".safetensors": "safetensors", ".npz": "npz"}
_ONLY_READ = frozenset((".pt", ".pth", ".ckpt", ".bin", ".tar", ".pkl"))


@dataclass(frozen=True)
class Part:
    """A tensor that is going to be written.

    Attributes:
        name: its name in the file.
        dtype: its element type.
        scheme: of a quantized tensor.
        shape: its shape.
        nbytes: length of its payload.
        param_id: id of the parameter that it belongs to.
        draw: returns the payload.
    """

    name: str
    dtype: str
    scheme: QuantScheme | None
    shape: tuple[int, ...]
    nbytes: int
    param_id: int | None
    draw: Callable[[], Any]


class Target(Protocol):
    """A format that is written."""

    format: str
    extension: str

    def stored_dtype(self, dtype: str) -> str | None:
        """The dtype under which such elements are kept; ``None`` if the format has none."""
        ...

    def name_problem(self, name: str) -> str | None:
        """Why no tensor can have this name, or ``None``."""
        ...

    def passport(self, parts: Sequence[Part], scalars: Mapping[str, Scalar]) -> Passport:
        """What has to be told in texts."""
        ...

    def stage(
        self,
        parts: Sequence[Part],
        path: str,
        metadata: Mapping[str, str],
        scalars: Mapping[str, Scalar],
        *,
        durable: bool,
    ) -> AtomicFile:
        """Write the file beside its place; the caller commits."""
        ...


class Burnpack:
    """``.bpk``: everything but the elements that Burn does not know."""

    format = "burnpack"
    extension = _core.EXTENSION

    def stored_dtype(self, dtype: str) -> str | None:
        """The dtype itself."""
        return dtype if dtype in _BURNPACK else None

    def name_problem(self, name: str) -> str | None:
        """Any text is a name."""
        return None

    def passport(self, parts: Sequence[Part], scalars: Mapping[str, Scalar]) -> Passport:
        """Nothing: the file has places for all of it."""
        return Passport()

    def stage(
        self,
        parts: Sequence[Part],
        path: str,
        metadata: Mapping[str, str],
        scalars: Mapping[str, Scalar],
        *,
        durable: bool,
    ) -> AtomicFile:
        """Write the tensors in their order."""
        tensors = {part.name: self.tensor(part) for part in parts}
        return _core.stage_file(tensors, path, metadata, scalars=scalars, durable=durable)

    def tensor(self, part: Part) -> _core.TensorEntry:
        """A tensor as the core takes it."""
        return _core.TensorEntry.deferred(
            part.name,
            dtype=part.scheme or part.dtype,
            shape=part.shape,
            provider=part.draw,
            param_id=part.param_id,
        )


class Safetensors:
    """``.safetensors``: tensors in the format's own order, and texts."""

    format = "safetensors"
    extension = "safetensors"

    def stored_dtype(self, dtype: str) -> str | None:
        """The dtype itself, or the one of the same bytes."""
        stored = _STAND_INS.get(dtype, dtype)
        return stored if stored in _SAFETENSORS else None

    def name_problem(self, name: str) -> str | None:
        """One name is the metadata's."""
        return "safetensors keeps this name for the metadata" if name == "__metadata__" else None

    def passport(self, parts: Sequence[Part], scalars: Mapping[str, Scalar]) -> Passport:
        """Ids, scalars, true dtypes, and the order where it is not the format's."""
        names = [part.name for part in parts]
        passport = told(parts, scalars)
        if names != [part.name for part in sorted(parts, key=self._place)]:
            passport.order = names
        return passport

    def _place(self, part: Part) -> tuple[int, bytes]:
        return _SAFETENSORS.index(str(self.stored_dtype(part.dtype))), part.name.encode()

    def stage(
        self,
        parts: Sequence[Part],
        path: str,
        metadata: Mapping[str, str],
        scalars: Mapping[str, Scalar],
        *,
        durable: bool,
    ) -> AtomicFile:
        """Write the tensors in the format's order; the scalars are in the passport."""
        return _core.stage_safetensors(self.parts(parts), path, metadata or None, durable=durable)

    def parts(self, parts: Sequence[Part]) -> list[tuple[str, str, tuple[int, ...], _core.TensorEntry]]:
        """The tensors as the core takes them: their bytes are only bytes to it."""
        return [
            (part.name, str(self.stored_dtype(part.dtype)), part.shape, _bytes_of(part)) for part in parts
        ]


def refuse_existing(path: str | Location) -> None:
    """Stop before anything is drawn, where overwriting is off.

    Raises:
        AlreadyExists: something is at the path, be it a link that leads nowhere.
    """
    if os.path.lexists(path) if isinstance(path, str) else path.exists():
        raise AlreadyExists(f"{path}: something is there already, and overwriting is off", path=str(path))


def told(parts: Sequence[Part], scalars: Mapping[str, Scalar]) -> Passport:
    """Ids, scalars and true dtypes."""
    return Passport(
        param_ids={part.name: part.param_id for part in parts if part.param_id is not None},
        scalars=dict(scalars),
        dtypes={part.name: part.dtype for part in parts if part.dtype in _STAND_INS},
    )


def stand_in(dtype: str) -> str:
    """The dtype under which other formats keep elements that only Burn tells apart."""
    return _STAND_INS.get(dtype, dtype)


def _bytes_of(part: Part) -> _core.TensorEntry:
    def draw() -> np.ndarray[Any, Any]:
        # Elements that no burnpack has are bytes to the core.
        return np.ascontiguousarray(part.draw()).reshape(-1).view(np.uint8)

    return _core.TensorEntry.deferred(part.name, dtype="u8", shape=(part.nbytes,), provider=draw)


def target_format(path: str, wanted: str | None = None) -> str:
    """The format of a path, unless one is asked for.

    Raises:
        ValueError: nothing tells the format, or it is one that is only read.

    Example:
        >>> target_format("model.bpk.index.json", None), target_format("weights", "npz")
        ('burnpack', 'npz')
    """
    formats = ", ".join(sorted({*_SUFFIXES.values()}))
    if wanted is not None:
        if wanted in ("bpk", *_SUFFIXES.values()):
            return "burnpack" if wanted == "bpk" else wanted
        raise ValueError(f"format must be one of {formats}, got {wanted!r}")
    suffix = os.path.splitext(re.sub(r"\.index\.json$", "", path))[1].lower()
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if suffix in _ONLY_READ:
        raise ValueError(f"{path}: {suffix} files of PyTorch are read, never written; write {formats}")
    raise ValueError(f"{path}: its name does not tell a format; format must be one of {formats}")


def _npz() -> Target:
    from burnpy.store.npz_writer import Npz

    return Npz()


TARGETS: dict[str, Callable[[], Target]] = {"burnpack": Burnpack, "safetensors": Safetensors, "npz": _npz}
"""What makes the target of each format."""
