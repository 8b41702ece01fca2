"""``t[…]`` is NumPy's; Burn's slices keep their axes."""

import itertools
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ShapeError, TensorIndexError

ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4)

BASIC: list[Any] = [
    0, -1, slice(None), slice(1, None), slice(None, None, -1), slice(2, 0, -1), slice(-100, 100), slice(1, 1),
    slice(None, None, 2), ..., None, (0, 1), (0, ..., 1), (slice(None), 2), (..., slice(None, None, -2)),
    (None, 1, None, ..., -1), (slice(None), None, slice(0, 2)), (1, 2, 3), (), np.int64(1),
]  # fmt: skip


@pytest.mark.parametrize("index", BASIC, ids=repr)
def test_basic_indices_are_those_of_numpy(index: Any) -> None:
    part, wanted = Tensor(ARRAY)[index], ARRAY[index]
    assert part.shape == np.shape(wanted) and np.array_equal(part.numpy(), wanted)


def test_a_part_is_a_view() -> None:
    x = Tensor(ARRAY)
    assert np.shares_memory(x[:, ::-1, 1:3].numpy(), x.numpy())


ROWS: list[Any] = [
    [1, 0, 1], [-1], np.array([1, 1]), np.array([[0, 1], [1, 0]]), np.array([True, False]),
    (slice(None), [2, 0]), (..., [3, -4]), (..., np.array([True, False, True, True])), ARRAY > 5,
    (slice(None), ARRAY[0] > 5), ARRAY[:, :, 0] > 5, (slice(None), slice(1, None), [0, 0, 2]), np.array([], dtype=int),
    (slice(None), np.array([[0, 1], [2, 2]])), ([1, 0], ...), ([1, 0], slice(None), slice(0, 2)),
]  # fmt: skip


@pytest.mark.parametrize("index", ROWS, ids=repr)
def test_one_list_of_indices_or_mask_is_taken_as_numpy_does(index: Any) -> None:
    part, wanted = Tensor(ARRAY)[index], ARRAY[index]
    assert part.shape == wanted.shape and np.array_equal(part.numpy(), wanted)


def test_tensors_index_tensors() -> None:
    x = Tensor(ARRAY)
    assert np.array_equal(x[Tensor([1, 0])].numpy(), ARRAY[[1, 0]])
    assert np.array_equal(x[x > 5.0].numpy(), ARRAY[ARRAY > 5])


@pytest.mark.parametrize(
    ("index", "error"),
    [
        (2, IndexError), ((0, 0, 0, 0), (IndexError, ShapeError)), (slice(None, None, 0), ValueError),
        ([2], TensorIndexError), ([-3], TensorIndexError), ("a", IndexError), (1.5, IndexError), ([0.5], TypeError),
        (np.array([True]), ShapeError), (([0], [0]), TypeError), ((..., ...), ValueError), ((0, [0]), TypeError),
    ],
    ids=repr,
)  # fmt: skip
def test_impossible_indices_are_told(index: Any, error: Any) -> None:
    with pytest.raises(error):
        Tensor(ARRAY)[index]


def test_gradients_go_to_where_the_index_leads() -> None:
    for index in [*BASIC, *ROWS]:
        x = Tensor(ARRAY).require_grad()
        part = x[index]
        wanted = np.zeros_like(ARRAY)
        np.add.at(wanted, index, 1)
        gradient = x.grad(part.backward())
        assert gradient is not None and np.array_equal(gradient.numpy(), wanted), index


def test_iterating_gives_rows() -> None:
    rows = list(Tensor(ARRAY))
    assert len(rows) == 2 and np.array_equal(rows[1].numpy(), ARRAY[1])
    with pytest.raises(TypeError, match="without axes"):
        iter(Tensor(1.0))


def test_tensors_do_not_change() -> None:
    with pytest.raises(TypeError):
        Tensor([1.0])[0] = 2.0  # type: ignore[index]


def test_burns_slices_keep_every_axis() -> None:
    x = Tensor(ARRAY)
    assert x.slice([1]).shape == (1, 3, 4) and x.slice([None, (0, 2), slice(1, 9)]).shape == (2, 2, 3)
    assert Tensor(list(range(6))).slice([slice(0, 6, -2)]).tolist() == [5, 3, 1]
    assert Tensor(list(range(5))).slice([slice(0, 5, -1)]).tolist() == [4, 3, 2, 1, 0]
    assert np.array_equal(x.slice_dim(2, (1, 3)).numpy(), ARRAY[:, :, 1:3])
    filled = x.slice_fill([0, slice(1, 3)], -1)
    assert (filled.numpy()[0, 1:] == -1).all() and np.array_equal(filled.numpy()[1], ARRAY[1])
    assigned = x.slice_assign([0, 0, (0, 2)], Tensor([[[7.0, 8.0]]]))
    assert assigned.numpy()[0, 0].tolist() == [7, 8, 2, 3]
    assert x.narrow(1, 1, 2).shape == (2, 2, 4) and x.select_dim(-1, -1).shape == (2, 3)


