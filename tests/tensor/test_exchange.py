"""Tensors of arrays and arrays of tensors: what is shared, what is copied, which dtype comes out."""

import copy
import gc
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest

from burnpy import Device, Tensor
from burnpy.errors import ArgumentError, DTypeError, ShapeError

DTYPES = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
    "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "bool": np.bool_,
}  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_in_and_comes_out_as_it_is(name: str) -> None:
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype=DTYPES[name])
    tensor = Tensor.from_numpy(array)
    assert (tensor.dtype, tensor.shape) == (name, (2, 3))
    back = tensor.numpy()
    assert back.dtype == array.dtype and np.array_equal(back, array)
    assert np.asarray(tensor).dtype == array.dtype


def test_the_view_is_read_only_over_the_same_memory_and_outlives_the_tensor() -> None:
    tensor = Tensor([[1.0, 2.0], [3.0, 4.0]])
    view, again = tensor.numpy(), tensor.numpy()
    assert np.shares_memory(view, again) and not view.flags.writeable
    with pytest.raises(ValueError, match="WRITEABLE"):
        view.flags.writeable = True
    del tensor, again
    gc.collect()
    assert view.tolist() == [[1, 2], [3, 4]]


def test_a_copy_is_its_own() -> None:
    tensor = Tensor([1.0, 2.0])
    array = tensor.to_numpy()
    array[0] = 9
    assert tensor.tolist() == [1, 2] and np.array(tensor, copy=True).flags.writeable


def test_what_may_be_written_is_copied_and_what_may_not_is_shared() -> None:
    array = np.arange(4.0)
    assert not np.shares_memory(Tensor.from_numpy(array).numpy(), array)
    guarded = array.view()
    guarded.flags.writeable = False
    assert not np.shares_memory(Tensor.from_numpy(guarded).numpy(), array), "its owner can still write"
    owner = np.arange(4.0)
    owner.flags.writeable = False
    assert np.shares_memory(Tensor.from_numpy(owner).numpy(), owner)
    assert np.shares_memory(Tensor.from_numpy(owner[::2]).numpy(), owner)
    frozen = np.frombuffer(bytes(8), dtype=np.float32)
    assert np.shares_memory(Tensor.from_numpy(frozen).numpy(), frozen)
    assert not np.shares_memory(Tensor.from_numpy(frozen, copy=True).numpy(), frozen)
    loose = np.frombuffer(bytearray(8), dtype=np.float32)
    assert not np.shares_memory(Tensor.from_numpy(loose).numpy(), loose)
    assert np.shares_memory(Tensor.from_numpy(array, copy=False).numpy(), array)


def test_shared_memory_lives_as_long_as_the_tensor() -> None:
    array = np.arange(100_000.0)
    tensor = Tensor.from_numpy(array[10:], copy=False)
    references = sys.getrefcount(array)
    del array
    gc.collect()
    assert references > 2 and tensor.numpy()[0] == 10


@pytest.mark.parametrize(
    "take",
    [
        lambda a: a[::-1], lambda a: a[:, ::2], lambda a: a.T, lambda a: a[1:1], lambda a: a[0, 0],
        lambda a: np.broadcast_to(a[0], (5, 4)), lambda a: a[::-2, ::-3],
    ],
)  # fmt: skip
@pytest.mark.parametrize("share", [True, False])
def test_arrays_of_any_strides(take, share: bool) -> None:  # type: ignore[no-untyped-def]
    array = take(np.arange(12, dtype=np.float32).reshape(3, 4))
    tensor = Tensor.from_numpy(array, copy=False if share else None)
    assert tensor.shape == array.shape and np.array_equal(tensor.numpy(), array)


def test_foreign_byte_order_and_odd_strides_are_brought_into_order() -> None:
    big = np.arange(3, dtype=">f4")
    assert Tensor.from_numpy(big).tolist() == [0, 1, 2]
    fields = np.array([(1, 2.5), (2, 3.5)], dtype=[("a", "i1"), ("b", "<f4")])
    assert Tensor.from_numpy(fields["b"]).tolist() == [2.5, 3.5]
    with pytest.raises(ArgumentError, match="another order"):
        Tensor.from_numpy(big, copy=False)


