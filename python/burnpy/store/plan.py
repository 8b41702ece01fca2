"""What a conversion will write, worked out from names, dtypes and shapes before any tensor is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from burnpy.errors import DTypeError
from burnpy.pack import Scalar
from burnpy.store.adapter import (
    BurnToPyTorchAdapter,
    ModuleAdapter,
    ModuleContext,
    PyTorchToBurnAdapter,
)
from burnpy.store.draw import Drawing, Progress
from burnpy.store.dtype import dtype_of, is_castable, is_float, numpy_dtype, payload_len
from burnpy.store.filter import PathFilter
from burnpy.store.infer import InferredContexts, ModuleGuess, infer_contexts
from burnpy.store.passport import KEYS, Passport
from burnpy.store.remap import KeyRemapper, NameCollision
from burnpy.store.report import Adapted, CarriedTensor, ConversionReport, Lost
from burnpy.store.snapshot import TensorSnapshot
from burnpy.store.target import Part, Target, stand_in

if TYPE_CHECKING:
    from burnpy.store.checkpoint import Checkpoint

__all__ = ["Plan", "Wishes"]

_ADAPTERS: dict[str, type[ModuleAdapter]] = {
    "pytorch": PyTorchToBurnAdapter,
    "burn-to-pytorch": BurnToPyTorchAdapter,
}


@dataclass(frozen=True)
class Wishes:
    """What the caller asks for, checked before anything is opened.

    Attributes:
        only: tensors that are carried, or ``None`` for all.
        drop: tensors, and scalars, that are not.
        remapper: their new names.
        adapter: what changes them.
        dtype: what floats become, or ``None``.
        allow_loss: whether what the target cannot hold is left out, instead of stopping all.
    """

    only: PathFilter | None
    drop: PathFilter
    remapper: KeyRemapper
    adapter: ModuleAdapter | None
    dtype: str | None
    allow_loss: bool

    @classmethod
    def of(cls, *, map: Any, only: Any, drop: Any, adapter: Any, dtype: Any, allow_loss: bool) -> Wishes:
        """The wishes of ``convert``'s arguments.

        Raises:
            ValueError: a regex or a replacement is wrong, the adapter is unknown, or the dtype is no float.
            DTypeError: the dtype is unknown.
        """
        filter_ = _filter("only", only)
        return cls(
            only=None if filter_.is_empty() else filter_,
            drop=_filter("drop", drop),
            remapper=_remapper(map),
            adapter=_adapter(adapter),
            dtype=None if dtype is None else _float(dtype),
            allow_loss=allow_loss,
        )

    def takes(self, name: str) -> bool:
        """Whether a tensor is carried."""
        return (self.only is None or self.only.matches(name)) and not self.drop.matches(name)


@dataclass(frozen=True)
class _Carried:
    """A tensor on its way: its name in the source, what it is under its new name, after the adapter, and its dtype."""

    source: str
    mapped: TensorSnapshot
    tensor: TensorSnapshot
    dtype: str

    @property
    def nbytes(self) -> int:
        if self.dtype == self.tensor.dtype:
            return self.tensor.nbytes
        return payload_len(self.dtype, self.tensor.shape)


class Plan:
    """Everything that will be written, and the report of it.

    Args:
        checkpoint: the open source.
        target: the format that is written.
        wishes: what the caller asks for.
        report: is filled in.

    Attributes:
        metadata: the texts of the target, without the passport.
        scalars: its scalars.
        losses: what the target cannot hold, in ``report.lost`` too.

    Raises:
        NameCollision: two tensors would have one name.
    """

    def __init__(
        self, checkpoint: Checkpoint, target: Target, wishes: Wishes, report: ConversionReport
    ) -> None:
        self._target = target
        self._wishes = wishes
        self._report = report
        self._passport, self.metadata = _passport(checkpoint)
        self.scalars: dict[str, Scalar] = dict(self._passport.scalars)
        names = self._in_order(list(checkpoint))
        contexts = self._contexts({name: checkpoint[name].shape for name in names})
        self._tensors = [self._carried(one, contexts) for one in self._selected(checkpoint, names)]
        self._tell_unused(checkpoint, names)
        self._check_names()
        self._tensors = [one for one in self._tensors if self._is_held(one)]
        self._take_plain_values(checkpoint)
        self._tell_skipped(checkpoint)
        self._tell(checkpoint, contexts)

    @property
    def losses(self) -> list[Lost]:
        """What the target cannot hold."""
        return self._report.lost

    def parts(self, progress: Progress | None = None) -> tuple[list[Part], Drawing]:
        """The tensors as the target writes them, and what draws them."""
        drawing = Drawing(sum(one.nbytes for one in self._tensors), progress)
        return [self._part(one, drawing) for one in self._tensors], drawing

    def _part(self, one: _Carried, drawing: Drawing) -> Part:
        tensor, nbytes = one.tensor, one.nbytes
        draw = drawing.provider(tensor, one.dtype, nbytes)
        return Part(tensor.name, one.dtype, tensor.scheme, tensor.shape, nbytes, tensor.param_id, draw)

    def _in_order(self, names: list[str]) -> list[str]:
        """Names in the order that the passport tells; what it does not know of stays where it is, at the end."""
        known = set(names)
        told = dict.fromkeys(name for name in self._passport.order if name in known)
        return [*told, *(name for name in names if name not in told)]

    def _contexts(self, shapes: Mapping[str, Sequence[int]]) -> InferredContexts:
        return infer_contexts(shapes) if self._wishes.adapter else InferredContexts()

    def _selected(self, checkpoint: Checkpoint, names: Iterable[str]) -> list[tuple[str, TensorSnapshot]]:
        """The tensors that are carried, under their new names, with the names that they have."""
        chosen = []
        for name in names:
            if self._wishes.takes(name):
                chosen.append(self._snapshot(checkpoint, name))
            else:
                self._report.dropped.append(name)
        renamed, pairs = self._wishes.remapper.remap(chosen)
        return [(old, tensor) for tensor, (_, old) in zip(renamed, pairs, strict=True)]

    def _snapshot(self, checkpoint: Checkpoint, name: str) -> TensorSnapshot:
        view = checkpoint[name]
        true = self._passport.dtypes.get(name, view.dtype)
        dtype = true if view.dtype in _forms(true) else view.dtype
        param_id = self._passport.param_ids.get(name, view.param_id)
        if dtype == view.dtype:
            return TensorSnapshot(name, view.scheme or dtype, view.shape, view.numpy, param_id=param_id)
        wanted = numpy_dtype(dtype)
        return TensorSnapshot(name, dtype, view.shape, lambda: view.numpy().view(wanted), param_id=param_id)

    def _carried(self, one: tuple[str, TensorSnapshot], contexts: InferredContexts) -> _Carried:
        source, mapped = one
        tensor = mapped
        if self._wishes.adapter is not None:
            context = contexts.contexts.get(source, ModuleContext())
            tensor = self._wishes.adapter.adapt(mapped, context)
        cast = self._wishes.dtype if is_castable(tensor.dtype) else None
        return _Carried(source, mapped, tensor, cast or tensor.dtype)

    def _tell_unused(self, checkpoint: Checkpoint, names: Sequence[str]) -> None:
        """Note the patterns that match nothing."""
        wishes = self._wishes
        unused = {
            "only": [] if wishes.only is None else wishes.only.unused(names),
            "drop": wishes.drop.unused([*names, *checkpoint.typed_scalars()]),
            "map": wishes.remapper.unused([one.source for one in self._tensors]),
        }
        self._report.unused.extend((argument, pattern) for argument in unused for pattern in unused[argument])

    def _check_names(self) -> None:
        taken: dict[str, str] = {}
        for one in self._tensors:
            other = taken.setdefault(one.tensor.name, one.source)
            if other != one.source:
                message = f"{other!r} and {one.source!r} would both be named {one.tensor.name!r}"
                raise NameCollision(message, name=one.tensor.name, sources=(other, one.source))

    def _is_held(self, one: _Carried) -> bool:
        reason = self._target.name_problem(one.tensor.name)
        if reason is None and self._target.stored_dtype(one.dtype) is None:
            reason = f"{self._target.format} has no dtype for {one.dtype}"
        if reason is not None:
            self._report.lost.append(Lost(one.source, "tensor", reason))
        return reason is None

    def _take_plain_values(self, checkpoint: Checkpoint) -> None:
        narrowed = self._report.top_level_key is not None
        for name, value in checkpoint.typed_scalars().items():
            if self._wishes.drop.matches(name):
                self._report.dropped.append(name)
            elif (scalar := _scalar(value)) is not None:
                self.scalars[name] = scalar
            elif value is None or narrowed:
                # Who takes the model out of a training run's checkpoint does not ask for its random state.
                self._report.skipped.append((name, type(value).__name__))
            else:
                reason = f"{self._target.format} has no scalar for a {type(value).__name__} like this"
                self._report.lost.append(Lost(name, "scalar", reason))
        if self._target.format != "burnpack":
            for key in sorted(self.metadata.keys() & set(KEYS)):
                del self.metadata[key]
                self._report.lost.append(Lost(key, "metadata", "burnpy keeps this key for itself"))

    def _tell_skipped(self, checkpoint: Checkpoint) -> None:
        """Note what was not built. A tensor among it, where tensors are taken from, is a loss."""
        key = self._report.top_level_key
        below = "" if key is None else f"{key}."
        for skipped in checkpoint.skipped():
            name = skipped.name.removeprefix(below)
            is_wanted = skipped.name.startswith(below) and self._wishes.takes(name)
            if skipped.reason == "unsupported" and skipped.shape is not None and is_wanted:
                of = f" of {skipped.dtype}" if skipped.dtype else ""
                reason = f"a {skipped.kind}{of} is not read"
                self._report.lost.append(Lost(name, "tensor", reason))
            else:
                self._report.skipped.append((name, skipped.kind))

    def _tell(self, checkpoint: Checkpoint, contexts: InferredContexts) -> None:
        report = self._report
        reasons = {guess.path: guess for guess in contexts.guesses}
        for one in self._tensors:
            changes = self._changes(one, reasons)
            nbytes, shape = one.nbytes, one.tensor.shape
            report.tensors.append(
                CarriedTensor(
                    one.tensor.name, one.source, one.dtype, one.mapped.dtype, shape, nbytes, changes
                )
            )
        carried = {one.source: one.tensor.name for one in self._tensors}
        report.unconverted.update(
            {carried[name]: reason for name, reason in contexts.unconvertible.items() if name in carried}
        )
        ties = ([carried[name] for name in tie if name in carried] for tie in checkpoint.ties())
        report.ties.extend(tie for tie in ties if len(tie) > 1)
        report.metadata.update(self.metadata)
        report.scalars.update({name: scalar.value for name, scalar in self.scalars.items()})

    def _changes(self, one: _Carried, guesses: Mapping[str, ModuleGuess]) -> tuple[str, ...]:
        """What was done to a tensor, in words and in the report's lists."""
        changes = []
        name, old_dtype, report = one.tensor.name, one.mapped.dtype, self._report
        if name != one.source:
            report.renamed.append((name, one.source))
        if one.mapped.name != one.source:
            changes.append(f"was {one.source}")
        if change := self._adapted(one):
            reason = _reason(guesses.get(one.source.rpartition(".")[0]))
            report.adapted.append(Adapted(name, change, reason))
            changes.append(f"{change} ({reason})")
        if one.dtype != old_dtype:
            report.cast.append((name, old_dtype, one.dtype))
            changes.append(f"cast from {old_dtype}")
        stored = self._target.stored_dtype(one.dtype)
        if stored != one.dtype:
            changes.append(f"kept as {stored}")
        return tuple(changes)

    def _adapted(self, one: _Carried) -> str | None:
        """What the adapter did, but for a cast."""
        before, after = one.mapped, one.tensor
        if before is after:
            return None
        if before.name != after.name:
            return f"renamed from {before.name.rpartition('.')[2]!r}"
        if isinstance(self._wishes.adapter, PyTorchToBurnAdapter | BurnToPyTorchAdapter):
            return "transposed"
        return f"changed by {self._wishes.adapter!r}" if before.dtype == after.dtype else None


