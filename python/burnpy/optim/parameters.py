"""The parameters of floats of a module, found once and kept as long as the module stays as it is."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from operator import is_
from typing import TYPE_CHECKING, Any

from burnpy.module import Param
from burnpy.module.traversal import children, parts

if TYPE_CHECKING:
    from burnpy._core import Cell
    from burnpy.module import Module, ParamId

__all__ = ["Parameters", "parameters_of"]

# How many modules are remembered: as many replicas as may train in one process.
_REMEMBERED = 32
_known: dict[int, tuple[weakref.ref[Any], Parameters]] = {}


def parameters_of(module: Module | Param) -> Parameters:
    """The parameters of floats of a module; the same object again if nothing changed since.

    Cost: some 20 ns for each field in the module and below; the first time, and after a change, a walk. Undrawn
    parameters are drawn.

    Raises:
        TypeError: it is no module.
        ValueError: two parameters have one id, and the second is to be trained too.

    Example:
        >>> from burnpy import Tensor
        >>> param = Param.from_tensor(Tensor([1.0]))
        >>> parameters_of(param).params == [param], parameters_of(param) is parameters_of(param)
        (True, True)
    """
    key = id(module)
    found = _known.get(key)
    if found is not None and found[1].is_current(module):
        return found[1]
    if not (isinstance(module, Param) or hasattr(type(module), "_burnpy_module")):
        raise TypeError(f"module must be a Module, got {module!r}")
    while len(_known) >= _REMEMBERED:
        _known.pop(next(iter(_known)), None)
    parameters = Parameters(module)
    _known[key] = (weakref.ref(module, _forgetting(key)), parameters)
    return parameters


def _forgetting(key: int) -> Callable[[object], None]:
    """What forgets a module when it goes."""
    # Held here: at the end of the interpreter the module's own names may be gone first.
    known = _known

    def forget(_: object) -> None:
        known.pop(key, None)

    return forget


class Parameters:
    """Parameters of floats in visit order, each once, also one that is met on several paths.

    Attributes:
        params: the parameters.
        paths: where each was met first.
        keys: their ids as numbers.
        ids: their ids.
        cells: where their values are kept.
    """

    def __init__(self, module: Module | Param) -> None:
        walk = _Walk(module)
        self._structure = _Structure(module, walk)
        found: dict[int, tuple[str, Param]] = {}
        for path, param in zip(walk.paths, walk.params, strict=True):
            if param.cell.get().kind == "float":
                first, one = found.setdefault(param.id.val(), (path, param))
                if one is not param and param.active:
                    # Unlike Burn: which never trains the second one, and says nothing.
                    raise ValueError(
                        f"the parameters {first} and {path} have one id: copies of a module keep its ids; make each "
                        "by init(), give a copy a ParamId.new(), or tie them as one object"
                    )
        self.keys = list(found)
        self.paths = [path for path, _ in found.values()]
        self.params = [param for _, param in found.values()]
        self.cells: list[Cell] = [param.cell for param in self.params]
        self._walked = walk.params
        self._ids: list[ParamId] = [param.id for param in walk.params]
        self._reparams = [param.reparam for param in walk.params]

    @property
    def ids(self) -> list[ParamId]:
        """Their ids."""
        return [param.id for param in self.params]

    def is_current(self, module: Module | Param) -> bool:
        """Whether the module, which must be the one that this was made of, still consists of what it did."""
        # A parameter that is drawn keeps its cell, so cells need no look.
        return (
            [param.id for param in self._walked] == self._ids
            and all(map(is_, [param.reparam for param in self._walked], self._reparams))
            and self._structure.is_current(module)
        )


class _Walk:
    """Parameters with their paths, and what on the way can be given other parts, without the root."""

    def __init__(self, root: object) -> None:
        self.paths: list[str] = []
        self.params: list[Param] = []
        self.containers: list[object] = []
        for path, value in parts(root):
            if isinstance(value, Param):
                self.paths.append(path)
                self.params.append(value)
            elif value is not root and _is_container(value):
                self.containers.append(value)


class _Structure:
    """What the root and the containers below it hold, compared by identity. The root itself is not kept alive."""

    def __init__(self, root: object, walk: _Walk) -> None:
        self._containers = walk.containers
        self._parts = self._parts_of(root)
        self._take(root)

    def is_current(self, root: object) -> bool:
        if self._measure() == self._lengths and all(map(is_, self._flat(), self._items)):
            return True
        # Fields that are no part, such as counters, may have changed.
        if self._parts_of(root) != self._parts:
            return False
        self._take(root)
        return True

    def _take(self, root: object) -> None:
        fields = [_fields(value) for value in (root, *self._containers)]
        self._dicts = [each for each in fields if isinstance(each, dict)]
        self._lists = [each for each in fields if not isinstance(each, dict)]
        self._items = list(self._flat())
        # Lists without parts may get one. Their length is looked at alone: they may hold a million numbers.
        known = {id(each) for each in fields}
        self._others = [
            each for each in self._items if isinstance(each, list | dict) and id(each) not in known
        ]
        self._lengths = self._measure()

    def _flat(self) -> Iterable[Any]:
        return chain(chain.from_iterable(map(dict.values, self._dicts)), chain.from_iterable(self._lists))

    def _measure(self) -> list[int]:
        return [*map(len, self._dicts), *map(len, self._lists), *map(len, self._others)]

    def _parts_of(self, root: object) -> list[list[tuple[str, int]]]:
        # By address: all parts but the root are kept alive by `_containers` and `_items`.
        return [[(name, id(part)) for name, part in children(value)] for value in (root, *self._containers)]


def _is_container(value: object) -> bool:
    return isinstance(value, dict | list | tuple) or hasattr(type(value), "_burnpy_module")


def _fields(value: object) -> dict[Any, Any] | Sequence[Any]:
    if isinstance(value, dict | list | tuple):
        return value
    return () if isinstance(value, Param) else vars(value)
