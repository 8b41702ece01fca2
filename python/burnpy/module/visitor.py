"""What walks over a module."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnpy.module.flag import Flag
    from burnpy.module.param import Param

__all__ = ["ModuleMapper", "ModuleVisitor"]


class ModuleVisitor:
    """Base of what looks at every parameter of a module, in the order of its record. Override what is of interest.

    ``enter_module`` and ``exit_module`` are called around every field, list item and variant, with its name and what
    it is part of (``"Struct:Linear"``, ``"Vec"``, ``"Tuple"``, ``"Array"``, ``"Enum:Name"``, ``"Dict"``).

    Example:
        >>> class Shapes(ModuleVisitor):
        ...     def __init__(self):
        ...         self.found = []
        ...     def visit_float(self, param):
        ...         self.found.append(param.lazy_shape())

    Source: Burn ``module::ModuleVisitor``.
    """

    def visit_float(self, param: Param) -> None:
        """A parameter of floats, running statistics included."""

    def visit_int(self, param: Param) -> None:
        """A parameter of integers."""

    def visit_bool(self, param: Param) -> None:
        """A parameter of booleans."""

    def visit_flag(self, flag: Flag) -> None:
        """A switch."""

    def enter_module(self, name: str, container_type: str) -> None:
        """What follows lies under this name."""

    def exit_module(self, name: str, container_type: str) -> None:
        """The end of what :meth:`enter_module` began."""


class ModuleMapper:
    """Base of what makes another module of a module, parameter by parameter. Override what is to change.

    Example:
        >>> class Doubled(ModuleMapper):
        ...     def map_float(self, param):
        ...         return param.map(lambda value: value * 2.0)

    Source: Burn ``module::ModuleMapper``.
    """

    def map_float(self, param: Param) -> Param:
        """What a parameter of floats becomes."""
        return param

    def map_int(self, param: Param) -> Param:
        """What a parameter of integers becomes."""
        return param

    def map_bool(self, param: Param) -> Param:
        """What a parameter of booleans becomes."""
        return param

    def map_flag(self, flag: Flag) -> Flag:
        """What a switch becomes."""
        return flag

    def enter_module(self, name: str, container_type: str) -> None:
        """What follows lies under this name."""

    def exit_module(self, name: str, container_type: str) -> None:
        """The end of what :meth:`enter_module` began."""
