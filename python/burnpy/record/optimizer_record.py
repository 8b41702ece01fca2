"""``OptimizerRecord``: the state of an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self, TypeVar

from burnpy.errors import RecordValidationError
from burnpy.module.param_id import ParamId
from burnpy.pack import Scalar, ScalarConversionError
from burnpy.record.entry import Entry
from burnpy.record.record import Record
from burnpy.record.state import RecordState, StateSink, StateSource
from burnpy.record.told import tell

if TYPE_CHECKING:
    from burnpy._core import Device
    from burnpy.pack import Reader
    from burnpy.pack import Tensor as PackTensor

__all__ = ["LoadedState", "OptimizerRecord", "OptimizerReport"]

S = TypeVar("S", bound=RecordState)

_RANK = "__rank"
_MAX_RANK = 8


class LoadedState(NamedTuple):
    """The state of one parameter, as a record gives it."""

    id: ParamId
    path: str | None
    rank: int
    state: RecordState


@dataclass(frozen=True)
class OptimizerReport:
    """What became of a record when an optimizer was loaded from it.

    Attributes:
        loaded: ids of the parameters whose state was restored.
        skipped: ids of those that start anew, since a leaf was missing or did not fit.
        unused: names of tensors and scalars that no state has.
    """

    loaded: list[ParamId] = field(default_factory=list)
    skipped: list[ParamId] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)


class OptimizerRecord(Record):
    """States of parameters by id: tensors and scalars named ``{id}.{leaf}``, and the path of each parameter.

    Which optimizer wrote it, and with which settings, is not part of it.

    Example:
        >>> from burnpy import Tensor
        >>> from burnpy.record import UInt
        >>> class Momentum(RecordState):
        ...     time: UInt
        ...     moment: Tensor
        >>> states = [(ParamId(7), "weight", 1, Momentum(1, Tensor([0.5])))]
        >>> record = OptimizerRecord.from_states(states)
        >>> record.keys(), record.path_of(ParamId(7)), record.state_of(ParamId(7), Momentum).time
        (['7.moment'], 'weight', 1)

    Source: Burn ``OptimizerRecord``. Unlike Burn, parameters are in the order in which they are given, states keep
    their dtype, and what was not restored is told.
    """

    def __init__(self) -> None:
        self._entries: dict[str, Entry] = {}
        self._scalars: dict[str, Scalar] = {}
        self._metadata: dict[str, str] = {}
        self._ranks: dict[int, int] = {}
        self._report: OptimizerReport | None = None

    # ---- making

    @classmethod
    def from_states(cls, states: Iterable[tuple[ParamId, str | None, int, RecordState]]) -> Self:
        """The record of the states of parameters: id, path if it is known, rank, and state, in the order of the file.

        Cost: none of the size of the tensors.

        Raises:
            ValueError: an id comes twice, a tensor has another rank than its parameter, which Burn could not read, or
                a state has a leaf ``__rank``.
        """
        record = cls()
        for id, path, rank, state in states:
            record._put(id, path, rank, state)
        return record

    @classmethod
    def from_state(cls, state: RecordState) -> Self:
        """The record of one state for all parameters, as ``LBFGS`` has it: names without ids."""
        record = cls()
        record._take(_flat(state, ""), None)
        return record

    def _put(self, id: ParamId, path: str | None, rank: int, state: RecordState) -> None:
        key = str(id.val())
        if f"{key}.{_RANK}" in self._scalars:
            raise ValueError(f"two states for the parameter {key}")
        sink = _flat(state, key)
        wrong = _of_other_rank(sink, rank)
        if wrong:
            raise ValueError(f"the parameter {key} has rank {rank}, its state has {wrong}")
        self._take(sink, id.val())
        if f"{key}.{_RANK}" in self._scalars:
            raise ValueError(f"the state of the parameter {key} has a leaf {_RANK}, a name that is taken")
        self._scalars[f"{key}.{_RANK}"] = Scalar.uint(rank)
        self._ranks[id.val()] = rank
        if path is not None:
            self._metadata[key] = path

    def _take(self, sink: StateSink, id: int | None) -> None:
        self._entries |= {name: Entry(name, tensor, id) for name, tensor in sink.tensors.items()}
        self._scalars |= sink.scalars

    # ---- looking

    def keys(self) -> list[str]:
        """Names of the tensors, in the order of the data."""
        return list(self._entries)

    def __len__(self) -> int:
        """How many tensors it holds; scalars do not count."""
        return len(self._entries)

    def is_empty(self) -> bool:
        """Whether it holds no tensor."""
        return not self._entries

    def scalars(self) -> dict[str, Scalar]:
        """All scalars, the ranks of parameters too."""
        return dict(self._scalars)

    def ids(self) -> list[ParamId]:
        """The parameters that have a tensor or a rank, ascending.

        Raises:
            RecordValidationError: a tensor has no id of a parameter, as in the record of ``LBFGS``.
        """
        without = [name for name, entry in self._entries.items() if entry.param_id is None]
        if without:
            raise RecordValidationError(
                f"{len(without)} of the record's tensors have no id of a parameter, the first is {without[0]!r}"
            )
        return [ParamId(id) for id in sorted(self._ranks)]

    def path_of(self, id: ParamId) -> str | None:
        """Where a parameter was when the record was made, if that is known."""
        return self._metadata.get(str(id.val()))

    def rank_of(self, id: ParamId) -> int:
        """The rank of a parameter: as recorded, else that of its first tensor by name.

        Raises:
            KeyError: the record has nothing of the parameter.
            RecordValidationError: the rank is over 8.
        """
        rank = self._ranks[id.val()]
        if rank > _MAX_RANK:
            raise RecordValidationError(
                f"the parameter {id.val()} has rank {rank}, over the limit of {_MAX_RANK}"
            )
        return rank

    def report(self) -> OptimizerReport | None:
        """What became of it when an optimizer was loaded from it the last time; ``None`` before."""
        return self._report

    # ---- loading

    def state_of(self, id: ParamId, cls: type[S], device: Device | None = None) -> S | None:
        """The state of a parameter, or ``None`` if a leaf is missing or does not fit.

        Raises:
            RecordValidationError: a tensor of it has another rank than the parameter.
        """
        return self._state(id, cls, self._sources().get(id.val(), StateSource()), device)

    def into_state(self, cls: type[S], *, device: Device | None = None, strict: bool = False) -> S | None:
        """The state that :meth:`from_state` was made of, or ``None`` if a leaf is missing or does not fit.

        Args:
            cls: the type of the state.
            device: where its tensors are, by default in plain memory.
            strict: raise where there would be a warning.

        Raises:
            RecordValidationError: something was missing or left over, and ``strict``.
        """
        source = StateSource(self._scalars, {name: entry.tensor for name, entry in self._entries.items()})
        state = cls.state_unflatten("", source, device)
        found = {"not restored": [] if state else [cls.__name__], "unused": source.unread() if state else []}
        tell("optimizer", found, strict=strict)
        return state

    def load_states(
        self,
        state_type: Callable[[ParamId, str | None], type[RecordState]],
        *,
        device: Device | None = None,
        strict: bool = False,
    ) -> list[LoadedState]:
        """The states of all parameters, ascending by id: what an optimizer loads.

        A parameter whose state cannot be read is left out, and warned of, as are names that no state has.

        Args:
            state_type: the type of a parameter's state, by id and path.
            device: where tensors are, by default in plain memory.
            strict: raise where there would be a warning.

        Raises:
            RecordValidationError: a tensor has no id, or its rank contradicts that of its parameter; or something was
                left out or over, and ``strict``. :meth:`report` tells all of it.
        """
        sources, self._report = self._sources(), OptimizerReport(unused=self._of_nobody())
        states = []
        for id in self.ids():
            path, rank, source = self.path_of(id), self.rank_of(id), sources[id.val()]
            state = self._state(id, state_type(id, path), source, device)
            if state is None:
                self._report.skipped.append(id)
                continue
            self._report.loaded.append(id)
            self._report.unused.extend(source.unread())
            states.append(LoadedState(id, path, rank, state))
        self._tell(strict)
        return states

    def _state(self, id: ParamId, cls: type[S], source: StateSource, device: Device | None) -> S | None:
        state = cls.state_unflatten(str(id.val()), source, device)
        if state is None:
            return None
        rank = self.rank_of(id)
        wrong = _of_other_rank(_flat(state, str(id.val())), rank)
        if wrong:
            raise RecordValidationError(f"the parameter {id.val()} has rank {rank}, its state has {wrong}")
        return state

    def _sources(self) -> dict[int, StateSource]:
        """What belongs to each parameter, apart: a state looks through all names that it is given."""
        scalars: dict[int, dict[str, Scalar]] = {}
        for name, scalar in self._scalars.items():
            id = _id(name.partition(".")[0])
            if id is not None and name != f"{id}.{_RANK}":
                scalars.setdefault(id, {})[name] = scalar
        sources = {id: StateSource(scalars.get(id)) for id in self._ranks.keys() | scalars.keys()}
        for name, entry in self._entries.items():
            if entry.param_id is not None:
                sources.setdefault(entry.param_id, StateSource()).insert_tensor(name, entry.tensor)
        return sources

    def _of_nobody(self) -> list[str]:
        """Scalars of no parameter that has a rank."""
        return [name for name in self._scalars if _id(name.partition(".")[0]) not in self._ranks]

    def _tell(self, strict: bool) -> None:
        report = self._report
        assert report is not None, "made before it is told"
        skipped = [self.path_of(id) or str(id.val()) for id in report.skipped]
        found = {"not restored": skipped, "unused": report.unused}
        tell("optimizer", found, strict=strict, report=report)

    # ---- files

    def _content(self) -> tuple[Sequence[PackTensor], Mapping[str, str], Mapping[str, Scalar]]:
        return [entry.into_pack() for entry in self._entries.values()], self._metadata, self._scalars

    @classmethod
    def _read(cls, reader: Reader) -> Self:
        record = cls()
        views = map(reader.view, reader.keys())
        record._entries = {view.name: Entry(view.name, view, view.param_id) for view in views}
        record._scalars = reader.scalars()
        record._metadata = reader.metadata()
        record._ranks = _ranks(record._entries, record._scalars)
        return record

    def __repr__(self) -> str:
        return f"OptimizerRecord({len(self._entries)} tensors, {len(self._scalars)} scalars)"


def _flat(state: RecordState, prefix: str) -> StateSink:
    sink = StateSink()
    state.state_flatten(prefix, sink)
    return sink


def _of_other_rank(sink: StateSink, rank: int) -> str:
    """The first tensor that has not the rank, as a text; empty if all have."""
    return next(
        (f"{name} of shape {tensor.shape}" for name, tensor in sink.tensors.items() if tensor.ndim != rank),
        "",
    )


def _ranks(entries: Mapping[str, Entry], scalars: Mapping[str, Scalar]) -> dict[int, int]:
    """The ranks of all parameters: as recorded, else those of their first tensors by name."""
    ranks: dict[int, int] = {}
    for name, scalar in scalars.items():
        key, _, leaf = name.rpartition(".")
        if leaf == _RANK and (id := _id(key)) is not None and (rank := _whole(scalar)) is not None:
            ranks[id] = rank
    for name in sorted(entries):
        entry = entries[name]
        if entry.param_id is not None:
            ranks.setdefault(entry.param_id, len(entry.shape))
    return ranks


def _id(text: str) -> int | None:
    # Python refuses to read thousands of digits.
    is_short = len(text) <= 20 and text.isascii() and text.isdigit()
    return int(text) if is_short and int(text) < 2**64 else None


def _whole(scalar: Scalar) -> int | None:
    try:
        return int(scalar.to("u64"))
    except ScalarConversionError:
        return None
