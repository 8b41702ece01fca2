"""Tensors of a rule: constants, ranges, masks, random numbers; and functions with defaults."""

import numpy as np
import pytest

import burnpy as bp
from burnpy import Device, Tensor
from burnpy.errors import ArgumentError, TensorError
from burnpy.tensor import Distribution, activation, einsum


def test_constants_take_shape_device_and_dtype() -> None:
    assert Tensor.zeros((2, 3)).tolist() == [[0] * 3] * 2 and Tensor.zeros(3).dtype == "f32"
    assert Tensor.ones([2], dtype="i8").dtype == "i8" and Tensor.ones((2,)).is_autodiff()
    assert not Tensor.zeros((2,), Device.cpu()).is_autodiff() and Tensor.empty((0, 4)).shape == (0, 4)
    assert [Tensor.full((1,), value).dtype for value in (1.0, 1, True)] == ["f32", "i32", "bool"]
    assert Tensor.full((2,), 7, dtype="f64").tolist() == [7, 7] and Tensor.eye(2).tolist() == [[1, 0], [0, 1]]
    x = Tensor([1, 2], dtype="u8")
    for like in (x.zeros_like(), x.ones_like(), x.full_like(9), x.empty_like()):
        assert (like.shape, like.dtype) == ((2,), "u8")


def test_ranges() -> None:
    assert Tensor.arange(4).tolist() == [0, 1, 2, 3] and Tensor.arange(2, 5).dtype == "i32"
    assert Tensor.arange(0, 10, 4).tolist() == Tensor.arange_step(0, 10, 4).tolist() == [0, 4, 8]
    with pytest.raises(ArgumentError, match="arange"):
        Tensor.arange(0, 4, 0)


def test_masks_are_true_outside_of_what_is_kept() -> None:
    assert np.array_equal(Tensor.tril_mask((2, 3)).numpy(), ~np.tril(np.ones((2, 3), dtype=bool)))
    assert np.array_equal(Tensor.triu_mask((3, 3), 1).numpy(), ~np.triu(np.ones((3, 3), dtype=bool), 1))
    assert Tensor.diag_mask((2, 2)).tolist() == [[False, True], [True, False]]
    assert Tensor.cartesian_grid((2, 2)).shape == (2, 2, 2)
    assert Tensor([0, 2]).one_hot(3).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert Tensor([[0, 2], [1, -1]]).one_hot_fill(3, 5, 0, -1).tolist() == [
        [[5, 0, 0], [0, 0, 5]],
        [[0, 5, 0], [0, 0, 5]],
    ]


def test_the_same_seed_gives_the_same_numbers() -> None:
    draws = []
    for _ in range(2):
        bp.manual_seed(3)
        draws.append(
            (Tensor.random((100,)).tolist(), Tensor.random((100,), Distribution.normal(1.0, 2.0)).tolist())
        )
    assert draws[0] == draws[1] and all(0 <= x < 1 for x in draws[0][0])
    bp.manual_seed(4)
    assert Tensor.random((100,)).tolist() != draws[0][0]
    assert {*Tensor.random((50,), Distribution.bernoulli(0.5)).tolist()} == {0.0, 1.0}
    uniform = Tensor.zeros((100,)).random_like(Distribution.uniform(2.0, 3.0))
    assert 2 <= uniform.min().item() <= uniform.max().item() < 3
    kept = Tensor.ones((1000,)).dropout(0.5)
    assert {*kept.tolist()} == {0.0, 2.0}
    with pytest.raises(ArgumentError, match="uniform"):
        Tensor.random((1,), Distribution.uniform(3.0, 2.0))
    with pytest.raises(TypeError, match="Distribution"):
        Tensor.random((1,), "normal")  # type: ignore[arg-type]


