"""Tensors as Python's own values, and as text."""

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ShapeError
from burnpy.tensor import PrintOptions, set_print_options


def test_one_element_is_a_number() -> None:
    assert Tensor([2.5]).item() == 2.5 and Tensor(3).into_scalar() == 3 and Tensor([[True]]).item() is True
    assert Tensor([2**63], dtype="u64").item() == 2**63
    assert float(Tensor([2])) == 2.0 and int(Tensor([2.9])) == 2 and bool(Tensor([0.0])) is False
    assert [10, 20][Tensor(1)] == 20
    assert f"{Tensor([2.0]):.3f}" == "2.000"


def test_several_elements_are_no_number() -> None:
    for convert in (Tensor.item, Tensor.into_scalar, float, int, bool):
        with pytest.raises(ShapeError, match=r"\[2\] is not one number"):
            convert(Tensor([1.0, 2.0]))  # type: ignore[operator]
    with pytest.raises(TypeError):
        [10, 20][Tensor([1.0])]


def test_length_is_the_first_size() -> None:
    assert len(Tensor([[1], [2], [3]])) == 3
    with pytest.raises(TypeError, match="without axes"):
        len(Tensor(1))


def test_what_it_is() -> None:
    x = Tensor(np.zeros((2, 3)))
    assert x.shape == x.dims() == (2, 3) and x.ndim == x.rank() == 2
    assert x.size == x.num_elements() == 6 and x.nbytes == 24
    assert (x.kind, Tensor([1]).kind, Tensor([True]).kind) == ("float", "int", "bool")


def test_text_shows_elements_and_facts() -> None:
    text = repr(Tensor([[1.0, 2.5], [3.0, 4.0]]).require_grad())
    assert text == (
        "Tensor([[1. , 2.5],\n        [3. , 4. ]], "
        "shape=(2, 2), dtype=f32, kind=float, device=cpu, autodiff, require_grad)"
    )
    assert "1.5" in repr(Tensor([1.5], dtype="bf16"))


def test_large_tensors_are_summarised() -> None:
    x = Tensor(np.arange(2000))
    assert "..." in repr(x) and len(repr(x)) < 200
    set_print_options(PrintOptions(threshold=5000))
    try:
        assert "1234" in repr(x)
    finally:
        set_print_options(PrintOptions())
