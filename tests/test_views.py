"""Lazy views: their indices are NumPy's, their reads no larger than needed."""

import hashlib
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from burnpy.numpy import save, save_file
from burnpy.pack import QuantScheme, Reader, Tensor, View, Writer

ROWS, COLUMNS = 50, 1000


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("views") / "table.bpk"
    # Far more than the first read, which takes the head and whatever follows it.
    filler = np.zeros(1 << 20, np.uint8)
    save_file({"filler": filler, "table": _table()}, path)
    return path


def _table() -> np.ndarray[Any, Any]:
    return np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS)


def view_of(array: np.ndarray[Any, Any]) -> View:
    return Reader.from_bytes(save({"x": array})).view("x")


@st.composite
def arrays_and_indices(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], Any]:
    shape = draw(hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5))
    index = draw(hnp.basic_indices(shape, min_dims=0, max_dims=8, allow_newaxis=True, allow_ellipsis=True))
    return np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape), index


@given(arrays_and_indices(), st.sampled_from(["mmap", "pread"]))
def test_every_basic_index_gives_what_numpy_gives(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[np.ndarray[Any, Any], Any], backend: Any
) -> None:
    array, index = case
    path = tmp_path_factory.getbasetemp() / "case.bpk"
    save_file({"x": array}, path)
    with Reader.from_file(path, backend=backend) as reader:
        found, expected = reader.view("x")[index], array[index]
        assert type(found) is type(expected)
        assert found.dtype == expected.dtype and found.shape == expected.shape
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("index", "rows"),
    [
        (3, 1),
        (-1, 1),
        (slice(10, 20), 10),
        (slice(None, None, 10), 5),
        (slice(20, 10, -3), 4),
        ((slice(2, 4), slice(0, 10)), 2),
        ((7, slice(None, None, -1)), 1),
        ((None, 0, ...), 1),
        (slice(5, 5), 0),
        (..., ROWS),
    ],
    ids=str,
)
def test_an_index_reads_no_more_than_its_rows(table: Path, index: Any, rows: int) -> None:
    with Reader.from_file(table, backend="pread") as reader:
        view, before = reader.view("table"), reader._bytes_read or 0
        found = view[index]
        assert np.array_equal(found, _table()[index])
        assert (reader._bytes_read or 0) - before <= rows * COLUMNS * 4


def test_opening_and_asking_reads_no_payload(table: Path) -> None:
    with Reader.from_file(table, backend="pread") as reader:
        before = reader._bytes_read
        view = reader.view("table")
        assert (view.name, view.dtype, view.shape, view.ndim) == ("table", "f32", (ROWS, COLUMNS), 2)
        assert (view.size, view.nbytes, view.param_id, len(view)) == (50_000, 200_000, None, ROWS)
        assert repr(view) == "<burnpy.pack.View 'table': f32 (50, 1000)>"
        assert reader._bytes_read == before


@pytest.mark.parametrize("index", [True, [1], "a", 1.5, np.array([True]), np.array([0, 1])], ids=repr)
def test_an_index_that_is_not_basic_is_refused(index: Any) -> None:
    with pytest.raises((IndexError, TypeError)):
        view_of(np.zeros(3))[index]


@pytest.mark.parametrize("index", [3, -4, 10**30, (0, 0), (..., ...)], ids=repr)
def test_an_index_out_of_bounds_is_an_index_error_as_numpys(index: Any) -> None:
    array = np.zeros(3)
    with pytest.raises(IndexError):
        array[index]
    with pytest.raises(IndexError):
        view_of(array)[index]


def test_bounds_beyond_any_integer_are_clipped() -> None:
    array = np.arange(5)
    view = view_of(array)
    for index in (slice(10**30), slice(-(10**30), None), slice(None, None, -(10**30)), slice(0, 5, 10**30)):
        assert np.array_equal(view[index], array[index])
    assert view[np.int8(2)] == 2


def test_arrays_over_a_map_are_read_only_and_stay_so(table: Path) -> None:
    with Reader.from_file(table) as reader:
        for array in (reader.view("table").numpy(), reader.view("table")[1:3, ::2]):
            assert not array.flags.writeable and not array.flags.owndata
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.setflags(write=True)


def test_numpy_takes_a_view_for_an_array() -> None:
    array = np.arange(6, dtype=np.float16).reshape(2, 3)
    view = view_of(array)
    assert np.asarray(view).dtype == np.float16 and np.array_equal(view, array)
    assert np.array(view, dtype=np.float64).dtype == np.float64
    assert np.array(view, copy=True).flags.writeable
    assert np.array_equal(np.add(view, 1), array + 1)


def test_bf16_is_an_array_bit_for_bit_and_a_plain_buffer_of_bytes() -> None:
    bits = np.array([0x3F80, 0x7FC1, 0xFF80, 0x0001, 0x8000], np.uint16)
    array = bits.view(ml_dtypes.bfloat16)
    view = view_of(array)
    assert np.asarray(view).dtype == ml_dtypes.bfloat16
    assert np.array_equal(np.asarray(view).view(np.uint16), bits)
    assert bytes(view) == bits.tobytes()
    assert hashlib.sha256(view).digest() == hashlib.sha256(bits).digest()
    with pytest.raises(BufferError, match="bf16"):
        memoryview(view)


def test_the_buffer_has_shape_and_format_and_is_read_only() -> None:
    buffer = memoryview(view_of(np.arange(6, dtype=np.int16).reshape(2, 3)))
    assert (buffer.shape, buffer.format, buffer.readonly) == ((2, 3), "h", True)
    assert buffer.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_dlpack_gives_memory_that_may_be_written_without_any_effect(table: Path) -> None:
    saved = table.read_bytes()
    with Reader.from_file(table) as reader:
        view = reader.view("table")
        assert view.__dlpack_device__() == (1, 0)
        taken = np.from_dlpack(view)
        assert np.array_equal(taken, _table())
        if taken.flags.writeable:
            taken[:] = -1
        assert np.array_equal(view.numpy(), _table())
        with pytest.raises(BufferError):
            view.__dlpack__(dl_device=(2, 0))
        # One that nobody takes is freed with its capsule.
        assert "dltensor_versioned" in repr(view.__dlpack__(max_version=(1, 0)))
        assert "dltensor" in repr(view.__dlpack__(copy=True))
    assert table.read_bytes() == saved


def test_a_quantized_view_gives_its_payload_and_takes_no_index() -> None:
    scheme = QuantScheme(value="Q8S", store="Native")
    payload = bytes(range(12)) + b"\0\0\x80?"
    reader = Reader.from_bytes(Writer([Tensor("q", scheme, (3, 4), data=payload)]).into_bytes())
    view = reader.view("q")
    assert (view.dtype, view.shape, view.scheme, view.nbytes) == ("qfloat", (3, 4), scheme, 16)
    assert view.numpy().dtype == np.uint8 and view.numpy().tobytes() == payload
    with pytest.raises(TypeError, match="quantized"):
        view[0]
