"""Every container that Burn wrote is read to the values it had, and written again to the same bytes."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy import errors
from burnpy._typing import Backend
from burnpy.numpy import load, load_file
from burnpy.pack import QuantScheme, Reader, Tensor, Writer
from burnpy.testing.strategies import PLAIN_DTYPES
from tests.golden_containers import BURN, GoldenFile, bits, dtype_text, golden_files, manifest, scalar, scheme

pytestmark = pytest.mark.golden

Arrays = dict[str, Any]


def _by_handle(path: Path, backend: Backend) -> Arrays:
    with burnpy.safe_open(path, backend=backend) as handle:
        return {name: handle.get_tensor(name) for name in handle}


WAYS: dict[str, Callable[[Path], Arrays]] = {
    "load_file, mapped": lambda path: load_file(path, backend="mmap"),
    "load_file, read": lambda path: load_file(path, backend="pread"),
    "load_file, copied": lambda path: load_file(path, copy=True),
    "load": lambda path: load(path.read_bytes()),
    "safe_open, mapped": lambda path: _by_handle(path, "mmap"),
    "safe_open, read": lambda path: _by_handle(path, "pread"),
}
OPENINGS: dict[str, Callable[[Path], Reader]] = {
    "from_file, mapped": lambda path: Reader.from_file(path, strict=True, backend="mmap"),
    "from_file, read": lambda path: Reader.from_file(path, strict=True, backend="pread"),
    "from_bytes": lambda path: Reader.from_bytes(path.read_bytes(), strict=True),
}
files = pytest.mark.parametrize("file", golden_files(), ids=str)


def test_every_container_of_the_folder_is_told_by_a_manifest() -> None:
    told = {file.path for file in golden_files()} | {BURN / "containers" / case["file"] for case in _cases()}
    assert set(BURN.rglob("*.bpk")) == told


@files
def test_a_file_is_the_one_that_the_manifest_tells_of(file: GoldenFile) -> None:
    assert _sha256(file.path.read_bytes()) == file.told["sha256"]


@pytest.mark.parametrize("way", WAYS)
@files
def test_arrays_have_the_dtype_shape_and_bits_that_burn_wrote(file: GoldenFile, way: str) -> None:
    arrays = WAYS[way](file.path)
    assert arrays.keys() == {told["name"] for told in file.tensors}
    for told in file.tensors:
        array, (dtype, shape) = arrays[told["name"]], _array_type(told)
        assert (array.dtype, array.shape) == (dtype, shape or array.shape), told["name"]
        assert _sha256(array.tobytes()) == told["sha256"], told["name"]


def _array_type(told: dict[str, Any]) -> tuple[np.dtype[Any], tuple[int, ...] | None]:
    """A quantized payload comes as its bytes, in one dimension."""
    dtype = dtype_text(told["dtype"])
    return (np.dtype("u1"), None) if dtype == "qfloat" else (PLAIN_DTYPES[dtype], tuple(told["shape"]))


@pytest.mark.parametrize("opening", OPENINGS)
@files
def test_a_strict_reader_tells_what_the_manifest_tells(file: GoldenFile, opening: str) -> None:
    with OPENINGS[opening](file.path) as reader:
        for told in file.tensors:
            _check_tensor(reader, told)
        assert reader.tensor_names() == sorted(told["name"] for told in file.tensors)
        assert reader.metadata() == file.told.get("metadata", {})
        expected = {name: bits(scalar(told)) for name, told in file.told.get("scalars", {}).items()}
        assert {name: bits(found) for name, found in reader.scalars().items()} == expected
        # One file holds booleans of other values, to show that Burn writes what it is given.
        assert all("not 0 or 1" in str(problem) for problem in reader.problems())


def _check_tensor(reader: Reader, told: dict[str, Any]) -> None:
    info = reader.info(told["name"])
    found = (info.dtype, info.scheme, info.shape, info.param_id)
    expected = (dtype_text(told["dtype"]), scheme(told["dtype"]), tuple(told["shape"]), told["param_id"])
    assert found == expected, told["name"]
    assert list(info.offsets) == told.get("data_offsets", list(info.offsets)), told["name"]
    assert _sha256(reader.tensor_data(told["name"])) == told["sha256"], told["name"]


@pytest.mark.parametrize("file", [file for file in golden_files() if file.has_offsets], ids=str)
def test_keys_go_in_data_order(file: GoldenFile) -> None:
    # Tensors without bytes may share a place: there, data order is no more than the place.
    with Reader.from_file(file.path) as reader:
        offsets = [reader.info(name).offsets for name in reader.keys()]  # noqa: SIM118 (not a mapping)
    assert offsets == sorted(offsets) == [tuple(told["data_offsets"]) for told in file.tensors]


@files
def test_writing_what_was_read_gives_the_same_bytes(file: GoldenFile, tmp_path: Path) -> None:
    """Also where Burn orders tensors by chance, so that it would not write the same bytes twice: the order is kept."""
    with Reader.from_file(file.path) as reader:
        writer = _writer(reader)
        assert _sha256(writer.into_bytes()) == file.told["sha256"]
        writer.write_to_file(tmp_path / "again.bpk")
    assert _sha256((tmp_path / "again.bpk").read_bytes()) == file.told["sha256"]


def _writer(reader: Reader) -> Writer:
    """Everything a reader tells, in data order."""
    tensors = {tensor.name: tensor for tensor in reader.into_tensors()}
    in_data_order = [tensors[name] for name in reader.keys()]  # noqa: SIM118 (not a mapping)
    return Writer(in_data_order, reader.metadata(), reader.scalars())


# What Burn's reader says to files that its writer would not write.

Case = dict[str, Any]


def _cases() -> list[Case]:
    cases: list[Case] = manifest(BURN / "containers" / "manifest.json")["reader_cases"]
    return cases


UNLIKE_BURN: dict[str, Any] = {
    # Burn 0.20 wrote this; a reader of today would refuse every model of that time with a boolean in it.
    "bool_plain_text": ("bool", None),
    # Schemes of Burn 0.21: level and type of the scale are kept. Burn ignores the old keys as unknown ones and reads
    # each as a scheme with one f32 scale, so that the values are wrong and nobody is told.
    "qfloat_old_keys": ("qfloat", QuantScheme(value="Q8S", store="Native", tensor="F16")),
    "qfloat_old_block": ("qfloat", QuantScheme(value="Q8S", store="Native", block_size=(4,))),
    # Burn takes a third offset for the next key's beginning, and reads on only because nothing follows.
    "offsets_three": errors.MetadataDeserializationError,
    # Both open, as in Burn. A tensor that no formula describes is refused when it is asked for, not handed out to
    # crash whoever unpacks it.
    "qfloat_any_length": "refused when asked for",
    "qfloat_block_len_6": "refused when asked for",
}
ODD_OPENINGS: dict[str, Callable[[Path], Reader]] = {
    "from_bytes": lambda path: Reader.from_bytes(path.read_bytes()),
    "from_file, mapped": lambda path: Reader.from_file(path, backend="mmap"),
    "from_file, read": lambda path: Reader.from_file(path, backend="pread"),
}
odd_files = pytest.mark.parametrize("case", _cases(), ids=lambda case: Path(case["file"]).stem)
odd_openings = pytest.mark.parametrize("opening", ODD_OPENINGS.values(), ids=ODD_OPENINGS)


@odd_openings
@odd_files
def test_an_odd_file_is_taken_or_refused_as_burn_does(case: Case, opening: Callable[[Path], Reader]) -> None:
    path, stem = BURN / "containers" / case["file"], Path(case["file"]).stem
    match UNLIKE_BURN.get(stem):
        case None if case["from_bytes"]["ok"]:
            _check_taken(opening(path), case["from_bytes"])
        case None:
            # From a file Burn says IoError where one ends too early; burnpy says the same as of bytes in memory.
            _check_refused(opening, path, getattr(errors, case["from_bytes"]["error"]["kind"]))
        case "refused when asked for":
            reader = opening(path)
            _check_refused(lambda _: reader.tensor_data("w"), path, errors.ValidationError)
            _check_refused(lambda _: reader.into_tensors(), path, errors.ValidationError)
        case (dtype, expected_scheme):
            info = opening(path).info("w")
            assert (info.dtype, info.scheme) == (dtype, expected_scheme)
        case expected:
            _check_refused(opening, path, expected)


def _check_taken(reader: Reader, told: Case) -> None:
    assert reader.tensor_names() == told["names"]
    for tensor in told["tensors"]:
        _check_tensor(reader, tensor)
    assert reader.metadata() == told.get("metadata", {})
    expected = {name: bits(scalar(value)) for name, value in told.get("scalars", {}).items()}
    assert {name: bits(found) for name, found in reader.scalars().items()} == expected


def _check_refused(act: Callable[[Path], object], path: Path, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        act(path)
    # Exactly this kind: a subclass would be another one to whoever catches it.
    assert caught.type is error


@odd_files
def test_strict_mode_refuses_at_open_what_burn_refuses_and_what_is_unlike_burn(case: Case) -> None:
    if case["from_bytes"]["ok"] and Path(case["file"]).stem not in UNLIKE_BURN:
        return
    with pytest.raises(errors.Error):
        Reader.from_file(BURN / "containers" / case["file"], strict=True)


@odd_files
def test_problems_are_found_where_strict_mode_refuses_and_nowhere_else(case: Case) -> None:
    path = BURN / "containers" / case["file"]
    try:
        reader = Reader.from_file(path)
    except errors.Error:
        return
    # The values of booleans are not looked at when a file is opened, strictly or not.
    if all("not 0 or 1" in str(problem) for problem in reader.problems()):
        # What strict mode takes is what Burn's writer would have written, and so does burnpy's.
        assert _writer(Reader.from_file(path, strict=True)).into_bytes() == path.read_bytes()
    else:
        with pytest.raises(errors.Error):
            Reader.from_file(path, strict=True)


# What the writer refuses: told in prose by the manifest, so each case is written down here under its name.


def _w(dtype: str | QuantScheme, shape: tuple[int, ...], num_bytes: int) -> Tensor:
    return Tensor("w", dtype, shape, data=bytes(num_bytes))


def _late(declared: int, provider: Callable[[], Any]) -> Tensor:
    return Tensor.deferred("late", dtype="f32", shape=(2, 2), byte_len=declared, provider=provider)


def _fails(error: Exception) -> Callable[[], Any]:
    def provider() -> Any:
        raise error

    return provider


WRITES: dict[str, tuple[list[Tensor], str | None]] = {
    "duplicate name": ([_w("f32", (1,), 4), _w("f32", (1,), 4)], None),
    "payload too short": ([_w("f32", (2, 2), 12)], None),
    "payload too long": ([_w("f32", (2, 2), 20)], None),
    "rank 0 without payload": ([_w("f32", (), 0)], None),
    "zero-size shape with payload": ([_w("f32", (0,), 4)], None),
    "shape product overflows u64": ([_w("f32", (2**64 - 1, 2), 4)], None),
    # Unlike Burn, which writes what no reader can unpack.
    "quantized payload of any length": ([_w(QuantScheme(), (4,), 3)], "ValidationError"),
    "deferred: declared length is wrong for the shape": ([_late(8, lambda: bytes(8))], None),
    "deferred: provider returns another length": ([_late(16, lambda: bytes(8))], None),
    "deferred: provider fails": ([_late(16, _fails(OSError("disk gone")))], None),
    "deferred: provider fails without message": ([_late(16, _fails(errors.InvalidHeader()))], None),
}
WRITER_ERRORS: list[Case] = manifest(BURN / "containers" / "manifest.json")["writer_errors"]


def test_every_writer_error_of_the_manifest_is_tried() -> None:
    assert WRITES.keys() == {case["what"] for case in WRITER_ERRORS}


@pytest.mark.parametrize("case", WRITER_ERRORS, ids=lambda case: case["what"])
def test_the_writer_refuses_what_burns_writer_refuses(case: Case, tmp_path: Path) -> None:
    tensors, unlike_burn = WRITES[case["what"]]
    kind = getattr(errors, unlike_burn or case["into_bytes"]["kind"])
    with pytest.raises(kind):
        Writer(tensors).into_bytes()
    with pytest.raises(kind):
        Writer(tensors).write_to_file(tmp_path / "model.bpk")
    assert list(tmp_path.iterdir()) == []
    if isinstance(case["size_call"], int) and unlike_burn is None:
        assert Writer(tensors).size() == case["size_call"]
    else:
        with pytest.raises(kind):
            Writer(tensors).size()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
