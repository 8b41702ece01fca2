"""Modules in the golden cases of `numerics`: made of their configuration, filled with the case's parameters, run."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnpy import Tensor, nn
from burnpy.config.codec import decode, json_key, ordered_fields
from burnpy.module import Module, RunningState
from tests.tensor.golden_numerics import Case, Inputs, Outputs, case_names, manifest

Run = Callable[[Any, Inputs], Outputs]
"""Computes the outputs of a case by name, of its module and its inputs."""


def operation(name: str, family: str = "modules") -> str:
    """What a case is about: the name of a module, mostly; some cases name a function too."""
    found: str = manifest()["families"][family]["cases"][name]["op"]
    return found.split(" / tensor.")[0]


def names_of(operations: Sequence[str], family: str = "modules") -> list[str]:
    """The cases about some operations."""
    return [name for name in case_names(family) if operation(name, family) in operations]


def config_of(cls: type[Any], values: Mapping[str, Any], unused: Sequence[str] = ()) -> Any:
    """A configuration of JSON values; what is not given has its default. Keys must be fields, or named as unused."""
    kinds = {json_key(cls, name): (name, kind) for name, kind in ordered_fields(cls)}
    assert set(values) <= set(kinds) | set(unused), f"{cls.__name__} has no {set(values) - set(kinds)}"
    return cls(
        **{kinds[key][0]: decode(value, kinds[key][1]) for key, value in values.items() if key in kinds}
    )


def fill(module: Module, values: Mapping[str, Tensor]) -> None:
    """Give a module its parameters, by path and in the form in memory. All are given, but for running states."""
    leaves = dict(module.named_params())
    assert set(values) <= set(leaves), f"{type(module).__name__} has no {set(values) - set(leaves)}"
    for path, leaf in leaves.items():
        if isinstance(leaf, RunningState):
            value = values.get(path)
            leaf.set_value(value if value is not None else leaf.value())
        else:
            leaf.set_base(values[path])


def check(
    name: str, dtype: str, run: Run, *, family: str = "modules", unused: Sequence[str] = (), **others: Any
) -> None:
    """Run a case's module, and compare outputs and gradients of inputs and parameters.

    Args:
        name: of the case.
        dtype: of the floats.
        run: computes the outputs.
        family: where the case is.
        unused: keys of its configuration that are no fields.
        others: fields of the configuration that the case does not tell.
    """
    case = Case.load(family, name, dtype)
    # Indices are given by functions alone, and tested with them.
    case = replace(case, arrays={key: value for key, value in case.arrays.items() if key != "out.indices"})
    cls = getattr(nn, f"{operation(name, family)}Config")
    config = config_of(cls, case.config | others, unused)
    paths = case.group("param.")

    def outputs(_: Case, tensors: Inputs) -> Outputs:
        module = config.init()
        module = module.cast("f64") if dtype == "float64" else module
        fill(module, {path: tensors[path] for path in paths})
        return run(module, {key: tensor for key, tensor in tensors.items() if key not in paths})

    case.check(outputs)
