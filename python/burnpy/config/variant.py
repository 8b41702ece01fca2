"""Choices that carry values: what an enum with fields is in Rust."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, dataclass_transform

__all__ = ["Variants"]


@dataclass_transform(frozen_default=True)
class Variants:
    """Base of a choice. Its variants are nested classes of it, frozen dataclasses of what they carry.

    Written as Burn's JSON writes enums: a variant without fields as its name, one with a field called ``value`` as
    ``{name: value}``, any other as ``{name: {field: value}}``. A class that sets ``as_list`` is written as a list of
    its values instead, and one that sets ``as_object`` also names a single ``value``.

    A variant says what it is one ``of``; where the class itself is named otherwise, its ``name`` in Python and JSON.

    Example:
        >>> class Shape(Variants):
        ...     pass
        >>> class Circle(Shape, of=Shape):
        ...     radius: float
        >>> Shape.Circle(2.0)
        Shape.Circle(radius=2.0)
        >>> Shape.variants()
        {'Circle': <class 'burnpy.config.variant.Shape.Circle'>}
    """

    as_list: ClassVar[bool] = False
    as_object: ClassVar[bool] = False
    _variants: ClassVar[dict[str, type[Any]]]

    def __init_subclass__(
        cls, *, of: type[Variants] | None = None, name: str | None = None, **kwargs: Any
    ) -> None:
        super().__init_subclass__(**kwargs)
        if of is None:
            cls._variants = {}
            return
        cls.__name__ = name = name or cls.__name__
        cls.__qualname__ = f"{of.__qualname__}.{name}"
        dataclass(frozen=True)(cls)
        of._variants[name] = cls
        setattr(of, name, cls)

    def __post_init__(self) -> None:
        from burnpy.config.codec import check_fields  # that module knows this one

        check_fields(self)

    @classmethod
    def variants(cls) -> dict[str, type[Any]]:
        """The variants by name, in the order of their declaration."""
        return dict(cls._variants)
