"""Which modules a checkpoint's tensors belong to, guessed from names and shapes where there is no model to ask."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnpy.store.adapter import ModuleContext

__all__ = ["InferredContexts", "ModuleGuess", "infer_contexts"]

# Parameters that go with their module's type; others beside them (`weight_g`, `in_proj_weight`) are left alone.
_PARAMS = frozenset({"weight", "bias", "gamma", "beta", "running_mean", "running_var", "num_batches_tracked"})
_EMBEDDING_WORDS = frozenset({"emb", "wte", "wpe", "tok", "pos", "token", "position", "shared", "vocab"})
_PROJECTION_WORDS = frozenset({"proj", "projection", "linear", "fc", "dense", "out", "head"})
_UNCONVERTIBLE = (
    (r"in_proj_(weight|bias)", "attention's query, key and value in one tensor: it has to be split"),
    (r"[qkv]_proj_weight|bias_[kv]", "attention's projection outside of a Linear"),
    (r"(weight|bias)_(ih|hh|hr)_l\d+(_reverse)?", "a recurrent layer's gates in one tensor: they have to be split"),
    (r"weight_[gv]|original[01]", "a weight in two factors (weight norm): they have to be multiplied"),
)  # fmt: skip


@dataclass(frozen=True)
class ModuleGuess:
    """What a module is taken for, and why.

    Attributes:
        path: the module's path; empty for the root.
        module_type: as adapters want it (``Struct:Linear``), or ``None`` where it stays unknown.
        reason: what it was told by.
    """

    path: str
    module_type: str | None
    reason: str


@dataclass(frozen=True)
class InferredContexts:
    """What ``infer_contexts`` found.

    Attributes:
        contexts: name of a tensor to its module, for those whose module is known.
        guesses: every module that was looked at, in the order of the names.
        unconvertible: name of a tensor that no renaming or transposing carries over, to the reason.
    """

    contexts: dict[str, ModuleContext] = field(default_factory=dict)
    guesses: list[ModuleGuess] = field(default_factory=list)
    unconvertible: dict[str, str] = field(default_factory=dict)


def infer_contexts(shapes: Mapping[str, Sequence[int]]) -> InferredContexts:
    """Guess the module of every tensor of a checkpoint, in PyTorch's or in Burn's names.

    A module is what stands before the last dot of a name. The first rule that fits decides:

    1. ``running_mean`` and ``running_var`` are there: ``BatchNorm`` (an InstanceNorm that tracks looks the same).
    2. ``gamma`` or ``beta`` is there: ``LayerNorm`` with both, else ``RmsNorm``. These are Burn's own names.
    3. ``weight`` of one axis: with ``bias`` ``LayerNorm`` (GroupNorm looks the same, and is treated the same),
       without ``RmsNorm``. A single element without bias, or ``prelu`` in the name, is a PReLU and stays.
    4. ``weight`` of two axes: ``Linear`` if there is a ``bias``; else ``Embedding`` if the module's own name has
       ``embed`` in it or is made of a word like ``wte``, ``wpe``, ``tok``, ``pos``, ``shared``, and none like
       ``proj``, ``out``, ``head``; else ``Linear``.
    5. ``weight`` of three to five axes: ``Conv1d``, ``Conv2d``, ``Conv3d`` (transposed ones look the same).

    Whatever else a module holds has no context, so adapters leave it as it is. Attention's ``in_proj_weight``, the
    gates of recurrent layers and weight norms are told apart: no renaming carries them over.

    Args:
        shapes: names of tensors to their shapes.

    Example:
        >>> found = infer_contexts({"fc.weight": (5, 10), "fc.bias": (5,), "attn.in_proj_weight": (12, 4)})
        >>> found.contexts["fc.weight"].module_type(), found.guesses[0].reason
        ('Struct:Linear', 'weight of 2 axes with a bias')
        >>> list(found.unconvertible)
        ['attn.in_proj_weight']
    """
    modules: dict[str, dict[str, Sequence[int]]] = {}
    found = InferredContexts()
    for name, shape in shapes.items():
        path, _, param = name.rpartition(".")
        if param in _PARAMS:
            modules.setdefault(path, {})[param] = shape
        elif reason := _why_unconvertible(param):
            found.unconvertible[name] = reason
    for path, params in modules.items():
        _add_module(found, path, params)
    return found


def _add_module(found: InferredContexts, path: str, params: Mapping[str, Sequence[int]]) -> None:
    module, reason = _guess(path, params)
    module_type = f"Struct:{module}" if module else None
    found.guesses.append(ModuleGuess(path, module_type, reason))
    if module_type:
        context = ModuleContext((module_type,))
        found.contexts.update({f"{path}.{param}" if path else param: context for param in params})


def _guess(path: str, params: Mapping[str, Sequence[int]]) -> tuple[str | None, str]:
    if {"running_mean", "running_var"} <= params.keys():
        return "BatchNorm", "running_mean and running_var"
    if "gamma" in params or "beta" in params:
        both = {"gamma", "beta"} <= params.keys()
        return ("LayerNorm", "gamma and beta") if both else ("RmsNorm", "gamma or beta alone")
    if "weight" not in params:
        return None, f"no weight, only {', '.join(sorted(params))}"
    shape = params["weight"]
    has_bias = "bias" in params
    if len(shape) == 1:
        return _guess_of_one_axis(path, shape, has_bias)
    if len(shape) == 2:
        return _guess_of_two_axes(path, has_bias)
    if 3 <= len(shape) <= 5:
        return f"Conv{len(shape) - 2}d", f"weight of {len(shape)} axes"
    return None, f"weight of {len(shape)} axes"


def _guess_of_one_axis(path: str, shape: Sequence[int], has_bias: bool) -> tuple[str | None, str]:
    if has_bias:
        return "LayerNorm", "weight of 1 axis with a bias"
    if "prelu" in path.lower() or shape[0] == 1:
        return None, "a PReLU: its weight is alpha in Burn, which a mapping can name"
    return "RmsNorm", "weight of 1 axis without a bias"


def _guess_of_two_axes(path: str, has_bias: bool) -> tuple[str, str]:
    if has_bias:
        return "Linear", "weight of 2 axes with a bias"
    own = _own_name(path)
    words = set(re.split(r"[_\d]+", own))
    if ("embed" in own or words & _EMBEDDING_WORDS) and not words & _PROJECTION_WORDS:
        return "Embedding", f"weight of 2 axes, and {own!r} sounds like an embedding"
    return "Linear", "weight of 2 axes"


def _own_name(path: str) -> str:
    """The last part of a module's path that is no number, in lower case with words apart: ``tokEmb`` is ``tok_emb``."""
    named = [part for part in path.split(".") if not part.isdecimal()]
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", named[-1]).lower() if named else ""


def _why_unconvertible(param: str) -> str | None:
    return next((reason for pattern, reason in _UNCONVERTIBLE if re.fullmatch(pattern, param)), None)
