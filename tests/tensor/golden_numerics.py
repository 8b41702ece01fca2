"""Cases of the golden folder `numerics`: inputs, expected values and gradients, tolerances."""

import functools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy import Tensor
from tests.paths import GOLDEN

Array = NDArray[Any]
Inputs = dict[str, Tensor]
Outputs = Mapping[str, Tensor]


@functools.cache
def manifest() -> dict[str, Any]:
    with open(GOLDEN / "numerics" / "manifest.json") as file:
        content: dict[str, Any] = json.load(file)
    return content


@functools.cache
def _arrays(family: str) -> dict[str, dict[str, Array]]:
    cases: dict[str, dict[str, Array]] = {}
    with np.load(GOLDEN / "numerics" / manifest()["families"][family]["file"]) as archive:
        for key in archive.files:
            case, name = key.split("/", 1)
            cases.setdefault(case, {})[name] = archive[key]
    return cases


def case_names(family: str) -> list[str]:
    return list(manifest()["families"][family]["cases"])


@dataclass(frozen=True)
class Case:
    """One case, and what a float of it is in the run at hand."""

    name: str
    config: dict[str, Any]
    arrays: dict[str, Array]
    tolerance: dict[str, float]
    dtype: str

    @classmethod
    def load(cls, family: str, name: str, dtype: str) -> "Case":
        entry = manifest()["families"][family]["cases"][name]
        tolerance = entry["tolerance"]["f64" if dtype == "float64" else "f32"]
        config = {key: _number(value) for key, value in entry["config"].items()}
        return cls(name, config, _arrays(family).get(name, {}), tolerance, dtype)

    def group(self, prefix: str) -> dict[str, Array]:
        return {key[len(prefix) :]: array for key, array in self.arrays.items() if key.startswith(prefix)}

    def tensor(self, array: Array) -> Tensor:
        """The array as a tensor, floats in the dtype of this run."""
        return Tensor.from_numpy(array.astype(self.dtype) if array.dtype.kind == "f" else array)

    def inputs(self) -> dict[str, Tensor]:
        """Inputs and parameters, those with an expected gradient as leaves."""
        tensors = {}
        for prefix in ("in.", "param."):
            for name, array in self.group(prefix).items():
                tensor = self.tensor(array)
                tracked = f"grad.{prefix}{name}" in self.arrays
                tensors[prefix + name] = tensor.require_grad() if tracked else tensor
        return tensors

    def assert_close(self, found: Tensor | None, expected: Array, what: str) -> None:
        assert found is not None, f"{self.name}: {what} is missing"
        array = found.to_numpy()
        assert array.shape == expected.shape, (
            f"{self.name}: {what} has shape {array.shape}, not {expected.shape}"
        )
        if expected.dtype.kind != "f":
            np.testing.assert_array_equal(array, expected, err_msg=f"{self.name}: {what}")
            return
        array = array.astype(np.float64)
        # A value outside of single precision is its infinity or zero there.
        with np.errstate(over="ignore", invalid="ignore"):
            expected = expected.astype(self.dtype).astype(np.float64)
            limit = self.tolerance["abs"] + self.tolerance["rel"] * np.abs(expected)
            ok = (
                (array == expected)
                | (np.isnan(array) & np.isnan(expected))
                | (np.abs(array - expected) <= limit)
            )
        if not ok.all():
            index = tuple(int(i) for i in np.argwhere(~ok)[0])
            raise AssertionError(
                f"{self.name}: {what}: {int((~ok).sum())} of {ok.size} values are off; "
                f"at {list(index)} {array[index]}, expected {expected[index]}"
            )

    def check(self, run: Callable[..., Outputs]) -> None:
        """Run with the inputs; compare outputs and, where some are expected, gradients."""
        inputs = self.inputs()
        outputs = run(self, {key.split(".", 1)[1]: tensor for key, tensor in inputs.items()})
        expected = self.group("out.")
        assert set(outputs) == set(expected), (
            f"{self.name}: outputs {sorted(outputs)}, not {sorted(expected)}"
        )
        for name, array in expected.items():
            self.assert_close(outputs[name], array, f"output {name}")
        wanted = self.group("grad.")
        if not wanted:
            return
        losses = [(outputs[name] * self.tensor(cot)).sum() for name, cot in self.group("cot.").items()]
        grads = functools.reduce(Tensor.add, losses).backward()
        for name, array in wanted.items():
            self.assert_close(inputs[name].grad(grads), array, f"gradient of {name}")


def _number(value: Any) -> Any:
    return (
        {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}.get(value, value)
        if isinstance(value, str)
        else value
    )
