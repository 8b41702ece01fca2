"""Convolutions, pools and sampling through Python: keywords, defaults, shapes, a value each."""

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ShapeError
from burnpy.tensor import module

IMAGE = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)


def test_convolutions_of_one_to_three_axes() -> None:
    for n, conv, transposed in [
        (1, module.conv1d, module.conv_transpose1d),
        (2, module.conv2d, module.conv_transpose2d),
        (3, module.conv3d, module.conv_transpose3d),
    ]:
        x, weight = Tensor(np.ones((2, 3, *[5] * n))), Tensor(np.ones((4, 3, *[3] * n)))
        bias = Tensor([1.0, 2.0, 3.0, 4.0])
        y = conv(x, weight, bias)
        assert y.shape == (2, 4, *[3] * n) and y.max().item() == 3 * 3**n + 4
        assert conv(x, weight, stride=2, padding=1, dilation=1).shape == (2, 4, *[3] * n)
        assert conv(x, weight, padding="same").shape == (2, 4, *[5] * n)
        assert conv(x, weight, padding=[(1, 0)] * n).shape == (2, 4, *[4] * n)
        assert transposed(y, weight, stride=2, padding_out=1).shape == (2, 3, *[8] * n)
        grouped = Tensor(np.ones((3, 1, *[3] * n)))
        assert conv(x, grouped, groups=3).shape == (2, 3, *[3] * n)


def test_pools() -> None:
    x = Tensor(IMAGE)
    assert module.max_pool2d(x, 2).tolist() == [[[[5, 7], [13, 15]]]]
    assert module.avg_pool2d(x, (2, 2), stride=2).tolist() == [[[[2.5, 4.5], [10.5, 12.5]]]]
    values, indices = module.max_pool2d_with_indices(x, 2)
    assert indices.tolist() == [[[[5, 7], [13, 15]]]] and values.tolist() == indices.float().tolist()
    assert module.max_pool2d(x, 3, stride=1, padding=1).shape == (1, 1, 4, 4)
    assert module.adaptive_avg_pool2d(x, 1).tolist() == [[[[7.5]]]]
    row = Tensor(IMAGE.reshape(1, 1, 16))
    assert module.max_pool1d(row, 4).tolist() == [[[3, 7, 11, 15]]]
    assert module.avg_pool1d(row, 8).shape == (1, 1, 2) and module.adaptive_avg_pool1d(row, 4).shape == (
        1,
        1,
        4,
    )
    assert module.avg_pool3d(Tensor(np.ones((1, 1, 4, 4, 4))), 2).shape == (1, 1, 2, 2, 2)


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_a_pool_of_volumes_has_the_first_of_the_largest_elements(
    padding: int, dilation: int, ceil_mode: bool
) -> None:
    data = np.random.default_rng(1).integers(0, 4, (2, 3, 5, 6, 7)).astype(np.float32)
    x = Tensor(data).require_grad()
    y = module.max_pool3d(x, (2, 3, 2), stride=2, padding=padding, dilation=dilation, ceil_mode=ceil_mode)
    gradient = x.grad(y.backward())
    assert gradient is not None
    expected, share = np.full(y.shape, -np.inf, np.float32), np.zeros_like(data)
    for plane in np.ndindex(2, 3):
        for place in np.ndindex(y.shape[2:]):
            taps = [
                tuple(2 * i + dilation * tap - padding for i, tap in zip(place, taps, strict=True))
                for taps in np.ndindex(2, 3, 2)
            ]
            inside = [t for t in taps if all(0 <= i < n for i, n in zip(t, data.shape[2:], strict=True))]
            winner = max(inside, key=lambda t: data[plane + t])
            expected[plane + place] = data[plane + winner]
            share[plane + winner] += 1
    np.testing.assert_array_equal(y.numpy(), expected)
    np.testing.assert_array_equal(gradient.numpy(), share)
    with pytest.raises(ShapeError, match="max_pool3d: expected a tensor of rank 5, got rank 4"):
        module.max_pool3d(Tensor(IMAGE), 2)
    with pytest.raises(ShapeError, match="max_pool3d"):
        module.max_pool3d(x, 20)


def test_sampling() -> None:
    x = Tensor(IMAGE)
    assert (
        module.interpolate(x, (8, 8)).shape == module.interpolate(x, scale_factor=2.0).shape == (1, 1, 8, 8)
    )
    assert module.interpolate(x, (2, 2), mode="linear").tolist() == [[[[0, 3], [12, 15]]]]
    theta = Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    grid = module.affine_grid_2d(theta, (1, 1, 4, 4), align_corners=True)
    np.testing.assert_allclose(module.grid_sample_2d(x, grid, align_corners=True).numpy(), IMAGE, atol=1e-4)
    with pytest.raises(TypeError, match="either"):
        module.interpolate(x)
    with pytest.raises(ValueError, match="mode"):
        module.interpolate(x, (2, 2), mode="best")


def test_columns_and_bent_windows() -> None:
    x = Tensor(IMAGE)
    columns = module.unfold4d(x, 2, stride=2)
    assert columns.shape == (1, 4, 4) and module.fold4d(columns, 4, 2, stride=2).tolist() == x.tolist()
    weight, offset = Tensor(np.ones((1, 1, 3, 3))), Tensor(np.zeros((1, 18, 2, 2)))
    bent = module.deform_conv2d(x, offset, weight)
    np.testing.assert_allclose(bent.numpy(), module.conv2d(x, weight).numpy(), rtol=1e-5)


@pytest.mark.parametrize(
    "options", [{"stride": (1, 2, 3)}, {"padding": "half"}, {"padding": [(1, 1)]}, {"dilation": -1}], ids=repr
)
def test_impossible_options_are_told(options: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        module.conv2d(Tensor(IMAGE), Tensor(np.ones((1, 1, 3, 3))), **options)  # type: ignore[arg-type]


def test_padding_triangles_windows_and_running_results() -> None:
    x = Tensor([[1, 2], [3, 4]])
    assert x.pad((1, 0, 0, 1), value=9).tolist() == [[9, 1, 2], [9, 3, 4], [9, 9, 9]]
    assert x.pad([(0, 1)], "edge").tolist() == [[1, 2, 2], [3, 4, 4]]
    assert x.tril().tolist() == [[1, 0], [3, 4]] and x.triu(1).tolist() == [[0, 2], [0, 0]]
    assert Tensor([0, 1, 2, 3]).unfold(0, 2, 1).tolist() == [[0, 1], [1, 2], [2, 3]]
    assert x.cumsum(1).tolist() == [[1, 3], [3, 7]] and x.cumprod(0).tolist() == [[1, 2], [3, 8]]
    values, indices = x.cummax_with_indices(1)
    assert values.tolist() == [[1, 2], [3, 4]] and indices.tolist() == [[0, 1], [0, 1]]
