"""What a conversion carried and what it did not, for a program to ask and for a person to read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

__all__ = ["Adapted", "CarriedTensor", "ConversionReport", "Lost"]

T = TypeVar("T")

_SHOWN = 20
_GAP = 2


@dataclass(frozen=True)
class CarriedTensor:
    """A tensor of the target and the one of the source that it comes from.

    Attributes:
        name: its name in the target.
        source: its name in the source, below the top-level key.
        dtype: its element type in the target.
        source_dtype: its element type in the source.
        shape: its shape in the target.
        nbytes: length of its payload in the target.
        changes: what was done to it, in words.
    """

    name: str
    source: str
    dtype: str
    source_dtype: str
    shape: tuple[int, ...]
    nbytes: int
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adapted:
    """What an adapter did to a tensor, and what its module was told by.

    Attributes:
        name: the tensor's name in the target.
        change: what was done: ``"transposed"``, ``"renamed from 'norm.weight'"``.
        reason: the module that it was taken to belong to, and why.
    """

    name: str
    change: str
    reason: str


@dataclass(frozen=True)
class Lost:
    """Something that the target does not have.

    Attributes:
        name: the name in the source.
        what: ``"tensor"``, ``"scalar"`` or ``"metadata"``.
        reason: why the target cannot hold it.
    """

    name: str
    what: str
    reason: str

    def __str__(self) -> str:
        return f"{self.what} {self.name!r}: {self.reason}"


@dataclass
class ConversionReport:
    """What ``burnpy.convert`` did, or would do; its text is a table.

    Attributes:
        source: the file that was read.
        destination: the file to be opened afterwards: the index, where there are several.
        source_format: what the source was found to be.
        target_format: ``"burnpack"``, ``"safetensors"`` or ``"npz"``.
        dry_run: whether nothing was written.
        top_level_key: the part of the checkpoint that was taken, or ``None`` for all of it.
        stripped: what was taken off the front of every name.
        tensors: what was written, in the order of the source.
        dropped: names in the source that ``only`` and ``drop`` left out.
        unused: pairs of an argument (``"only"``, ``"drop"``, ``"map"``) and a pattern of it that matches nothing.
        left_out: names of tensors outside of the top-level key.
        skipped: name and kind of what is no data and was not built.
        renamed: pairs ``(new, old)`` of tensors whose name changed.
        cast: triples ``(name, old dtype, new dtype)``.
        adapted: what the adapter changed, and why.
        unconverted: name of a tensor to the reason why no renaming or transposing makes it Burn's.
        ties: groups of names, in the target, that are one tensor in the source; each has all the bytes.
        lost: what the target cannot hold.
        metadata: the texts that were carried.
        scalars: the numbers and flags that were carried.
        files: paths of all files that were written, or would be.
    """

    source: str
    destination: str
    source_format: str
    target_format: str
    dry_run: bool = False
    top_level_key: str | None = None
    stripped: str = ""
    tensors: list[CarriedTensor] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    unused: list[tuple[str, str]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    renamed: list[tuple[str, str]] = field(default_factory=list)
    cast: list[tuple[str, str, str]] = field(default_factory=list)
    adapted: list[Adapted] = field(default_factory=list)
    unconverted: dict[str, str] = field(default_factory=dict)
    ties: list[list[str]] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    scalars: dict[str, Any] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)

    @property
    def written(self) -> list[str]:
        """Names of the tensors in the target."""
        return [tensor.name for tensor in self.tensors]

    @property
    def nbytes(self) -> int:
        """Length of all payloads in the target."""
        return sum(tensor.nbytes for tensor in self.tensors)

    def is_lossless(self) -> bool:
        """Whether everything that is data in the source, and was asked for, is in the target."""
        return not self.lost

    def __str__(self) -> str:
        return "\n".join(self._lines(limit=None))

    def lines(self, limit: int | None = _SHOWN) -> list[str]:
        """The table line by line, each list in it cut after ``limit`` entries."""
        return list(self._lines(limit))

    def _lines(self, limit: int | None) -> Iterator[str]:
        verb = "would be written" if self.dry_run else "written"
        yield f"{_name(self.source)} ({self.source_format}) -> {_name(self.destination)} ({self.target_format})"
        count = f"{len(self.tensors):,} tensor{'s' * (len(self.tensors) != 1)}"
        carried = (
            f"{len(self.metadata):,} metadata, {len(self.scalars):,} scalar{'s' * (len(self.scalars) != 1)}"
        )
        yield f"{verb}: {count}, {self.nbytes:,} bytes, {carried}"
        if self.top_level_key is not None:
            yield f"top-level key: {_name(self.top_level_key)}"
        if self.stripped:
            yield f"taken off the names: {_name(self.stripped)}"
        yield from _table(self.tensors, limit)
        yield from _section("matches nothing", self.unused, limit, lambda u: f"{u[0]} {_name(u[1])}")
        yield from _section("dropped", self.dropped, limit, _name)
        yield from _section("outside of the top-level key", self.left_out, limit, _name)
        yield from _section("no data, not built", self.skipped, limit, lambda s: f"{_name(s[0])}: {s[1]}")
        reasons = list(self.unconverted.items())
        yield from _section("not Burn's form yet", reasons, limit, lambda u: f"{_name(u[0])}: {u[1]}")
        yield from _section("ties", self.ties, limit, lambda tie: " = ".join(map(_name, tie)))
        yield from _section("lost", self.lost, limit, lambda lost: _printable(str(lost)))


def _table(tensors: Sequence[CarriedTensor], limit: int | None) -> Iterator[str]:
    if not tensors:
        return
    rows = [("name", "dtype", "shape", "bytes", "change"), *map(_row, tensors[:limit])]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    yield ""
    for row in rows:
        cells = [row[i].rjust(widths[i]) if i == 3 else row[i].ljust(widths[i]) for i in range(4)]
        yield (" " * _GAP).join([*cells, row[4]]).rstrip()
    yield from _more(tensors, limit)


def _row(tensor: CarriedTensor) -> tuple[str, ...]:
    shape = "x".join(map(str, tensor.shape)) or "scalar"
    changes = "; ".join(map(_printable, tensor.changes))
    return _name(tensor.name), tensor.dtype, shape, f"{tensor.nbytes:,}", changes


def _section(title: str, entries: Sequence[T], limit: int | None, text: Callable[[T], str]) -> Iterable[str]:
    if not entries:
        return
    yield ""
    yield f"{title} ({len(entries):,}):"
    for entry in entries[:limit]:
        yield f"  {text(entry)}"
    yield from _more(entries, limit)


def _more(entries: Sequence[Any], limit: int | None) -> Iterator[str]:
    if limit is not None and len(entries) > limit:
        yield f"  ... and {len(entries) - limit:,} more"


def _name(name: str) -> str:
    return _printable(name) if name else "''"


def _printable(text: str) -> str:
    # A name in a file may hold what a terminal obeys.
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)