def test_what_no_tensor_holds_is_refused() -> None:
    for array in [np.array([1j]), np.array(["a"]), np.array([object()])]:
        with pytest.raises(DTypeError, match="no dtype for"):
            Tensor.from_numpy(array)


def test_numbers_and_lists_take_the_dtypes_of_the_device() -> None:
    assert (Tensor(1.5).dtype, Tensor(1.5).shape) == ("f32", ())
    assert (Tensor([1, 2]).dtype, Tensor([[True], [False]]).dtype) == ("i32", "bool")
    assert (Tensor([1, 2.5]).dtype, Tensor([True, 2]).dtype) == ("f32", "i32")
    assert (Tensor([[], []]).shape, Tensor([]).dtype) == ((2, 0), "f32")
    assert Tensor(np.arange(3.0)).dtype == "f32" and Tensor(np.arange(3)).dtype == "i32"
    assert Tensor.from_data((1, 2), dtype="float64").dtype == "f64"
    assert Tensor.from_floats([1, 2]).dtype == "f32" and Tensor.from_ints([1.9, -1.9]).tolist() == [1, -1]
    assert Tensor([2**64 - 1], dtype="u64").tolist() == [2**64 - 1]
    assert Tensor([1], dtype=np.int8).dtype == "i8" and Tensor([1], dtype=ml_dtypes.bfloat16).dtype == "bf16"


@pytest.mark.parametrize(
    ("data", "error"),
    [([[1], [2, 3]], ShapeError), ([[1], 2], ShapeError), ([1, [2]], ShapeError), ([[], [1]], ShapeError),
     ([1 << 40], DTypeError), ([2**70], DTypeError), (["a"], TypeError), ([None], TypeError)],
)  # fmt: skip
def test_lists_that_make_no_tensor(data: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        Tensor(data)


def test_a_list_that_contains_itself_is_refused() -> None:
    data: list[object] = []
    data.append(data)
    with pytest.raises(ShapeError, match="64 levels"):
        Tensor(data)


def test_dlpack_shares_with_those_who_know_of_read_only_memory() -> None:
    tensor = Tensor([[1.0, 2.0], [3.0, 4.0]])
    array = np.from_dlpack(tensor)
    assert np.shares_memory(array, tensor.numpy()) and not array.flags.writeable
    assert tensor.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError, match=r"DLPack 1\.0"):
        tensor.__dlpack__(copy=False)
    private = np.from_dlpack(tensor, copy=True)
    private[0, 0] = 9
    assert tensor.tolist() == [[1, 2], [3, 4]]


def test_the_buffer_protocol_gives_the_elements() -> None:
    tensor = Tensor([[1, 2], [3, 4]])
    view = memoryview(tensor)
    assert view.readonly and view.format == "i" and view.tolist() == [[1, 2], [3, 4]]
    assert bytes(memoryview(Tensor([1.0], dtype="f16"))) == np.float16(1).tobytes()


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", DTYPES)
def test_pickles_keep_elements_dtype_and_device(name: str, protocol: int) -> None:
    tensor = Tensor.from_numpy(np.array([[0, 1], [1, 1]], dtype=DTYPES[name]).T, device=Device.cpu())
    back = pickle.loads(pickle.dumps(tensor, protocol=protocol))
    assert (back.dtype, back.shape, back.is_autodiff()) == (name, (2, 2), False)
    assert np.array_equal(back.numpy(), tensor.numpy())


def test_pickles_keep_leaves_and_cut_graphs() -> None:
    leaf = Tensor([1.0]).require_grad()
    assert pickle.loads(pickle.dumps(leaf)).is_require_grad()
    assert not pickle.loads(pickle.dumps(leaf + leaf)).is_tracked()


def test_large_pickles_travel_out_of_band() -> None:
    tensor = Tensor.from_numpy(np.arange(1000.0))
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 500 and len(buffers) == 1
    assert np.array_equal(pickle.loads(data, buffers=buffers).numpy(), tensor.numpy())


def test_copies_are_the_tensor_itself() -> None:
    tensor = Tensor([1.0])
    assert copy.copy(tensor) is tensor and copy.deepcopy(tensor) is tensor and tensor.clone() is tensor
