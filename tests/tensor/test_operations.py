"""Every public operation beside NumPy and beside differences of its values, from the table in `operations`."""

import importlib
import importlib.util

import numpy as np
import pytest

import burnpy.tensor
from burnpy import Tensor
from burnpy.testing import check_op
from tests.tensor.operations import OPERATIONS, Operation


@pytest.mark.parametrize("operation", OPERATIONS, ids=str)
def test_values_are_numpys_and_gradients_are_slopes(operation: Operation) -> None:
    with np.errstate(all="ignore"):
        check_op(
            operation.run,
            operation.reference,
            shapes=operation.shapes,
            inputs=operation.inputs,
            dtypes=operation.dtypes,
            gradient=operation.gradient,
            keeps_dtype=operation.keeps_dtype,
            same_bits=operation.same_bits,
            rel=operation.rel,
        )


NO_OPERATIONS = {
    **dict.fromkeys(
        ["shape", "dims", "dtype", "kind", "ndim", "rank", "size", "num_elements", "nbytes", "device"],
        "says what a tensor is",
    ),
    **dict.fromkeys(
        ["from_data", "from_dlpack", "from_floats", "from_ints", "from_numpy", "to_device"],
        "makes a tensor of what is elsewhere: test_exchange, test_data",
    ),
    **dict.fromkeys(
        ["numpy", "to_numpy", "item", "into_scalar", "tolist", "to_data", "into_data"],
        "reads values: test_exchange, test_data",
    ),
    **dict.fromkeys(
        [
            "autodiff", "without_autodiff", "inner", "from_inner", "detach", "is_autodiff", "is_tracked",
            "require_grad", "set_require_grad", "is_require_grad", "backward", "grad", "grad_remove", "grad_replace",
        ],
        "belongs to the graph: test_autodiff",
    ),
}  # fmt: skip
"""Names of the class that are no operations, and why."""


def _public() -> set[str]:
    names = {name for name in dir(Tensor) if not name.startswith("_")} - set(NO_OPERATIONS)
    for place in ("activation", "module", "linalg"):
        if importlib.util.find_spec(f"burnpy.tensor.{place}"):
            found = importlib.import_module(f"burnpy.tensor.{place}")
            names |= {f"{place}.{name}" for name in found.__all__}
    return names | ({"einsum"} if "einsum" in burnpy.tensor.__all__ else set())


def test_the_table_holds_every_public_operation() -> None:
    named = {operation.name for operation in OPERATIONS}
    assert _public() - named == set(), "public, but not in the table"
    assert named - _public() == set(), "in the table, but not public"


def test_what_is_no_operation_is_there() -> None:
    assert set(NO_OPERATIONS) <= set(dir(Tensor))
