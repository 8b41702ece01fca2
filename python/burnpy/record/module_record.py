"""``ModuleRecord``: the parameters of a module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from burnpy._core import Tensor
from burnpy.errors import RecordError, RecordValidationError
from burnpy.module.flag import Flag
from burnpy.module.group import ParamGroup
from burnpy.module.running_state import RunningState
from burnpy.module.steps import STEP
from burnpy.module.traversal import is_part, leaves
from burnpy.record.dtype_policy import DTypePolicy
from burnpy.record.entry import Entry
from burnpy.record.leaf import Leaf, assign, recorded, recorded_shape, taken_over
from burnpy.record.record import Record
from burnpy.record.report import Difference, RecordReport

if TYPE_CHECKING:
    from burnpy.module.module import Module
    from burnpy.module.param import Param
    from burnpy.pack import Reader, Scalar
    from burnpy.pack import Tensor as PackTensor

__all__ = ["ModuleRecord"]


@dataclass(frozen=True)
class _Options:
    """How a record is loaded."""

    dtype_policy: DTypePolicy = DTypePolicy.FromRecord
    allow_partial: bool = False
    allow_unused: bool = False
    validate: bool = True


class ModuleRecord(Record):
    """The parameters of a module by path, with their ids, in the module's order; tensors are read when they are used.

    Options of loading are keywords of ``load_record`` too; they are never written to a file.

    Args:
        dtype_policy: whose dtype parameters have after a load, the record's or the module's.
        allow_partial: whether the module may have parameters that the record lacks; they stay as they are.
        allow_unused: whether the record may have tensors that no parameter has the name of.
        validate: whether tensors of wrong shape or kind are an error; else their parameters stay as they are.

    Example:
        >>> from burnpy.module import Module, Param
        >>> class Scale(Module):
        ...     def __init__(self, number):
        ...         self.weight = Param.from_tensor(Tensor([number]))
        >>> record = ModuleRecord.from_bytes(Scale(2.0).into_record().into_bytes())
        >>> record.keys(), Scale(0.0).load_record(record).weight.val().item()
        (['weight'], 2.0)

    Source: Burn ``ModuleRecord``. Unlike Burn, a load that fails changes nothing, tells all differences at once, and
    compares shapes as the file has them; a tensor without id leaves the parameter its own.
    """

    def __init__(
        self,
        *,
        dtype_policy: DTypePolicy | str = DTypePolicy.FromRecord,
        allow_partial: bool = False,
        allow_unused: bool = False,
        validate: bool = True,
    ) -> None:
        self._entries: dict[str, Entry] = {}
        self._options = _Options()
        self._report: RecordReport | None = None
        self._set(
            dtype_policy=dtype_policy,
            allow_partial=allow_partial,
            allow_unused=allow_unused,
            validate=validate,
        )

    @classmethod
    def from_module(cls, module: Module | Param, group: ParamGroup | None = None) -> Self:
        """The parameters of a module, or those in a group; what ``module.into_record`` returns.

        A parameter alone has the empty path. Undrawn parameters are drawn. Running statistics that are pending are
        folded first. Steps of optimizers in other threads are in it whole or not at all
        (``burnpy.module.between_steps``).

        Cost: none of their size; later changes of the module do not show.

        Raises:
            RecordError: two parameters have one path.
            TypeError: it is no module.
        """
        group = group if group is None else ParamGroup.expect(group)
        with STEP:
            return cls()._with(
                Entry(path, recorded(leaf), leaf.id.val())
                for path, leaf in _params(module)
                if group is None or group.matches(leaf.id, path)
            )

    # ---- options

    def with_dtype_policy(self, policy: DTypePolicy | str) -> Self:
        """Whose dtype parameters have after a load; returns the record."""
        return self._set(dtype_policy=policy)

    def cast_to_module_dtype(self) -> Self:
        """Have parameters keep the module's dtype; returns the record."""
        return self.with_dtype_policy(DTypePolicy.CastToModule)

    def allow_partial(self, on: bool) -> Self:
        """Whether the module may have parameters that the record lacks; returns the record."""
        return self._set(allow_partial=on)

    def allow_unused(self, on: bool) -> Self:
        """Whether the record may have tensors that no parameter has the name of; returns the record."""
        return self._set(allow_unused=on)

    def validate(self, on: bool) -> Self:
        """Whether tensors of wrong shape or kind are an error; returns the record."""
        return self._set(validate=on)

    def _set(self, **options: Any) -> Self:
        self._options = _changed(self._options, options)
        return self

    # ---- looking

    def keys(self) -> list[str]:
        """The paths, in the order of the data."""
        return list(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, path: object) -> bool:
        return path in self._entries

    def __getitem__(self, path: str) -> Tensor:
        """The tensor of a path, as the file has it.

        Raises:
            KeyError: there is none.
        """
        return self._entries[path].tensor()

    def is_empty(self) -> bool:
        """Whether it holds nothing."""
        return not self._entries

    def clone(self) -> Self:
        """Another record of the same tensors, whose options can be set apart."""
        other = type(self)()._with(self._entries.values())
        other._options = self._options
        return other

    def report(self) -> RecordReport | None:
        """What became of it when it was loaded the last time, also if that failed; ``None`` before."""
        return self._report

    # ---- loading

    def apply(self, module: Module | Param, **options: Any) -> RecordReport:
        """Load it into a module, all or nothing; what ``module.load_record`` does.

        Args:
            module: takes the values and ids.
            options: keywords of the constructor, for this load.

        Raises:
            RecordValidationError: it does not fit; the module is as it was, and ``report`` tells all differences.
            TypeError: there is no such option.
        """
        chosen = _changed(self._options, options)
        plan, self._report = self._compared(module, chosen)
        report = self._report
        fatal = (
            (report.errors and chosen.validate)
            or (report.missing and not chosen.allow_partial)
            or (report.unused and not chosen.allow_unused)
        )
        if fatal:
            raise RecordValidationError(f"the record does not fit the module: {report}", report=report)
        made = [(leaf, entry, _value(path, leaf, entry, chosen, report)) for path, leaf, entry in plan]
        with STEP:
            for leaf, entry, value in made:
                assign(leaf, value, entry.param_id)
        return report

    def _compared(
        self, module: Module | Param, options: _Options
    ) -> tuple[list[tuple[str, Leaf, Entry]], RecordReport]:
        """What fits, and the report of what does not. Draws no value, reads no payload."""
        report = RecordReport()
        unused = dict(self._entries)
        plan = []
        for path, leaf in _params(module):
            entry = unused.pop(path, None)
            if entry is None:
                report.missing.append(path)
            elif difference := _difference(path, leaf, entry, options.dtype_policy):
                report.errors.append(difference)
            else:
                report.loaded.append(path)
                plan.append((path, leaf, entry))
        report.unused.extend(sorted(unused))
        return plan, report

    # ---- files

    def _with(self, entries: Iterable[Entry]) -> Self:
        for entry in entries:
            if entry.name in self._entries:
                raise RecordError(f"two parameters have the path {entry.name!r}")
            self._entries[entry.name] = entry
        return self

    def _content(self) -> tuple[Sequence[PackTensor], Mapping[str, str], Mapping[str, Scalar]]:
        return [entry.into_pack() for entry in self._entries.values()], {}, {}

    @classmethod
    def _read(cls, reader: Reader) -> Self:
        views = map(reader.view, reader.keys())
        return cls()._with(Entry(view.name, view, view.param_id) for view in views)

    def __repr__(self) -> str:
        return f"ModuleRecord({len(self)} tensors)"


