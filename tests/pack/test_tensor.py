"""`burnpy.pack.Tensor`: resident and deferred."""

import gc
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from burnpy.errors import DTypeError
from burnpy.pack import QuantScheme, Tensor, TensorBytesSizeMismatch, ValidationError, Writer

DTYPES = ["f64", "f32", "flex32", "f16", "bf16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8",
          "bool", "bool(u8)", "bool(u32)"]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_keeps_what_it_is_made_of(dtype: str) -> None:
    data = bytes(range(48))
    tensor = Tensor("w", dtype, (2, 3), 2**64 - 1, data)
    assert (tensor.name, tensor.dtype, tensor.shape, tensor.param_id) == ("w", dtype, (2, 3), 2**64 - 1)
    assert tensor.scheme is None
    assert tensor.byte_len() == 48 and tensor.to_bytes() == tensor.into_bytes() == data
    assert tensor.into_parts() == ("w", dtype, (2, 3), 2**64 - 1, data)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (np.float32, "f32"),
        (np.dtype("<i8"), "i64"),
        (ml_dtypes.bfloat16, "bf16"),
        (np.dtype(bool), "bool"),
        ("u8", "u8"),
    ],
)
def test_a_numpy_dtype_will_do(dtype: Any, name: str) -> None:
    assert Tensor("w", dtype, (), data=b"").dtype == name


@pytest.mark.parametrize("dtype", [complex, np.dtype("O"), "S3", "qfloat", "F32", "float32", 3])
def test_an_unknown_dtype_is_refused(dtype: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"dtype|type"):
        Tensor("w", dtype, (), data=b"")


SCHEMES = [
    (QuantScheme(), (8,), 12),
    (QuantScheme(value="Q4F"), (3, 3), 16),
    (QuantScheme(value="Q8S", store="Native", tensor="F32", block_size=(4,), block_dtype="UE4M3"), (8,), 14),
    (QuantScheme(value="Q8S", store="Native", block_size=(4,), block_dtype="UE8M0"), (8,), 10),
    (QuantScheme(value="E2M1", store="PackedNative", packed_dim=1, tensor="BF16"), (4, 3), 8),
]


@pytest.mark.parametrize(("scheme", "shape", "byte_len"), SCHEMES)
def test_a_scheme_makes_a_quantized_tensor(
    scheme: QuantScheme, shape: tuple[int, ...], byte_len: int
) -> None:
    tensor = Tensor.deferred("q", dtype=scheme, shape=shape, provider=bytes)
    assert (tensor.dtype, tensor.scheme, tensor.byte_len()) == ("qfloat", scheme, byte_len)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": "Q9"}, "unknown value"),
        ({"store": "packed"}, "unknown store"),
        ({"mode": "linear"}, "unknown mode"),
        ({"tensor": "f32"}, "unknown scale dtype"),
        ({"block_size": (2, 2, 2, 2, 2, 2)}, "1 to 5 extents"),
    ],
)
def test_a_scheme_that_no_file_can_hold_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Tensor("q", QuantScheme(**fields), (8,), data=b"")


@pytest.mark.parametrize(
    "payload",
    [
        lambda: b"\1\0\2\0",
        lambda: bytearray(b"\1\0\2\0"),
        lambda: memoryview(b"\1\0\2\0"),
        lambda: np.array([1, 2], "<i2"),
        lambda: np.array([1, 2], ">i2"),
        lambda: np.array([2, 1], "<i2")[::-1],
        lambda: np.array([1, 9, 2, 9], "<i2")[::2],
    ],
)
def test_a_payload_is_an_array_or_a_buffer(payload: Callable[[], Any]) -> None:
    assert Tensor("w", "i16", (2,), data=payload()).to_bytes() == b"\1\0\2\0"
    assert Tensor.deferred("w", dtype="i16", shape=(2,), provider=payload).to_bytes() == b"\1\0\2\0"


def test_what_is_no_payload_is_refused() -> None:
    with pytest.raises(TypeError, match="list is no array"):
        Tensor("w", "i16", (2,), data=[1, 2])
    with pytest.raises(TypeError, match="data is missing"):
        Tensor("w", "i16", (2,))
    with pytest.raises(TypeError, match="provider must be callable"):
        Tensor.deferred("w", dtype="i16", shape=(2,), provider=b"")  # type: ignore[arg-type]