def _passport(checkpoint: Checkpoint) -> tuple[Passport, dict[str, str]]:
    """What the source's texts say of its tensors, and its other texts.

    A burnpack has places for all of it: there such a text is its author's, whatever the key.
    """
    metadata = checkpoint.metadata()
    if checkpoint.format.startswith("burnpack"):
        return Passport(), metadata
    return Passport.split(metadata)


def _forms(dtype: str) -> tuple[str, ...]:
    """Under which dtypes a format may keep the elements of one that it does not have."""
    return (dtype, stand_in(dtype), "bool") if dtype == "bool(u8)" else (dtype, stand_in(dtype))


def _reason(guess: ModuleGuess | None) -> str:
    if guess is None or guess.module_type is None:
        return "the adapter's own reason"
    return f"{guess.module_type.removeprefix('Struct:')}: {guess.reason}"


def _scalar(value: Any) -> Scalar | None:
    if isinstance(value, Scalar):
        return value
    if not isinstance(value, bool | int | float | np.generic):
        return None
    try:
        return Scalar(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _filter(argument: str, wanted: Any) -> PathFilter:
    if isinstance(wanted, PathFilter):
        return wanted
    patterns = [wanted] if isinstance(wanted, str) else list(wanted)
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"{argument} must be patterns, got {type(pattern).__name__}")
    return PathFilter(regexes=patterns)


def _remapper(wanted: Any) -> KeyRemapper:
    if isinstance(wanted, KeyRemapper):
        return wanted
    return KeyRemapper(wanted.items() if isinstance(wanted, Mapping) else wanted)


def _adapter(wanted: Any) -> ModuleAdapter | None:
    if wanted is None or isinstance(wanted, ModuleAdapter):
        return wanted
    if isinstance(wanted, str) and wanted in _ADAPTERS:
        return _ADAPTERS[wanted]()
    known = ", ".join(map(repr, _ADAPTERS))
    raise ValueError(f"adapter must be one of {known} or a ModuleAdapter, got {wanted!r}")


def _float(wanted: Any) -> str:
    dtype = dtype_of(wanted)
    if not is_float(dtype):
        raise DTypeError(f"dtype must be a float that Burn knows, got {dtype}", dtype=dtype)
    return dtype
