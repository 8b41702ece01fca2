"""`burnpy.numpy.save_file` and `save`."""

import collections
import os
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from burnpy import safe_open
from burnpy.errors import DTypeError
from burnpy.numpy import load, load_file, save, save_file
from burnpy.pack import Limits, Reader, Scalar, Tensor, ValidationError, Writer

ARRAYS: dict[str, Any] = {
    "plain": np.arange(6, dtype=np.float32).reshape(2, 3),
    "F order": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "transposed": np.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    "strided": np.arange(20, dtype=np.int16)[::3],
    "strided inside": np.arange(20, dtype=np.int16).reshape(4, 5)[:, 1:3],
    "reversed": np.arange(6, dtype=np.float64)[::-1],
    "reversed twice": np.arange(6, dtype=np.float64).reshape(2, 3)[::-1, ::-1],
    "broadcast": np.broadcast_to(np.float16(3), (4, 5)),
    "big-endian": np.arange(6, dtype=">i4").reshape(2, 3),
    "big-endian, strided": np.arange(12, dtype=">f8").reshape(3, 4).T[::2],
    "zero-size": np.zeros((0, 3), np.float32),
    "zero-size, F order": np.zeros((3, 0), np.float32, order="F"),
    "0-d": np.array(2.5),
    "scalar": np.float32(3),
    "unaligned": np.frombuffer(bytes(range(9)), np.uint8)[1:].view(np.uint16),
    "read-only": np.frombuffer(b"abc", np.uint8),
    "record's field": np.zeros(3, [("a", "u1"), ("b", "<f4")])["b"],
    "bf16": np.arange(5, dtype=ml_dtypes.bfloat16),
    "bf16, strided": np.arange(10, dtype=ml_dtypes.bfloat16)[::2],
    "bf16, nan": np.array([0x7FC1, 0xFFFF], np.uint16).view(ml_dtypes.bfloat16),
    "f16, nan": np.array([0x7E01, 0xFFFF], np.uint16).view(np.float16),
    "bool": np.array([[True], [False]]),
    "matrix of rank 9": np.arange(512).reshape((2,) * 9).T,
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    array = ARRAYS[name]
    save_file({name: array}, tmp_path / "model.bpk")
    for loaded in (load_file(tmp_path / "model.bpk")[name], load(save({name: array}))[name]):
        assert (loaded.shape, loaded.dtype) == (array.shape, array.dtype.newbyteorder("="))
        assert loaded.tobytes() == np.ascontiguousarray(array).astype(loaded.dtype).tobytes()


@pytest.mark.parametrize(
    "dtype", ["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "longlong"]
)
def test_every_dtype_has_its_name(dtype: str) -> None:
    kinds = {"f": "f", "i": "i", "u": "u", "b": "bool"}
    array = np.zeros(3, dtype)
    expected = kinds[array.dtype.kind] + ("" if dtype == "?" else str(8 * array.itemsize))
    assert Reader.from_bytes(save({"x": array})).info("x").dtype == expected


REFUSED = [
    np.array([object()]),
    np.zeros(2, complex),
    np.array(["text"]),
    np.array([b"text"]),
    np.array(["2020-01-01"], "M8[D]"),
    np.zeros(2, [("a", "f4")]),
    np.zeros(2, ml_dtypes.float8_e4m3fn),
    np.zeros(2, ml_dtypes.float8_e5m2),
    np.zeros(2, ml_dtypes.int4),
]


@pytest.mark.parametrize("array", REFUSED, ids=lambda array: str(array.dtype))
def test_a_dtype_without_counterpart_is_refused_by_name(array: np.ndarray[Any, Any], tmp_path: Path) -> None:
    with pytest.raises(DTypeError, match='tensor "odd"') as caught:
        save_file({"good": np.zeros(2), "odd": array}, tmp_path / "model.bpk")
    assert (caught.value.tensor, caught.value.dtype) == ("odd", str(array.dtype))
    assert isinstance(caught.value, TypeError)
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(np.dtype(np.longdouble).itemsize == 8, reason="long double is f64 here")
def test_long_doubles_are_refused() -> None:
    with pytest.raises(DTypeError):
        save({"x": np.zeros(2, np.longdouble)})


def test_a_mask_is_not_lost_silently() -> None:
    with pytest.raises(TypeError, match="masked"):
        save({"x": np.ma.masked_array([1, 2], [True, False])})


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([np.zeros(2)], "tensors must be a mapping, got list"),
        ({3: np.zeros(2)}, "keys of tensors must be str, got int 3"),
        ({"x": [1, 2]}, 'tensor "x" must be .* got list; numpy.asarray'),
        ({"x": None}, 'tensor "x" must be .* got NoneType'),
        ({"x": 3.0}, 'tensor "x" must be .* got float'),
    ],
)
def test_what_is_no_array_is_refused_by_name(tensors: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        save(tensors)


@pytest.mark.parametrize("name", ["", "a/b", "\0", "日本", "x" * 10_000, "a.b.c", " ", "\n"])
def test_a_name_is_free_text(name: str, tmp_path: Path) -> None:
    save_file(
        {name: np.arange(3)}, tmp_path / "model.bpk", {name: name}, scalars={name: 1}, param_ids={name: 2}
    )
    with safe_open(tmp_path / "model.bpk") as handle:
        assert (
            list(handle.keys()) == [name]
            and handle.metadata() == {name: name}
            and handle.scalars() == {name: 1}
        )
        assert handle.info(name).param_id == 2


def test_a_name_that_utf8_cannot_hold_is_refused() -> None:
    odd: Any = "\ud800"
    for arguments, place in (
        (({odd: np.zeros(2)},), "a key of tensors"),
        (({}, {odd: "v"}), "a key of metadata"),
        (({}, {"k": odd}), 'metadata "k"'),
    ):
        with pytest.raises(UnicodeEncodeError, match=f"surrogates not allowed, in {place}"):
            save(*arguments)
    with pytest.raises(UnicodeEncodeError, match="in a key of scalars"):
        save({}, scalars={odd: 1})


def test_data_lies_in_the_order_of_the_mapping() -> None:
    names = ["z", "a", "m"]
    arrays = {name: np.full(100, i, np.uint8) for i, name in enumerate(names)}
    for mapping in (dict, collections.OrderedDict, collections.ChainMap, types.MappingProxyType):
        tensors = mapping(arrays)
        assert list(load(save(tensors))) == list(tensors)


def test_any_mapping_will_do() -> None:
    class Lazy(Mapping[str, Any]):
        def __getitem__(self, key: str) -> Any:
            return np.full(2, int(key))

        def __iter__(self) -> Any:
            return iter("321")

        def __len__(self) -> int:
            return 3

    assert {name: array.tolist() for name, array in load(save(Lazy())).items()} == {
        "3": [3, 3],
        "2": [2, 2],
        "1": [1, 1],
    }


def test_tensors_stand_beside_arrays_and_the_key_wins() -> None:
    tensors = {
        "a": np.zeros(2, np.float32),
        "b": Tensor("other", "flex32", (2,), 7, bytes(8)),
        "c": Tensor.deferred("c", dtype="bool(u32)", shape=(1,), provider=lambda: bytes(4), param_id=8),
    }
    reader = Reader.from_bytes(save(tensors, param_ids={"a": 2**64 - 1, "c": 9}))
    found = {name: (reader.info(name).dtype, reader.info(name).param_id) for name in reader.keys()}  # noqa: SIM118
    assert found == {"a": ("f32", 2**64 - 1), "b": ("flex32", 7), "c": ("bool(u32)", 9)}


def test_what_a_handle_iterates_gives_the_same_bytes(tmp_path: Path) -> None:
    tensors = [
        Tensor("z", "flex32", (2,), 7, bytes(8)),
        Tensor("a", "bool(u8)", (3,), None, b"\1\0\1"),
        Tensor("m", "bf16", (), 2**64 - 1, b"\1\2"),
    ]
    path = tmp_path / "model.bpk"
    Writer(tensors, {"k": "v"}, {"n": Scalar.int_(3)}).write_to_file(path)
    for backend in ("mmap", "pread"):
        with safe_open(path, backend=backend) as handle:
            copied = save(handle, handle.metadata(), scalars=Reader.from_file(path).scalars())
        assert copied == path.read_bytes()


def test_scalars_keep_their_kind() -> None:
    scalars = {"flag": True, "u": 3, "i": -3, "f": 0.5, "chosen": Scalar.int_(3), "np": np.int8(3)}
    reader = Reader.from_bytes(save({}, scalars=scalars))
    assert {name: scalar.kind for name, scalar in reader.scalars().items()} == {
        "flag": "Bool", "u": "UInt", "i": "Int", "f": "Float", "chosen": "Int", "np": "Int",
    }  # fmt: skip


def test_equal_input_gives_equal_bytes_whatever_the_order_of_metadata() -> None:
    metadata, scalars = {str(i): "v" for i in range(20)}, {str(i): i for i in range(20)}
    reordered = {"metadata": dict(reversed(metadata.items())), "scalars": dict(reversed(scalars.items()))}
    assert save({}, metadata, scalars=scalars) == save({}, **reordered)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"metadata": {"k": 1}}, TypeError, 'metadata "k" must be a str, got int'),
        ({"metadata": {1: "v"}}, TypeError, "keys of metadata must be str"),
        ({"scalars": {"k": "v"}}, TypeError, 'scalar "k" must be'),
        ({"scalars": {"k": 2**64}}, OverflowError, 'scalar "k" is 18446744073709551616'),
        ({"param_ids": {"y": 1}}, ValueError, "param_ids names 'y', but no tensor has this name"),
        ({"param_ids": {"x": -1}}, OverflowError, 'param_ids "x" must be an int from 0 to'),
        ({"param_ids": {"x": 2**64}}, OverflowError, 'param_ids "x" must be an int from 0 to'),
        ({"param_ids": {"x": "1"}}, TypeError, 'param_ids "x" must be an int from 0 to'),
        ({"limits": 3}, TypeError, "limits must be burnpy.pack.Limits, got int"),
        ({"limits": Limits(max_tensor_bytes=7)}, ValidationError, "over the limit of 7"),
    ],
)
def test_arguments_are_checked_before_a_file_exists(
    arguments: dict[str, Any], error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        save_file({"x": np.zeros(1)}, tmp_path / "model.bpk", **arguments)
    assert os.listdir(tmp_path) == []


def test_the_name_of_the_file_is_used_as_it_is(tmp_path: Path) -> None:
    save_file({}, tmp_path / "model")
    save_file({}, str(tmp_path / "other.ckpt"), durable=True)
    assert sorted(os.listdir(tmp_path)) == ["model", "other.ckpt"]


def test_a_dict_that_changes_while_it_is_saved_does_no_harm() -> None:
    tensors: dict[str, Any] = {}

    def provider() -> bytes:
        tensors.clear()
        return bytes(4)

    tensors["first"] = Tensor.deferred("first", dtype="u8", shape=(4,), provider=provider)
    tensors["second"] = np.full(1 << 20, 7, np.uint8)
    loaded = load(save(tensors))
    assert tensors == {} and loaded["second"].tobytes() == b"\7" * (1 << 20)


def test_saving_holds_on_to_nothing() -> None:
    import sys

    array = np.zeros(8)
    tensors = {"a": array, "b": array.reshape(2, 4).T}
    before = sys.getrefcount(array)
    data = save(tensors)
    assert sys.getrefcount(array) == before and len(data) > 0
