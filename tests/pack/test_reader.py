"""Reader under Burn's names: opening, limits, what it tells, how it ends."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy.numpy import save, save_file
from burnpy.pack import (
    InvalidHeader,
    Limits,
    QuantScheme,
    Reader,
    Scalar,
    Tensor,
    TensorNotFound,
    ValidationError,
    Writer,
)


@pytest.fixture
def data() -> bytes:
    tensors = [Tensor("b", "f32", (2,), 7, np.zeros(2, np.float32)), Tensor("a", "u8", (3,), data=b"xyz")]
    return Writer(tensors).with_metadata("k", "v").with_scalar("n", 3).into_bytes()


def test_names_are_sorted_and_keys_lie_as_the_data(data: bytes) -> None:
    reader = Reader.from_bytes(data)
    assert (reader.tensor_names(), reader.keys(), len(reader)) == (["a", "b"], ["b", "a"], 2)
    assert [tensor.name for tensor in reader.into_tensors()] == ["a", "b"]
    assert reader.tensor_data("a") == b"xyz" and "a" in reader and "c" not in reader and 3 not in reader
    with pytest.raises(TensorNotFound):
        reader.tensor_data("c")


def test_metadata_scalars_and_header_are_told(data: bytes) -> None:
    reader = Reader.from_bytes(data)
    assert reader.metadata() == {"k": "v"} and reader.scalars() == {"n": Scalar.uint(3)}
    assert reader.header.version == 1 and reader.data_start % 256 == 0
    assert reader.path is None and "memory" in repr(reader)
    info = reader.info("b")
    assert (info.dtype, info.shape, info.param_id, info.scheme) == ("f32", (2,), 7, None)
    assert info == pickle.loads(pickle.dumps(info)) != reader.info("a")


def test_a_container_is_written_again_from_its_tensors(data: bytes) -> None:
    reader = Reader.from_bytes(data)
    by_name = {tensor.name: tensor for tensor in reader.into_tensors()}
    tensors = [by_name[name] for name in reader.keys()]  # noqa: SIM118, a reader is no mapping
    assert Writer(tensors, reader.metadata(), reader.scalars()).into_bytes() == data


def test_only_from_file_adds_an_extension_and_only_where_there_is_none(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.bpk").write_bytes(data)
    (tmp_path / "m-1.0.bpk").write_bytes(data)
    reader = Reader.from_file(tmp_path / "m")
    assert reader.path == tmp_path / "m.bpk" and str(reader.path) in repr(reader)
    for attempt in (
        lambda: Reader.from_file_exact(tmp_path / "m"),
        lambda: Reader.from_file(tmp_path / "m-1.0"),
    ):
        with pytest.raises(FileNotFoundError):
            attempt()


def test_limits_are_kept_by_readers_of_files_and_of_memory(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.bpk").write_bytes(data)
    for limits in (Limits(max_tensors=1), Limits(max_tensor_bytes=7), Limits(max_metadata_bytes=20)):
        for attempt in (
            lambda limits=limits: Reader.from_bytes(data, limits=limits),
            lambda limits=limits: Reader.from_file(tmp_path / "m.bpk", limits=limits),
        ):
            with pytest.raises(ValidationError) as caught:
                attempt()
            assert caught.value.found > caught.value.limit
    with pytest.raises(ValidationError):
        Reader.from_file(tmp_path / "m.bpk", limits=Limits(max_file_bytes=100))
    assert len(Reader.from_bytes(data, limits=Limits(max_file_bytes=100))) == 2


def test_strict_refuses_what_burns_writer_does_not_write(data: bytes) -> None:
    assert len(Reader.from_bytes(data, strict=True)) == 2
    start = Reader.from_bytes(data).data_start
    padded = data[: start - 1] + b"\1" + data[start:]
    assert len(Reader.from_bytes(padded)) == 2
    with pytest.raises(ValidationError):
        Reader.from_bytes(padded, strict=True)


def test_errors_pickle_with_their_fields(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.bpk").write_bytes(data[:50])
    with pytest.raises(InvalidHeader) as caught:
        Reader.from_file(tmp_path / "m.bpk")
    error = pickle.loads(pickle.dumps(caught.value))
    assert type(error) is InvalidHeader and str(error) == str(caught.value)
    assert (error.path, error.found, error.limit) == (str(tmp_path / "m.bpk"), 50, caught.value.limit)


def test_a_reader_of_a_file_pickles_by_path_and_one_of_memory_does_not(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.bpk").write_bytes(data)
    reader = Reader.from_file(tmp_path / "m.bpk", backend="pread", limits=Limits(max_tensors=2))
    assert pickle.loads(pickle.dumps(reader)).tensor_data("a") == b"xyz"
    with pytest.raises(TypeError, match="has no path"):
        pickle.dumps(Reader.from_bytes(data))


def test_a_closed_reader_says_so() -> None:
    with Reader.from_bytes(save({"x": np.zeros(1)})) as reader:
        pass
    with pytest.raises(ValueError, match="memory: the reader is closed"):
        reader.keys()


@pytest.mark.parametrize("kind", ["bytes", "bytearray", "memoryview", "array"])
def test_any_buffer_is_read_where_it_lies(data: bytes, kind: str) -> None:
    given = {
        "bytes": data,
        "bytearray": bytearray(data),
        "memoryview": memoryview(data),
        "array": np.frombuffer(data, np.uint8),
    }[kind]
    reader = Reader.from_bytes(given)
    del given
    assert reader.tensor_data("a") == b"xyz"
    with pytest.raises(TypeError):
        Reader.from_bytes("text")  # type: ignore[arg-type]
    with pytest.raises(BufferError):
        Reader.from_bytes(memoryview(data)[::2])


def test_a_scheme_that_cannot_be_is_told_when_its_tensor_is_asked_for(golden: Path) -> None:
    with Reader.from_file(golden / "burn/containers/reader/qfloat_any_length.bpk") as reader:
        (name,) = reader.tensor_names()
        assert isinstance(reader.info(name).scheme, QuantScheme)
        for ask in (
            reader.tensor_data,
            lambda name: reader.view(name).numpy(),
            lambda _: reader._arrays(copy=False),
        ):
            with pytest.raises(ValidationError):
                ask(name)


def test_tensors_that_share_a_place_are_told_apart(tmp_path: Path) -> None:
    save_file({name: np.zeros(0) for name in "cab"}, tmp_path / "m.bpk")
    with Reader.from_file(tmp_path / "m.bpk") as reader:
        assert [reader.view(name).info().name for name in "abc"] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_tensors", -1), ("max_tensors", "a"), ("max_depth", 2**40), ("max_file_bytes", 1.5)],
)
def test_limits_that_cannot_be_are_refused_when_they_are_made(field: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{field} must be an int from 0 to [0-9]+, got"):
        Limits(**{field: value})
