"""Cases of the golden folder `burn/stateless`: what Burn's losses, activations and plain layers compute."""

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy import Tensor
from tests.paths import GOLDEN

Array = NDArray[Any]
Case = dict[str, Any]
Run = Callable[[Case, dict[str, Tensor]], Mapping[str, Tensor]]
# Two implementations in single precision differ in the last digits; in double these are none of the values given.
TOLERANCE = {"float64": (1e-10, 1e-12), "float32": (2e-5, 2e-6)}


@functools.cache
def cases(file: str) -> dict[str, Case]:
    content = json.loads((GOLDEN / "burn" / "stateless" / file).read_text())
    return {case["name"]: case for case in content["cases"]}


def array(entry: Case, dtype: str) -> Array:
    """The values, those that Burn printed in single precision read so before they are widened."""
    values = [float(value) if isinstance(value, str) else value for value in entry["values"]]
    if entry.get("dtype", "F32") == "I32":
        return np.array(values, np.int32).reshape(entry["shape"])
    width = np.float64 if entry.get("dtype") == "F64" else np.float32
    with np.errstate(over="ignore"):
        return np.array(values, width).reshape(entry["shape"]).astype(dtype)


def check(
    case: Case,
    run: Run,
    dtype: str,
    *,
    instead: Mapping[str, list[float]] = {},
    relative: float | None = None,
) -> None:
    """Run on the case's inputs and compare outputs and gradients with Burn's of that precision.

    Args:
        case: one of `cases`.
        run: computes the outputs by name.
        dtype: of the floats.
        instead: gradients that are meant to differ from Burn's, by `output of input`.
        relative: the tolerance in double precision, where Burn's constants are single.
    """
    expected = case["f64"] if dtype == "float64" else case
    limits = TOLERANCE[dtype] if relative is None or dtype == "float32" else (relative, relative)
    for name in case["outputs"]:
        inputs = {key: Tensor.from_numpy(array(entry, dtype)) for key, entry in case["inputs"].items()}
        inputs = {key: t.require_grad() if t.kind == "float" else t for key, t in inputs.items()}
        output = run(case, inputs)[name]
        _assert_close(output, array(expected["outputs"][name], dtype), limits, f"{case['name']}: {name}")
        gradients = expected["input_grads"].get(name)
        if not gradients:
            continue
        weights = array({"values": case["output_weights"][name], "shape": output.shape}, dtype)
        found = (output * Tensor.from_numpy(weights)).backward()
        for key, entry in gradients.items():
            what = f"{name} of {key}"
            if entry is None:
                assert inputs[key].grad(found) is None, f"{case['name']}: {what} has a gradient"
                continue
            wanted = array(entry, dtype)
            if what in instead:
                burns, wanted = wanted, np.array(instead[what], dtype).reshape(wanted.shape)
                assert not np.allclose(burns, wanted, equal_nan=True), f"{case['name']}: {what} is Burn's"
            _assert_close(inputs[key].grad(found), wanted, limits, f"{case['name']}: gradient of {what}")


def _assert_close(found: Tensor | None, expected: Array, limits: tuple[float, float], what: str) -> None:
    assert found is not None, f"{what}: there is no gradient"
    array = found.to_numpy()
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype), what
    np.testing.assert_allclose(array, expected, rtol=limits[0], atol=limits[1], equal_nan=True, err_msg=what)