def _changed(options: _Options, changes: Mapping[str, Any]) -> _Options:
    changed = replace(options, **changes)
    policy = changed.dtype_policy
    return changed if isinstance(policy, DTypePolicy) else replace(changed, dtype_policy=DTypePolicy(policy))


def _params(module: object) -> Iterator[tuple[str, Leaf]]:
    if not is_part(module):
        raise TypeError(f"a record is of a module, got {type(module).__name__}")
    return ((path, leaf) for path, leaf in leaves(module) if not isinstance(leaf, Flag))


def _difference(path: str, leaf: Leaf, entry: Entry, policy: DTypePolicy) -> Difference | None:
    shape = recorded_shape(leaf)
    kind = leaf.value().kind if isinstance(leaf, RunningState) else leaf.kind
    if entry.shape != shape:
        return Difference(path, "shape", shape, entry.shape)
    return None if policy.fits(entry, kind) else Difference(path, "dtype", kind, entry.dtype)


def _value(path: str, leaf: Leaf, entry: Entry, options: _Options, report: RecordReport) -> Tensor:
    """The tensor that a parameter becomes."""
    tensor = entry.tensor()
    dtype = options.dtype_policy.dtype(entry, _dtype(leaf, options.dtype_policy))
    if tensor.dtype != dtype:
        tensor = tensor.cast(dtype)
        report.cast.append((path, entry.dtype, dtype))
    return taken_over(leaf, tensor)


def _dtype(leaf: Leaf, policy: DTypePolicy) -> str:
    if isinstance(leaf, RunningState):
        return leaf.value().dtype
    # An undrawn value is drawn only if its dtype is asked for.
    drawn = policy is DTypePolicy.CastToModule or leaf.is_initialized()
    return leaf.base().dtype if drawn else "f32"