def test_bytes_are_shared_with_their_buffer() -> None:
    data = bytearray(4)
    tensor = Tensor("w", "u8", (4,), data=data)
    data[0] = 7
    assert tensor.to_bytes() == b"\7\0\0\0"
    with pytest.raises(BufferError):
        data.append(0)
    del tensor
    data.append(0)


def test_a_provider_runs_at_every_reading_and_never_before() -> None:
    calls = []
    tensor = Tensor.deferred("w", dtype="u8", shape=(2,), provider=lambda: calls.append(1) or b"ab")
    assert "w" in repr(tensor) and tensor.byte_len() == 2 and calls == []
    assert tensor.to_bytes() == tensor.to_bytes() == b"ab" and len(calls) == 2
    assert tensor.into_parts()[-1] == b"ab" and len(calls) == 3


def test_a_provider_that_returns_another_length_is_told_both() -> None:
    with pytest.raises(TensorBytesSizeMismatch) as caught:
        Tensor.deferred("w", dtype="f32", shape=(4,), provider=lambda: bytes(8)).to_bytes()
    assert (caught.value.tensor, caught.value.found, caught.value.limit) == ("w", 8, 16)


def test_an_exception_of_a_provider_is_the_cause() -> None:
    def fail() -> bytes:
        raise RuntimeError("out of rows")

    with pytest.raises(ValidationError, match="out of rows") as caught:
        Tensor.deferred("w", dtype="f32", shape=(4,), provider=fail).to_bytes()
    assert isinstance(caught.value.__cause__, RuntimeError) and caught.value.tensor == "w"


def test_an_interrupt_in_a_provider_stays_one() -> None:
    def interrupt() -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Tensor.deferred("w", dtype="f32", shape=(4,), provider=interrupt).to_bytes()


def test_a_shape_that_no_memory_holds_is_refused() -> None:
    with pytest.raises(ValidationError, match="overflow") as caught:
        Tensor.deferred("w", dtype="f32", shape=(2**63, 2, 0), provider=bytes)
    assert caught.value.tensor == "w"


def test_a_dtype_error_can_be_pickled() -> None:
    import pickle

    error = DTypeError("no", tensor="w", dtype="complex64")
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.tensor, copied.dtype) == ("no", "w", "complex64")


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.array([object()]), "u64"),
        (np.array([b"abcd"]), "u8"),
        (np.zeros(1, "M8[s]"), "i64"),
        (np.zeros(1, [("a", "f4")]), "f32"),
        (np.zeros(1, np.complex64), "f64"),
        (np.zeros(1), "i64"),
        (np.zeros(1, np.float32), "f64"),
        (np.zeros(1, np.float16), "bf16"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.dtype),
)
def test_an_array_of_other_elements_is_no_payload(array: np.ndarray[Any, Any], dtype: str) -> None:
    """Its bytes would be written as if they were numbers; those of an object array are addresses."""
    shape = (4,) if dtype == "u8" else (1,)
    with pytest.raises(TypeError, match="is no payload of a tensor of"):
        Tensor("w", dtype, shape, data=array)
    deferred = Tensor.deferred("w", dtype=dtype, shape=shape, provider=lambda: array)
    with pytest.raises(ValidationError, match=r'tensor "w".*is no payload of a tensor of'):
        deferred.to_bytes()


@pytest.mark.parametrize(
    ("array", "dtype"),
    [
        (np.zeros(2, np.int16), "bf16"),
        (np.zeros(1, np.uint32), "bool(u32)"),
        (np.zeros(1, np.float32), "flex32"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.dtype),
)
def test_integers_stand_for_the_bits_of_any_dtype(array: np.ndarray[Any, Any], dtype: str) -> None:
    assert Tensor("w", dtype, array.shape, data=array).to_bytes() == array.tobytes()


def test_a_provider_that_refers_to_its_owner_is_collected_with_it() -> None:
    class Layer:
        def __init__(self) -> None:
            self.tensor = Tensor.deferred("w", dtype="u8", shape=(4,), provider=lambda: bytes(self.size))
            self.size = 4

    layer = Layer()
    assert layer.tensor.to_bytes() == bytes(4) and Writer([layer.tensor]).size() == 260
    gone = weakref.ref(layer)
    del layer
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c8", ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_any_number_is_bytes(dtype: Any) -> None:
    array = np.ones(2, dtype)
    assert Tensor("w", "u8", (array.nbytes,), data=array).to_bytes() == array.tobytes()
