"""Modules that hold modules, beside Python's own lists, tuples and dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from burnpy.module.module import Module

__all__ = ["ArrayModule", "EnumModule"]

T = TypeVar("T")


class ArrayModule(list[T], Generic[T]):
    """A list of fixed length, as Rust's ``[T; N]``: recorded as a list, shown as an array.

    Example:
        >>> len(ArrayModule([1, 2]))
        2
    """

    def __init__(self, items: Iterable[T]) -> None:
        super().__init__(items)

    def append(self, item: T) -> None:
        """Refused: the length is fixed."""
        raise TypeError(f"an ArrayModule has a fixed length, here {len(self)}")

    extend = insert = pop = remove = clear = append  # type: ignore[assignment]


class EnumModule(Module):
    """A module that is one of several: its payload is an attribute named after the variant, part of every path.

    A subclass makes the choice in ``__init__``, by setting exactly one attribute.

    Raises:
        TypeError: more than one attribute is set.

    Example:
        >>> class Norm(EnumModule):
        ...     def __init__(self, kind, layer):
        ...         setattr(self, kind, layer)
        >>> Norm("Batch", None).variant
        'Batch'
    """

    def __setattr__(self, name: str, value: object) -> None:
        others = [other for other in vars(self) if other != name]
        if others:
            raise TypeError(
                f"{type(self).__name__} is {others[0]} already; an EnumModule has one variant, not {name} too"
            )
        super().__setattr__(name, value)

    @property
    def variant(self) -> str:
        """The name of the variant."""
        return next(iter(vars(self)))

    @property
    def payload(self) -> object:
        """What the variant carries."""
        return next(iter(vars(self).values()))
