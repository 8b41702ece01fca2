"""Which part of a checkpoint is the model, and which parts of its names are wrapping."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from burnpy.errors import CheckpointError

if TYPE_CHECKING:
    from burnpy.store.archive import Archive

__all__ = ["Chosen", "choose", "find_layout"]

# What training scripts call the state of the model, the surest first.
_KEYS = ("state_dict", "model_state_dict", "model")
# Wrappers that put themselves in front of every name: DataParallel and its kin, and torch.compile.
_PARALLEL = "module"
_COMPILED = "_orig_mod"
_MAX_NESTED = 4
_SHOWN_KEYS = 20


@dataclass(frozen=True)
class Chosen:
    """Which part of a checkpoint is shown, and under which names.

    Attributes:
        top_level_key: the key whose tensors are shown, or ``None``: all of them.
        stripped: wrappers that were taken off the names: ``"module."``, ``"_orig_mod."``.
        left_out: full names of the tensors that are not shown.
        names: names as shown to full names.

    Example:
        >>> print(Chosen("state_dict", ("module.",), ("ema.w",), {"w": "state_dict.module.w"}))
        1 tensor of 'state_dict', names without 'module.'; 1 outside of it
    """

    top_level_key: str | None
    stripped: tuple[str, ...]
    left_out: tuple[str, ...]
    names: dict[str, str]

    def __str__(self) -> str:
        text = f"{len(self.names)} tensor{'' if len(self.names) == 1 else 's'}"
        if self.top_level_key is not None:
            text += f" of {self.top_level_key!r}"
        if self.stripped:
            text += f", names without {' and '.join(map(repr, self.stripped))}"
        return text + (f"; {len(self.left_out)} outside of it" if self.left_out else "")


def choose(archive: Archive, key: str) -> Chosen:
    """The tensors below a key, a dotted path allowed.

    Raises:
        CheckpointError: of the kind ``missing key`` if nothing is below the key; the message lists the keys.
    """
    full = archive.keys()
    below = f"{key}."
    names = {name.removeprefix(below): name for name in full if name.startswith(below)}
    if not names:
        tops = list(dict.fromkeys(name.partition(".")[0] for name in full))
        listed = ", ".join(map(repr, tops[:_SHOWN_KEYS])) + (", …" if len(tops) > _SHOWN_KEYS else "")
        message = f"{archive.path}: no tensor is below the key {key!r}; there are {listed or 'none'}"
        raise CheckpointError(message, kind="missing key", path=archive.path)
    return Chosen(key, (), _left_out(full, names.values()), names)


def find_layout(archive: Archive) -> Chosen | None:
    """The model inside a training script's checkpoint, without what wraps it; ``None`` if nothing wraps it."""
    full = archive.keys()
    key = _find_key(archive, full)
    names = choose(archive, key).names if key is not None else {name: name for name in full}
    stripped: list[str] = []
    for wrapper, strip in ((_COMPILED, _without_compiled), (_PARALLEL, _without_parallel)):
        # A model that was compiled and then made parallel has both, in either order: the second look finds it.
        names = _stripped(names, wrapper, strip, stripped)
    if key is None and not stripped:
        return None
    return Chosen(key, tuple(stripped), _left_out(full, names.values()), names)


def _find_key(archive: Archive, full: Sequence[str]) -> str | None:
    """The path of keys to the model's state, as far as keys of a known name lead."""
    path: list[str] = []
    while len(path) < _MAX_NESTED:
        keys = archive.dict_keys(path)
        below = "".join(f"{key}." for key in path)
        inside = [name.removeprefix(below) for name in full if name.startswith(below)]
        # A dict with a tensor among its values is a model's state already.
        if keys is None or not set(keys).isdisjoint(inside):
            break
        tops = {name.partition(".")[0] for name in inside}
        found = [key for key in _KEYS if key in tops and archive.has_names_below([*path, key])]
        if not found:
            break
        path.append(found[0])
    return ".".join(path) or None


def _stripped(
    names: dict[str, str], wrapper: str, strip: Callable[[str], str], stripped: list[str]
) -> dict[str, str]:
    shorter = {strip(name): full for name, full in names.items()}
    wrapped = all(strip(name) != name for name in names) if wrapper == _PARALLEL else True
    if not names or not wrapped or len(shorter) != len(names) or shorter.keys() == names.keys():
        return names
    stripped.append(f"{wrapper}.")
    return shorter


def _without_compiled(name: str) -> str:
    """Without torch.compile's part, which stands wherever a part of the model was compiled."""
    return ".".join(part for part in name.split(".") if part != _COMPILED)


def _without_parallel(name: str) -> str:
    return name.removeprefix(f"{_PARALLEL}.")


def _left_out(full: Iterable[str], shown: Iterable[str]) -> tuple[str, ...]:
    kept = set(shown)
    return tuple(name for name in full if name not in kept)