def test_classes_are_drawn_by_their_weights_with_any_number_of_threads() -> None:
    weights = Tensor([[0.0, 3.0, 1.0], [2.0, 0.0, 2.0]])
    before, draws = bp.get_num_threads(), []
    try:
        for threads in (1, 2):
            bp.set_num_threads(threads)
            bp.manual_seed(3)
            draws.append(weights.categorical(20_000).numpy())
    finally:
        bp.set_num_threads(before)
    np.testing.assert_array_equal(draws[0], draws[1])
    shares = np.stack([(draws[0] == i).mean(1) for i in range(3)], 1)
    # Five standard deviations of a share of 20 000.
    np.testing.assert_allclose(shares, [[0, 0.75, 0.25], [0.5, 0, 0.5]], atol=0.018)
    assert draws[0].dtype == np.int32 and weights.detach().categorical(1).shape == (2, 1)


@pytest.mark.parametrize(
    ("weights", "num_samples", "message"),
    [
        ([0.5, 0.5], 0, "0 samples of 2 classes"),
        ([[1.0], [0.0]], 1, "row 1 add up to 0"),
        ([0.5, -1.0], 1, "class 1 of row 0 has the weight -1"),
        ([float("nan"), 1.0], 1, "class 0 of row 0 has the weight NaN"),
        ([float("inf"), 1.0], 1, "inf"),
        ([], 1, "0 classes"),
        (1.0, 1, "rank 0"),
        ([1, 2], 1, "i32"),
    ],
)
def test_weights_that_draw_no_class_are_refused(weights: object, num_samples: int, message: str) -> None:
    with pytest.raises(TensorError, match=message):
        Tensor(weights).categorical(num_samples)  # type: ignore[arg-type]
    with pytest.raises(OverflowError):
        Tensor([1.0]).categorical(-1)


def test_activations_have_burns_defaults() -> None:
    x = Tensor([-1.0, 0.5, 3.0])
    assert activation.relu(x).tolist() == [0, 0.5, 3] and activation.leaky_relu(x, 0.5).tolist()[0] == -0.5
    np.testing.assert_allclose(activation.hard_sigmoid(Tensor([0.4410])).numpy(), [0.5882], rtol=1e-4)
    np.testing.assert_allclose(activation.gelu(Tensor([0.5447])).numpy(), [0.3851], atol=1e-4)
    assert activation.shrink(Tensor([0.5, -0.5, -1.0, 8.0])).tolist() == [0, 0, -0.5, 7.5]
    assert activation.threshold(x, 1.0, 9.0).tolist() == [9, 9, 3] and activation.hardtanh(x).tolist() == [
        -1,
        0.5,
        1,
    ]
    np.testing.assert_allclose(
        activation.softplus(Tensor([0.0, 1.0]), beta=2.0).numpy(), [0.3466, 1.0635], rtol=1e-3
    )
    assert activation.glu(Tensor([[1.0, 0.0]]), 1).tolist() == [[0.5]]
    for name in activation.__all__:
        assert callable(getattr(activation, name)) and hasattr(Tensor, name)


def test_linear_algebra() -> None:
    a, b = Tensor([[1.0, 2.0], [3.0, 4.0]]), Tensor([[5.0, 6.0], [7.0, 8.0]])
    assert einsum("ij,jk->ik", a, b).tolist() == [[19, 22], [43, 50]] and einsum("ii", a).tolist() == [5]
    assert a.diag().tolist() == [1, 4] and a.trace().tolist() == [5] and abs(a.det().item() + 2) < 1e-5
    assert Tensor([1.0, 0.0, 0.0]).cross(Tensor([0.0, 1.0, 0.0])).tolist() == [0, 0, 1]
    assert Tensor([3.0, 4.0]).vector_norm(2.0, 0).tolist() == [5] and a.dot is not None
    for parts in (a.qr(), a.svd()):
        product = parts[0] @ (parts[1] if len(parts) == 2 else parts[1].unsqueeze_dim(1) * parts[2])
        np.testing.assert_allclose(product.numpy(), a.numpy(), rtol=1e-4)
    lower, upper, permutation = a.lu()
    np.testing.assert_allclose((lower @ upper).numpy(), (permutation @ a).numpy(), rtol=1e-4)
    np.testing.assert_allclose(a.cosine_similarity(a, 1).numpy(), [[1], [1]], rtol=1e-5)
