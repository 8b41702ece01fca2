"""States as flat names with tensors and scalars: what optimizers, schedulers and metrics keep in files."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias, Union, dataclass_transform

from burnpy._core import Device, Tensor
from burnpy.pack import Scalar, ScalarConversionError

__all__ = [
    "Bool",
    "Float",
    "Int",
    "RecordState",
    "StateSink",
    "StateSource",
    "UInt",
    "join_index",
    "join_path",
]

UInt: TypeAlias = Annotated[int, ("UInt", "u64")]
"""A scalar from 0 to 2⁶⁴ − 1: counters."""
Int: TypeAlias = Annotated[int, ("Int", "i64")]
"""A scalar from −2⁶³ to 2⁶³ − 1."""
Float: TypeAlias = Annotated[float, ("Float", "f64")]
"""A scalar of 64 bits."""
Bool: TypeAlias = Annotated[bool, ("Bool", "bool")]
"""A scalar that is true or false."""


def join_path(prefix: str, leaf: str) -> str:
    """The name of a leaf below a prefix; below an empty one it is the leaf's own.

    Example:
        >>> join_path("7.momentum", "time"), join_path("", "time")
        ('7.momentum.time', 'time')
    """
    return f"{prefix}.{leaf}" if prefix else leaf


def join_index(prefix: str, index: int) -> str:
    """The name of an item below a prefix.

    Example:
        >>> join_index("history", 3)
        'history.3'
    """
    return join_path(prefix, str(index))


class StateSink:
    """Where a state is written to.

    Attributes:
        tensors: by name, in the order in which they came.
        scalars: by name, in the order in which they came.
    """

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.scalars: dict[str, Scalar] = {}

    def push_tensor(self, prefix: str, leaf: str, tensor: Tensor) -> None:
        """Take a tensor, without its graph.

        Raises:
            ValueError: the name is taken.
        """
        self.tensors[self._free(join_path(prefix, leaf))] = tensor.inner()

    def push_scalar(self, prefix: str, leaf: str, scalar: Scalar | bool | int | float) -> None:
        """Take a scalar.

        Raises:
            ValueError: the name is taken.
        """
        name = self._free(join_path(prefix, leaf))
        self.scalars[name] = scalar if isinstance(scalar, Scalar) else Scalar(scalar)

    def _free(self, name: str) -> str:
        if name in self.tensors or name in self.scalars:
            raise ValueError(f"a state has two leaves of the name {name!r}")
        return name


class StateSource:
    """Where a state is read from. Tensors are taken out when they are read, scalars stay.

    Args:
        scalars: by name.
        tensors: by name; a function is called when its tensor is asked for.

    Example:
        >>> source = StateSource({"p.time": Scalar.uint(3)}, {"p.moment": Tensor([1.0])})
        >>> source.take_scalar("p", "time").value, source.has_under("p"), source.unread()
        (3, True, ['p.moment'])
    """

    def __init__(
        self,
        scalars: Mapping[str, Scalar] | None = None,
        tensors: Mapping[str, Tensor | Callable[[], Tensor]] | None = None,
    ) -> None:
        self._scalars = dict(scalars or {})
        self._tensors = dict(tensors or {})
        self._read: set[str] = set()

    def insert_tensor(self, name: str, tensor: Tensor | Callable[[], Tensor]) -> None:
        """Have a tensor, or a function that makes it, under a name."""
        self._tensors[name] = tensor

    def take_tensor(self, prefix: str, leaf: str) -> Tensor | None:
        """The tensor of a leaf, which is not here any more then; ``None`` if it is missing."""
        found = self._tensors.pop(join_path(prefix, leaf), None)
        return found if found is None or isinstance(found, Tensor) else found()

    def take_scalar(self, prefix: str, leaf: str) -> Scalar | None:
        """The scalar of a leaf; ``None`` if it is missing."""
        name = join_path(prefix, leaf)
        self._read.add(name)
        return self._scalars.get(name)

    def has_under(self, prefix: str) -> bool:
        """Whether a scalar, or a tensor that was not taken, lies below a prefix; any at all if it is empty."""
        start = f"{prefix}." if prefix else ""
        return any(name.startswith(start) for names in (self._tensors, self._scalars) for name in names)

    def unread(self) -> list[str]:
        """Names that nobody asked for: tensors, then scalars."""
        return [*self._tensors, *(name for name in self._scalars if name not in self._read)]


@dataclass_transform(eq_default=False)
class RecordState:
    """Base of states that files hold: named fields, in the order of the file.

    A subclass declares them by annotations, and is a dataclass by that: ``Tensor``, ``list[Tensor]``, a scalar
    (:data:`UInt`, :data:`Int`, :data:`Float`, :data:`Bool`), another ``RecordState``, and each but a list also
    ``| None``.

    Raises:
        TypeError: a field has another type; told at first use.

    Example:
        >>> class Momentum(RecordState):
        ...     time: UInt
        ...     moment: Tensor
        ...     max_moment: Tensor | None = None
        >>> sink = StateSink()
        >>> Momentum(3, Tensor([0.5])).state_flatten("7.momentum", sink)
        >>> sink.scalars, list(sink.tensors)
        ({'7.momentum.time': Scalar(3, 'UInt')}, ['7.momentum.moment'])
        >>> Momentum.state_unflatten("7.momentum", StateSource(sink.scalars, sink.tensors)).time
        3

    Source: Burn ``RecordState``.
    """

    _burnpy_fields: ClassVar[tuple[_Field, ...]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _evaluate(cls, sys._getframe(1))
        dataclasses.dataclass(eq=False)(cls)

    def state_flatten(self, prefix: str, sink: StateSink) -> None:
        """Write all leaves, named ``prefix.field``, in the order of declaration; an absent one writes nothing.

        Raises:
            ValueError: a name is taken.
            ScalarConversionError, OverflowError: a scalar does not fit its type.
        """
        for field in _fields(type(self)):
            value = getattr(self, field.name)
            if value is not None:
                field.write(value, prefix, sink)
            elif not field.optional:
                raise TypeError(f"{type(self).__name__}.{field.name} must be set, got None")

    @classmethod
    def state_unflatten(cls, prefix: str, source: StateSource, device: Device | None = None) -> Self | None:
        """The state of a source, or ``None`` if a leaf is missing or a scalar does not fit its type.

        Optional leaves are ``None`` then. Tensors keep their dtype, and are on ``device``, by default where they were.

        Unlike Burn: which reads tensors in the default dtype of floats, so that a state in f64 loses digits.
        """
        values: dict[str, Any] = {}
        for field in _fields(cls):
            value = field.read(prefix, source, device)
            if value is None and not field.optional:
                return None
            values[field.name] = value
        return cls(**values)


def _evaluate(cls: type[RecordState], frame: types.FrameType) -> None:
    """Evaluate annotations that are texts where the class stands, which may be a function; the rest at first use."""
    annotations = inspect.get_annotations(cls)
    for name, text in annotations.items():
        if isinstance(text, str):
            with suppress(NameError):
                annotations[name] = eval(text, frame.f_globals, frame.f_locals)
    cls.__annotations__ = annotations


@dataclasses.dataclass(frozen=True)
class _Field:
    """A declared field: its name, what it holds, and whether it may be absent."""

    name: str
    kind: Literal["tensor", "tensors", "scalar", "state"]
    optional: bool
    # Of a scalar: its kind in the file, and the type to read it as. Of a state: its class.
    of: Any

    def write(self, value: Any, prefix: str, sink: StateSink) -> None:
        if self.kind == "tensor":
            sink.push_tensor(prefix, self.name, value)
        elif self.kind == "scalar":
            sink.push_scalar(prefix, self.name, Scalar(value, self.of[0]))
        elif self.kind == "state":
            value.state_flatten(join_path(prefix, self.name), sink)
        else:
            path = join_path(prefix, self.name)
            sink.push_scalar(path, "len", Scalar.uint(len(value)))
            for i, tensor in enumerate(value):
                sink.push_tensor(path, str(i), tensor)

    def read(self, prefix: str, source: StateSource, device: Device | None) -> Any:
        path = join_path(prefix, self.name)
        if self.kind == "tensor":
            return _placed(source.take_tensor(prefix, self.name), device)
        if self.kind == "scalar":
            return _number(source.take_scalar(prefix, self.name), self.of[1])
        if self.kind == "state":
            if self.optional and not source.has_under(path):
                return None
            return self.of.state_unflatten(path, source, device)
        return _list(path, source, device)


def _placed(tensor: Tensor | None, device: Device | None) -> Tensor | None:
    if tensor is None or device is None:
        return tensor
    return tensor.autodiff() if device.is_autodiff() else tensor.inner()


def _number(scalar: Scalar | None, wanted: str) -> bool | int | float | None:
    try:
        return None if scalar is None else scalar.to(wanted)
    except ScalarConversionError:
        return None


def _list(path: str, source: StateSource, device: Device | None) -> list[Tensor] | None:
    length = _number(source.take_scalar(path, "len"), "u64")
    if length is None:
        return None
    tensors: list[Tensor] = []
    # Ends at the first that is missing: the length is a number from a file, and nothing is allocated after it.
    while len(tensors) < length:
        tensor = _placed(source.take_tensor(path, str(len(tensors))), device)
        if tensor is None:
            return None
        tensors.append(tensor)
    return tensors


def _fields(cls: type[RecordState]) -> tuple[_Field, ...]:
    # Kept by the class itself, not by those that it is derived from.
    if "_burnpy_fields" not in vars(cls):
        cls._burnpy_fields = tuple(_declared(cls))
    return cls._burnpy_fields


def _declared(cls: type[RecordState]) -> Iterator[_Field]:
    annotations = typing.get_type_hints(cls, include_extras=True)
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        annotation, optional = _without_none(annotations[field.name])
        kind, of = _kind(annotation)
        if kind is None or (kind == "tensors" and optional):
            raise TypeError(f"{cls.__name__}.{field.name}: a state has no fields of type {field.type}")
        yield _Field(field.name, kind, optional, of)


def _without_none(annotation: Any) -> tuple[Any, bool]:
    if typing.get_origin(annotation) not in (Union, types.UnionType):
        return annotation, False
    others = [part for part in typing.get_args(annotation) if part is not type(None)]
    return (others[0], True) if len(others) == 1 else (annotation, False)


def _kind(annotation: Any) -> tuple[Literal["tensor", "tensors", "scalar", "state"] | None, Any]:
    if annotation is Tensor:
        return "tensor", None
    if typing.get_origin(annotation) is list and typing.get_args(annotation) == (Tensor,):
        return "tensors", None
    if annotation in (UInt, Int, Float, Bool):
        return "scalar", typing.get_args(annotation)[1]
    if isinstance(annotation, type) and issubclass(annotation, RecordState):
        return "state", annotation
    return None, None
