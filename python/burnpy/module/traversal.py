"""What a module consists of, in the order of its record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from burnpy.module.flag import Flag
from burnpy.module.param import Param
from burnpy.module.running_state import RunningState

__all__ = ["Leaf", "children", "container_type", "is_part", "leaves", "parts", "rebuilt"]

Leaf = Param | RunningState | Flag
"""Where a walk ends."""


_MAX_DEPTH = 500


def is_part(value: object) -> bool:
    """Whether a field belongs to the module, and is not a mere number, text or tensor."""
    if isinstance(value, Param | RunningState | Flag) or hasattr(type(value), "_burnpy_module"):
        return True
    if isinstance(value, list | tuple):
        return any(is_part(item) for item in value)
    if isinstance(value, set | frozenset) and any(is_part(item) for item in value):
        raise TypeError("a set of modules has no order that a record could have; use a list or a dictionary")
    return isinstance(value, dict) and any(is_part(item) for item in value.values())


def container_type(value: object) -> str:
    """What a name is part of, in the words that visitors are given."""
    if isinstance(value, dict):
        return "Dict"
    if isinstance(value, tuple):
        return "Tuple"
    if isinstance(value, list):
        return "Array" if type(value).__name__ == "ArrayModule" else "Vec"
    kind = getattr(type(value), "_burnpy_module", "Struct")
    return f"{kind}:{type(value).__name__}"


def children(value: object) -> Iterator[tuple[str, object]]:
    """Names and values of the parts, in order."""
    if isinstance(value, dict):
        named: Iterator[tuple[str, object]] = ((_key(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        named = ((str(i), item) for i, item in enumerate(value))
    elif isinstance(value, Param):
        named = iter([] if value.reparam is None else [(value.reparam.name, value.reparam)])
    elif hasattr(type(value), "_burnpy_module"):
        kind: Any = type(value)
        renamed, skipped = kind._path_names, kind._skipped
        named = ((renamed.get(name, name), item) for name, item in vars(value).items() if name not in skipped)
    else:
        named = iter(())
    return ((name, item) for name, item in named if is_part(item))


def _key(key: object) -> str:
    if not isinstance(key, str) or "." in key or not key:
        raise ValueError(f"a dictionary of modules has text keys without dots, got {key!r}")
    return key


def parts(root: object) -> Iterator[tuple[str, object]]:
    """Paths and parts, the root and containers included, depth first, in the order of declaration.

    Raises:
        RecursionError: modules are nested more than 500 deep, as when one holds itself.
    """
    stack: list[tuple[str, object]] = [("", root)]
    while stack:
        path, value = stack.pop()
        if path.count(".") >= _MAX_DEPTH:
            raise RecursionError(f"modules are nested more than {_MAX_DEPTH} deep: does one hold itself?")
        yield path, value
        below = [(f"{path}.{name}" if path else name, child) for name, child in children(value)]
        stack.extend(reversed(below))


def leaves(root: object) -> Iterator[tuple[str, Leaf]]:
    """Those of :func:`parts` where a walk ends. A tied parameter comes under each of its paths."""
    return ((path, part) for path, part in parts(root) if isinstance(part, Leaf))


def rebuilt(
    value: Any, leaf: Callable[[str, Leaf], Leaf], path: str = "", memo: dict[int, Any] | None = None
) -> Any:
    """The same structure with other leaves; what is no part of it is shared. Ties stay tied."""
    memo = {} if memo is None else memo
    if id(value) in memo:
        return memo[id(value)]
    below = {name for name, _ in children(value)}

    def child(name: str, item: Any) -> Any:
        return rebuilt(item, leaf, f"{path}.{name}" if path else name, memo) if name in below else item

    copy: Any
    if isinstance(value, Param | RunningState | Flag):
        copy = leaf(path, value)
        if isinstance(value, Param) and isinstance(copy, Param) and value.reparam is not None:
            # The base went through the leaf as any other parameter; what hangs on it goes on hanging there.
            copy = copy.clone() if copy is value else copy
            copy.reparam = child(value.reparam.name, value.reparam)
    elif isinstance(value, dict):
        copy = type(value)((key, child(key, item)) for key, item in value.items())
    elif isinstance(value, list | tuple):
        items = [child(str(i), item) for i, item in enumerate(value)]
        copy = type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    elif hasattr(type(value), "_burnpy_module"):
        copy = object.__new__(type(value))
        memo[id(value)] = copy
        renamed = type(value)._path_names
        vars(copy).update((name, child(renamed.get(name, name), item)) for name, item in vars(value).items())
    else:
        return value
    memo[id(value)] = copy
    # Keeps the original alive while the memo knows its address.
    memo[id(memo)] = (memo.get(id(memo)), value)
    return copy
