"""`check_op` passes what is right and names what is wrong."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.testing import Drawn, check_op

SHAPES = [(), (0,), (1,), (3, 4)]


def test_right_operations_pass() -> None:
    check_op(Tensor.exp, np.exp, shapes=SHAPES)
    check_op(Tensor.mul, np.multiply, shapes=[((2, 3), (3,)), ((1,), (4, 1)), ((2, 0), (1, 0))])
    check_op(Tensor.sum_dim, lambda x, dim: x.sum(dim, keepdims=True), shapes=[(2, 3), (0, 2)], dim=1)
    check_op(Tensor.neg, np.negative, shapes=SHAPES, inputs=Drawn("int"), dtypes=["int8"], gradient=False)


def _halved_gradient(x: Tensor) -> Tensor:
    return x.exp() * 0.5 + x.exp().detach() * 0.5


WRONG: list[tuple[str, Callable[..., Any], Callable[..., Any], str]] = [
    ("value", lambda x: x.exp() + 1e-3, np.exp, r"12 of 12 values differ; at \[0, 0\] found"),
    ("gradient", _halved_gradient, np.exp, r"d/dinput0\[0, 0\] is .*, differences give"),
    ("no gradient", lambda x: x.detach(), lambda x: x, "not tracked|no gradient"),
    ("shape", lambda x: x.reshape(12), lambda x: x, r"shape \(12,\), expected \(3, 4\)"),
    ("kind", lambda x: x > 0, lambda x: x, "bool, expected one of kind float"),
    ("dtype", lambda x: x.cast("f32"), lambda x: x, "f32 from f64"),
    ("outputs", lambda x: (x, x), lambda x: x, "2 outputs, expected 1"),
]


@pytest.mark.parametrize(("what", "wrong", "reference", "message"), WRONG, ids=[case[0] for case in WRONG])
def test_what_is_wrong_is_named(
    what: str, wrong: Callable[..., Any], reference: Callable[..., Any], message: str
) -> None:
    with pytest.raises(Exception, match=message):
        check_op(wrong, reference, shapes=[(3, 4)])


def test_draws_keep_to_their_bounds() -> None:
    rng = np.random.default_rng(0)
    near = Drawn(low=-1.0, high=1.0, away=(0.0,), apart=0.25).array(rng, (1000,))
    assert np.abs(near).min() >= 0.25 and np.abs(near).max() <= 1.0
    distinct = Drawn(distinct=True).array(rng, (100,))
    assert len(set(distinct.tolist())) == 100
    stepped = Drawn(step=0.5).array(rng, (100,))
    assert np.array_equal(stepped * 2, np.round(stepped * 2)) and len(set(stepped.tolist())) < 10
