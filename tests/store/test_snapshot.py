"""`TensorSnapshot`: known at once, produced when it is asked for, every time anew."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from burnpy.errors import DTypeError, TensorBytesSizeMismatch, ValidationError
from burnpy.numpy import save
from burnpy.pack import QuantScheme, Reader, Tensor, Writer
from burnpy.store import TensorSnapshot
from burnpy.store.dtype import dtype_of, numpy_dtype, payload_len

DTYPES = ["f64", "f32", "flex32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8",
          "bool", "bool(u8)", "bool(u32)"]  # fmt: skip
FOREIGN = ["f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0fnu", "c64", "c128"]
PACKED = {"f4e2m1fn": 3, "f6e2m3fn": 5, "f6e3m2fn": 5, "f4e2m1fn_x2": 6, "c32": 24}


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_of_a_container_comes_through_a_view_unchanged(dtype: str) -> None:
    payload = bytes([1, 0] * 24)
    data = Writer([Tensor("w", dtype, (6,), 5, payload[: payload_len(dtype, (6,))])]).into_bytes()
    with Reader.from_bytes(data) as reader:
        snapshot = TensorSnapshot.from_view(reader.view("w"))
        assert (snapshot.name, snapshot.dtype, snapshot.shape, snapshot.param_id) == ("w", dtype, (6,), 5)
        assert snapshot.to_numpy().dtype == numpy_dtype(dtype) and snapshot.to_numpy().shape == (6,)
        packed = snapshot.into_pack()
        assert packed.into_parts() == ("w", dtype, (6,), 5, payload[: snapshot.nbytes])
        assert TensorSnapshot.from_view(reader.view("w"), name="v").name == "v"


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_of_a_container_comes_through_its_entry_unchanged(dtype: str) -> None:
    entry = Tensor("w", dtype, (2, 3), 5, bytes([1, 0, 0, 0] * 12)[: payload_len(dtype, (2, 3))])
    snapshot = TensorSnapshot.from_pack(entry)
    assert snapshot.into_pack().into_parts() == entry.into_parts()
    assert snapshot.to_numpy().shape == (2, 3)


def test_a_quantized_tensor_keeps_scheme_and_payload() -> None:
    scheme = QuantScheme(value="Q4F")
    data = Writer([Tensor("q", scheme, (3, 3), data=bytes(range(16)))]).into_bytes()
    view = Reader.from_bytes(data).view("q")
    for snapshot in (
        TensorSnapshot.from_view(view),
        TensorSnapshot.from_pack(Tensor("q", scheme, (3, 3), data=bytes(range(16)))),
    ):
        assert (snapshot.dtype, snapshot.scheme, snapshot.shape, snapshot.nbytes) == (
            "qfloat",
            view.scheme,
            (3, 3),
            16,
        )
        assert snapshot.to_numpy().tolist() == list(range(16))
        moved = snapshot.rename("r").into_pack()
        assert (moved.name, moved.scheme, moved.to_bytes()) == ("r", view.scheme, bytes(range(16)))


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.arange(6, dtype=np.int16).reshape(3, 2).T,
        np.broadcast_to(np.float64(2), (3,)),
        np.arange(4, dtype=">i4"),
        np.array(True),
        np.zeros((0, 3), ml_dtypes.bfloat16),
        np.arange(10, dtype=np.uint8)[::-3],
    ],
    ids=["plain", "transposed", "broadcast", "big-endian", "scalar", "empty", "reversed"],
)
def test_an_array_is_written_as_its_elements_say(array: np.ndarray[Any, Any]) -> None:
    snapshot = TensorSnapshot.from_array("w", array, param_id=3)
    assert snapshot.shape == array.shape and snapshot.nbytes == array.nbytes
    assert np.array_equal(snapshot.to_numpy(), array)
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    assert snapshot.into_pack().to_bytes() == little.tobytes()
    read = Reader.from_bytes(save({"w": snapshot.into_pack()})).view("w")
    assert np.array_equal(read.numpy(), array) and read.param_id == 3


def test_an_array_is_shared() -> None:
    array = np.zeros(3)
    snapshot = TensorSnapshot.from_array("w", array)
    array[0] = 7
    assert snapshot.to_numpy()[0] == 7.0 and np.shares_memory(snapshot.to_numpy(), array)


def test_a_producer_runs_once_for_every_use_and_not_before() -> None:
    runs: list[int] = []

    def provide() -> bytes:
        runs.append(1)
        return bytes(8)

    snapshot = TensorSnapshot("w", "f32", (2,), provide)
    renamed = snapshot.rename("v").with_container(["Struct:A", "Struct:Linear"])
    doubled = renamed.map_data("u", "f64", (2,), lambda array: array.astype(np.float64) * 2)
    packed = doubled.into_pack()
    assert (doubled.nbytes, packed.byte_len(), len(runs)) == (16, 16, 0)
    assert doubled.container_path == "Struct:A.Struct:Linear" and snapshot.container_path == ""
    doubled.to_numpy(), packed.to_bytes(), snapshot.to_numpy()
    assert len(runs) == 3


def test_names_change_on_the_copy_alone() -> None:
    snapshot = TensorSnapshot.from_array("w", np.ones(2), param_id=2**64 - 1)
    assert (snapshot.rename("v").name, snapshot.rename("v").param_id, snapshot.name) == ("v", 2**64 - 1, "w")
    assert repr(snapshot) == "TensorSnapshot(name='w', dtype='f64', shape=(2,))"


def test_a_snapshot_is_drawn_from_any_thread() -> None:
    snapshot = TensorSnapshot.from_array("w", np.arange(1000)).map_data("w", "i64", (1000,), lambda a: a + 1)
    with ThreadPoolExecutor(4) as pool:
        totals = set(pool.map(lambda _: int(snapshot.to_numpy().sum()), range(32)))
    assert totals == {500500}


@pytest.mark.parametrize(
    ("produced", "kind", "words"),
    [
        (np.zeros(2, np.float64), ValidationError, r"float64 \[2\] was produced, float32 \[2\] was declared"),
        (np.zeros(2, np.int32), ValidationError, "int32"),
        (np.zeros((1, 2), np.float32), ValidationError, r"float32 \[1, 2\] was produced"),
        (bytes(9), TensorBytesSizeMismatch, "9 bytes were produced, 8 were declared"),
        (b"", TensorBytesSizeMismatch, "0 bytes"),
    ],
)
def test_what_was_not_declared_is_an_error_of_the_tensor(
    produced: Any, kind: type[Exception], words: str
) -> None:
    snapshot = TensorSnapshot("fc.w", "f32", (2,), lambda: produced)
    for use in (snapshot.to_numpy, snapshot.into_pack().to_bytes):
        with pytest.raises(kind, match=words) as raised:
            use()
        assert "fc.w" in str(raised.value)


def test_what_the_producer_raises_comes_out_or_is_the_cause() -> None:
    def provide() -> bytes:
        raise OSError(5, "disk on fire")

    snapshot = TensorSnapshot("w", "f32", (2,), provide)
    with pytest.raises(OSError, match="disk on fire"):
        snapshot.to_numpy()
    with pytest.raises(OSError, match="disk on fire") as raised:
        snapshot.into_pack().to_bytes()
    assert isinstance(raised.value.__cause__, OSError)


@pytest.mark.parametrize("dtype", FOREIGN)
def test_foreign_elements_are_carried_but_no_burnpack_has_them(dtype: str) -> None:
    size = payload_len(dtype, (2,))
    snapshot = TensorSnapshot("w", dtype, (2,), lambda: bytes(size))
    assert snapshot.to_numpy().shape == (2,) and dtype_of(snapshot.to_numpy().dtype) == dtype
    with pytest.raises(DTypeError, match=f"tensor 'w': burnpack has no dtype for {dtype}") as raised:
        snapshot.into_pack()
    assert (raised.value.tensor, raised.value.dtype) == ("w", dtype)


@pytest.mark.parametrize(("dtype", "length"), PACKED.items())
def test_packed_elements_are_bytes_in_a_row(dtype: str, length: int) -> None:
    snapshot = TensorSnapshot("w", dtype, (2, 3), lambda: bytes(range(length)))
    assert snapshot.nbytes == length and snapshot.to_numpy().tolist() == list(range(length))
    with pytest.raises(DTypeError, match="burnpack has no dtype"):
        snapshot.into_pack()


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: TensorSnapshot("w", "F32", (2,), bytes), DTypeError, "unknown dtype 'F32'"),
        (lambda: TensorSnapshot("w", "qfloat", (2,), bytes), DTypeError, "unknown dtype 'qfloat'"),
        (lambda: TensorSnapshot("w", object, (2,), bytes), DTypeError, "no dtype of a checkpoint is object"),
        (lambda: TensorSnapshot("w", "f32", (-2,), bytes), ValueError, "'w' has a negative extent"),
        (lambda: TensorSnapshot("w", "f32", ("a",), bytes), ValueError, "invalid literal"),
        (lambda: TensorSnapshot("w", "f32", (2,), b""), TypeError, "provider must be callable, got bytes"),
        (lambda: TensorSnapshot.from_array("w", ["text"]), DTypeError, "no dtype of a checkpoint is"),
        (lambda: TensorSnapshot.from_array("w", np.ma.array([1.0])), TypeError, "'w' is a masked array"),
        (lambda: TensorSnapshot("w", QuantScheme(value="Q9"), (8,), bytes), ValueError, "unknown value"),
        (
            lambda: TensorSnapshot("w", "f32", (2,), lambda: 3).to_numpy(),
            TypeError,
            "'w': the provider returned int, which is",
        ),
        (lambda: numpy_dtype("nope"), DTypeError, "unknown dtype 'nope'"),
        (lambda: payload_len("qfloat", (2,)), DTypeError, "needs its scheme"),
    ],
)
def test_what_makes_no_tensor_is_refused(make: Callable[[], Any], kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()
