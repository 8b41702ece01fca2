"""What the tests know of one public operation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import burnpy
import burnpy.tensor
from burnpy.testing import Drawn
from burnpy.testing.check_op import FLOATS, INTS, SIGNED

Shape = tuple[int, ...]
Cases = Sequence[Shape | tuple[Shape, ...]]

INT = Drawn("int", low=-5, high=6)
NATURAL = Drawn("int", low=0, high=6)
BOOL = Drawn("bool")
STEPPED = Drawn(step=0.5)
DISTINCT = Drawn(distinct=True)
POSITIVE = Drawn(low=0.2, high=2.0)

# The sizes 0 and 1 among them, one that no vector's width divides, and one over several chunks of vectors.
ONE: Cases = [(), (0,), (1,), (7,), (2, 3, 4), (3, 0, 2), (5, 1, 33)]
PAIR: Cases = [
    ((3,), (3,)), ((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (1, 3, 1)), ((4, 1), (3,)), ((5,), (2, 5)), ((2, 0), (1, 0)),
    ((1,), (1,)), ((), (3,)), ((5, 33), (5, 33)),
]  # fmt: skip
AXES: Cases = [(2, 3, 4), (1, 3), (4, 1), (3, 5, 17)]
LARGE_ONE: tuple[Shape, ...] = ((257, 1031),)
LARGE_PAIR: tuple[Shape, ...] = ((257, 1031), (257, 1031))


@dataclass(frozen=True)
class Operation:
    """One operation with one kind of input: how it is called, what NumPy has for it, and what it is tried with.

    ``name`` is that of a method of `Tensor`, or ``module.function`` below `burnpy.tensor`. It is called with the
    inputs, ``args`` and ``options``, or by ``call``; the reference takes the inputs alone. ``large`` are shapes of one
    case that is worth several threads.
    """

    name: str
    reference: Callable[..., Any]
    shapes: Cases = field(default_factory=lambda: ONE)
    inputs: Drawn | Sequence[Drawn] | None = None
    args: tuple[Any, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    call: Callable[..., Any] | None = None
    dtypes: Sequence[str] = FLOATS
    gradient: bool = True
    keeps_dtype: bool = True
    same_bits: bool = True
    rel: float = 1.0
    large: tuple[Shape, ...] | None = None
    note: str = ""

    def __str__(self) -> str:
        return f"{self.name}-{self.note}" if self.note else self.name

    def run(self, *tensors: Any) -> Any:
        if self.call is not None:
            return self.call(*tensors)
        return self.function()(*tensors, *self.args, **self.options)

    def function(self) -> Any:
        """What the name says."""
        place, _, name = self.name.rpartition(".")
        if not place:
            return getattr(burnpy.Tensor if hasattr(burnpy.Tensor, name) else burnpy.tensor, name)
        return getattr(import_module(f"burnpy.tensor.{place}"), name)

    def draws(self, count: int) -> list[Drawn]:
        if self.inputs is None or isinstance(self.inputs, Drawn):
            return [self.inputs or Drawn()] * count
        return list(self.inputs)


def unary(name: str, reference: Callable[..., Any], inputs: Any = None, **rest: Any) -> Operation:
    """An operation of each element of a tensor of floats."""
    return Operation(name, reference, **{"shapes": ONE, "inputs": inputs, "large": LARGE_ONE} | rest)


def pair(name: str, reference: Callable[..., Any], inputs: Any = None, **rest: Any) -> Operation:
    """An operation of pairs of elements of two tensors of floats, which broadcast."""
    return Operation(name, reference, **{"shapes": PAIR, "inputs": inputs, "large": LARGE_PAIR} | rest)


def ints(operation: Operation, inputs: Any = INT, dtypes: Sequence[str] = SIGNED, **rest: Any) -> Operation:
    """The same operation with integers; those that are not negative have all dtypes."""
    return _other(operation, "ints", inputs, dtypes, **rest)


def naturals(operation: Operation, inputs: Any = NATURAL, **rest: Any) -> Operation:
    return _other(operation, "naturals", inputs, INTS, **rest)


def bools(operation: Operation, inputs: Any = BOOL, **rest: Any) -> Operation:
    return _other(operation, "bools", inputs, ["bool"], **rest)


def _other(operation: Operation, note: str, inputs: Any, dtypes: Sequence[str], **rest: Any) -> Operation:
    note = f"{operation.note}-{note}" if operation.note else note
    changes = {"inputs": inputs, "dtypes": dtypes, "gradient": False, "note": note} | rest
    return Operation(**{**vars(operation), **changes})