def test_gather_scatter_select() -> None:
    x = Tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    assert x.gather(0, Tensor([[0, 1, 0], [1, 0, 1]])).tolist() == [[0, 4, 2], [3, 1, 5]]
    assert x.select(1, Tensor([1, 1, 0])).tolist() == [[1, 1, 0], [4, 4, 3]]
    assert x.select_assign(0, Tensor([1, 1]), x, "add").tolist() == [[0, 1, 2], [6, 9, 12]]
    assert x.scatter(1, Tensor([[0], [2]]), Tensor([[10.0], [20.0]]), update="assign").tolist()[1] == [
        3,
        4,
        20,
    ]
    assert x.gather_nd(Tensor([[0, 2], [1, 0]])).tolist() == [2, 3]
    assert x.take(0, Tensor([[1], [0]])).shape == (2, 1, 3)
    assert x.mask_select(x > 2.5).tolist() == [3, 4, 5] and (x > 4.5).argwhere().tolist() == [[1, 2]]
    assert [part.tolist() for part in (x > 4.5).nonzero()] == [[1], [2]]
    with pytest.raises(TensorIndexError, match="select"):
        x.select(0, Tensor([2]))
    with pytest.raises(ValueError, match="update must be"):
        x.select_assign(0, Tensor([0]), x, "sum")  # type: ignore[arg-type]


def test_shapes_take_sizes_one_by_one_or_in_a_sequence() -> None:
    x = Tensor(ARRAY)
    for shape in [(6, 4), (4, -1), (0, -1)]:
        assert x.reshape(*shape).shape == x.reshape(shape).shape == x.reshape(list(shape)).shape
    assert x.reshape(0, -1).shape == (2, 12) and x.reshape(24).shape == (24,)
    assert x.permute(2, 0, 1).shape == x.permute((2, 0, 1)).shape == (4, 2, 3)
    assert x.transpose().shape == x.T.shape == (2, 4, 3) and x.swap_dims(0, -1).shape == (4, 3, 2)
    assert (
        x.flatten().shape == (24,) and x.flatten(1, 2).shape == (2, 12) and x.movedim(0, 2).shape == (3, 4, 2)
    )
    assert Tensor([[1.0]]).squeeze().shape == () and x.unsqueeze(5).shape == (1, 1, 2, 3, 4)
    assert x.unsqueeze_dims([0, -1]).shape == (1, 2, 3, 4, 1) and x.unsqueeze_dim(1).shape == (2, 1, 3, 4)
    assert Tensor([[1.0], [2.0]]).expand(3, -1, 2).shape == (3, 2, 2)
    assert np.array_equal(x.flip([0, 2]).numpy(), ARRAY[::-1, :, ::-1])
    assert np.array_equal(x.repeat(1, 2, 1).numpy(), np.tile(ARRAY, (1, 2, 1)))
    assert np.array_equal(x.roll([1, -1], [0, 2]).numpy(), np.roll(ARRAY, (1, -1), (0, 2)))
    for bad in [("a",), (1.5,), ((True, 24),)]:
        with pytest.raises(TypeError):
            x.reshape(*bad)  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="reshape"):
        x.reshape(5, -1)


def test_tensors_are_joined_and_cut() -> None:
    x = Tensor(ARRAY)
    assert Tensor.cat([x, x], 1).shape == (2, 6, 4) and Tensor.stack((x, x), dim=-1).shape == (2, 3, 4, 2)
    for pieces in [x.split(2, 2), x.split_with_sizes([1, 3], 2), x.chunk(2, 2), x.iter_dim(2)]:
        assert np.array_equal(Tensor.cat(pieces, 2).numpy(), ARRAY)
    with pytest.raises(TypeError):
        Tensor.cat([x, 1.0])  # type: ignore[list-item]


def test_order_along_an_axis() -> None:
    x = Tensor([[12.0, -2.0, 3.0], [5.0, 3.0, 6.0]])
    assert x.topk(2, 1).tolist() == [[12, 3], [6, 5]] and x.sort(dim=1).tolist()[0] == [-2, 3, 12]
    values, indices = x.sort_with_indices(1)
    assert indices.tolist() == [[1, 2, 0], [1, 0, 2]] and indices.dtype == "i32"
    assert x.median(1).tolist() == [[3], [5]] and x.argsort_descending(1).tolist()[1] == [2, 0, 1]
    assert all(a <= b for row in values.tolist() for a, b in itertools.pairwise(row))
