"""How a module is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from burnpy.module.flag import Flag
from burnpy.module.param import Param
from burnpy.module.running_state import RunningState
from burnpy.module.traversal import is_part

__all__ = ["DisplaySettings", "display"]


@dataclass(frozen=True)
class DisplaySettings:
    """What ``str()`` of a module shows.

    Example:
        >>> DisplaySettings(show_param_id=True).indentation_size
        2

    Source: Burn ``module::DisplaySettings``.
    """

    show_param_id: bool = False
    show_all_attributes: bool = False
    show_num_parameters: bool = True
    new_line_after_attribute: bool = True
    indentation_size: int = 2
    level: int = 1


def display(value: object, settings: DisplaySettings) -> str:
    """The text of a module or of a field."""
    if isinstance(value, Param):
        shape, kind = list(value.lazy_shape()), value.kind
        id = f", id: {value.id}" if settings.show_param_id else ""
        return f"ParamTensor {{rank: {len(shape)}, shape: {shape}, kind: {kind}{id}}}"
    if isinstance(value, RunningState):
        return "RunningState"
    if isinstance(value, Flag):
        return str(value)
    if value is None:
        return "None"
    if isinstance(value, list | tuple) and is_part(value):
        return _display_list(value, settings)
    if isinstance(value, dict) and is_part(value):
        return _block("Dict", list(value.items()), settings, None)
    if hasattr(type(value), "_burnpy_module"):
        return _display_module(value, settings)
    return _debug(value)


def _display_module(module: object, settings: DisplaySettings) -> str:
    name = type(module).__name__
    content = None if settings.show_all_attributes else module.display_content()  # type: ignore[attr-defined]
    if content is not None:
        items: Sequence[tuple[str, object]] = [(key, _Plain(item)) for key, item in content]
        settings = replace(settings, new_line_after_attribute=False)
    elif getattr(type(module), "_burnpy_module", "") == "Enum":
        name = module.variant  # type: ignore[attr-defined]
        items = [("_0", item) for item in vars(module).values()]
    else:
        items = list(vars(module).items())
    params = module.num_params() if settings.show_num_parameters else 0  # type: ignore[attr-defined]
    return _block(name, items, settings, params)


@dataclass(frozen=True)
class _Plain:
    """A value that a module chose to show: floats without exponent or needless fraction, texts as they are."""

    value: object

    def text(self) -> str:
        if isinstance(self.value, float):
            plain = f"{Decimal(repr(self.value)):f}"
            return plain.rstrip("0").rstrip(".") if "." in plain else plain
        if isinstance(self.value, bool):
            return str(self.value).lower()
        if isinstance(self.value, list | tuple):
            return f"[{', '.join(_Plain(item).text() for item in self.value)}]"
        return str(self.value)


def _display_list(items: list[object] | tuple[object, ...], settings: DisplaySettings) -> str:
    if isinstance(items, tuple):
        name = f"({', '.join(f'L{i}' for i in range(len(items)))})"
    else:
        name = f"[0..{len(items)}]" if type(items).__name__ == "ArrayModule" else f"Vec<0..{len(items)}>"
    return _block(name, [(str(i), item) for i, item in enumerate(items)], settings, None)


def _block(
    name: str, items: Sequence[tuple[str, object]], settings: DisplaySettings, params: int | None
) -> str:
    inner = replace(settings, level=settings.level + 1)
    lines = [f"{key}: {_text(item, inner)}" for key, item in items]
    if not items:
        return name
    if params:
        lines.append(f"params: {params}")
    if not settings.new_line_after_attribute:
        return f"{name} {{{', '.join(lines)}}}"
    indent = " " * (settings.indentation_size * settings.level)
    outer = " " * (settings.indentation_size * (settings.level - 1))
    return f"{name} {{\n" + "".join(f"{indent}{line}\n" for line in lines) + f"{outer}}}"


def _text(item: object, settings: DisplaySettings) -> str:
    return item.text() if isinstance(item, _Plain) else display(item, settings)


def _debug(value: object) -> str:
    """A plain field, as Rust's debug form shows it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(_debug(item) for item in value)}]"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        shape = list(value.shape)
        return f"Tensor {{rank: {len(shape)}, shape: {shape}}}"
    return repr(value)
