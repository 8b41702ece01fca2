"""`burnpy.pack.Writer`, its Header and AtomicFile."""

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy import pack
from burnpy.pack import (
    AlreadyExists,
    AtomicFile,
    Header,
    InvalidHeader,
    InvalidMagicNumber,
    IoError,
    Limits,
    QuantScheme,
    Reader,
    Scalar,
    Tensor,
    TensorBytesSizeMismatch,
    ValidationError,
    Writer,
)


def tensor(name: str = "w", size: int = 4) -> Tensor:
    return Tensor(name, "u8", (size,), data=bytes(size))


def deferred(name: str, provider: Callable[[], Any], size: int = 4) -> Tensor:
    return Tensor.deferred(name, dtype="u8", shape=(size,), provider=provider)


def worked_example() -> Writer:
    values = np.array([1.0, -2.5], np.float32)
    writer = Writer([Tensor("w", "f32", (2,), 7, values)])
    return writer.with_metadata("producer", "burnpy").with_scalar("step", 300).with_scalar("lr", 0.001)


# Byte vectors, as Burn writes the same.
VECTORS: dict[str, tuple[Callable[[], Writer], int, str]] = {
    "worked example": (
        worked_example,
        264,
        "5254d356798cd97d7d971e8caef1c39252fdf8584c600304f09ee2046a2e0556",
    ),
    "empty": (lambda: Writer([]), 256, "d51cafc1a9901c1d26d289a9e29457bb4bb041f704ee783577e890d516927813"),
    "offsets": (
        lambda: Writer(
            [
                Tensor("z", "u8", (3,), data=b"\1\2\3"),
                Tensor("e", "i64", (0, 4), data=b""),
                Tensor("s", "bool", (), data=b"\1"),
            ]
        ),
        513,
        "6ed370aeeae21e24fa30e494a80e8660452d2d5914bddaa5e1e996a0535ce8cd",
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_the_bytes_are_those_that_burn_writes(name: str, tmp_path: Path) -> None:
    make, size, sha256 = VECTORS[name]
    writer = make()
    data = writer.into_bytes()
    assert (len(data), writer.size(), hashlib.sha256(data).hexdigest()) == (size, size, sha256)
    writer.write_to_file(tmp_path / "atomic")
    writer.write_to_file_in_place(tmp_path / "in_place")
    assert (tmp_path / "atomic.bpk").read_bytes() == (tmp_path / "in_place.bpk").read_bytes() == data


def test_metadata_and_scalars_are_written_in_one_order() -> None:
    texts, numbers = {"b": "1", "a": "2", "日": "3"}, {"y": 1, "x": -1.5}
    data = Writer([], texts, numbers).into_bytes()
    assert data == Writer([], dict(reversed(texts.items())), dict(reversed(numbers.items()))).into_bytes()
    built = Writer([])
    for key, value in {**texts, "a": "0"}.items():
        built = built.with_metadata(key, value)
    built = built.with_metadata("a", "2").with_scalar("x", Scalar(-1.5)).with_scalar("y", Scalar.uint(1))
    assert built.into_bytes() == data


def test_write_into_fills_the_front_of_a_buffer() -> None:
    writer = worked_example()
    size = writer.size()
    for buffer in (bytearray(size + 3), np.full(size + 3, 255, np.uint8), memoryview(bytearray(size + 3))):
        tail = bytes(memoryview(buffer)[size:])
        assert writer.write_into(buffer) == size
        assert bytes(memoryview(buffer)) == writer.into_bytes() + tail
    with pytest.raises(IoError, match="263 bytes, 264 are needed"):
        writer.write_into(short := bytearray(size - 1))
    assert short == bytes(size - 1)


def test_write_into_wants_memory_that_can_be_written() -> None:
    with pytest.raises(BufferError, match="read-only"):
        Writer([]).write_into(bytes(256))
    with pytest.raises(BufferError, match="contiguous"):
        Writer([]).write_into(np.zeros(512, np.uint8)[::2])


def test_every_start_is_aligned_and_data_lies_in_the_order_given() -> None:
    names = ["zebra", "alpha", "mango"]
    data = Writer([tensor(name, size) for name, size in zip(names, (300, 1, 2), strict=True)]).into_bytes()
    reader = Reader.from_bytes(data)
    assert reader.keys() == names and reader.tensor_names() == sorted(names)
    assert [reader.info(name).offsets[0] % 256 for name in names] == [0, 0, 0]


REFUSED: dict[str, tuple[Callable[[], Writer], str, int | None, int | None]] = {
    "a name twice": (lambda: Writer([tensor(), tensor()]), "its name stands twice", None, None),
    "too few bytes": (
        lambda: Writer([Tensor("w", "f32", (2, 2), data=bytes(8))]),
        "8 bytes, but shape .2, 2. of f32 need 16",
        8,
        16,
    ),
    "a declared length that cannot be": (
        lambda: Writer([Tensor.deferred("w", dtype="f32", shape=(2, 2), provider=bytes, byte_len=8)]),
        "need 16",
        8,
        16,
    ),
    "a quantized tensor of wrong length": (
        lambda: Writer([Tensor("w", QuantScheme(), (3,), data=bytes(9))]),
        "9 bytes",
        9,
        8,
    ),
    "an overflow": (
        lambda: Writer([Tensor("w", "f32", (2**63, 2, 0), data=b"")]),
        "overflows u64",
        None,
        None,
    ),
    "100,001 tensors": (
        lambda: Writer([Tensor(str(i), "u8", (0,), data=b"") for i in range(100_001)]),
        "number of tensors is 100001, over the limit of 100000",
        100_001,
        100_000,
    ),
    "100 MiB + 1 of metadata": (
        lambda: Writer([], {"k": "x" * (100 << 20)}),
        "size of the metadata in bytes is 1048[0-9]+, over the limit of 104857600",
        None,
        104_857_600,
    ),
    "a tensor of 10 GiB + 4": (
        lambda: Writer([Tensor.deferred("w", dtype="f32", shape=((10 << 28) + 1,), provider=bytes)]),
        "over the limit of 10737418240",
        (10 << 30) + 4,
        10 << 30,
    ),
    "a limit of one's own": (
        lambda: Writer([tensor()], limits=Limits(max_tensor_bytes=3)),
        "over the limit of 3",
        4,
        3,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_reader_would_refuse_is_refused_before_a_file_exists(case: str, tmp_path: Path) -> None:
    make, message, found, limit = REFUSED[case]
    for write in ("write_to_file", "write_to_file_in_place"):
        with pytest.raises(ValidationError, match=message) as caught:
            getattr(make(), write)(tmp_path / "model")
        assert found is None or caught.value.found == found
        assert caught.value.limit == limit
        assert os.listdir(tmp_path) == []
    with pytest.raises(ValidationError, match=message):
        make().size()


def test_a_file_is_measured_before_it_is_made(tmp_path: Path) -> None:
    writer = Writer([tensor()], limits=Limits(max_file_bytes=259))
    assert len(writer.into_bytes()) == 260
    with pytest.raises(ValidationError, match="the file in bytes is 260, over the limit of 259"):
        writer.write_to_file(tmp_path / "model")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "written"),
    [("model", "model.bpk"), (".hidden", ".hidden.bpk"), ("model.ckpt", "model.ckpt"), ("model.", "model."),
     ("run-v1.0", "run-v1.0"), ("..foo", "..foo"), (".bpk", ".bpk.bpk")],
)  # fmt: skip
def test_a_path_without_extension_gets_one(path: str, written: str, tmp_path: Path) -> None:
    Writer([]).write_to_file(tmp_path / path)
    assert os.listdir(tmp_path) == [written]
    Writer([], auto_extension=False).write_to_file(str(tmp_path / path))
    assert sorted(os.listdir(tmp_path)) == sorted({written, path})


def test_overwriting_can_be_off(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    writer = Writer([tensor()], overwrite=False)
    writer.write_to_file(path)
    before = path.read_bytes()
    for write in (writer.write_to_file, writer.write_to_file_in_place):
        with pytest.raises(AlreadyExists) as caught:
            write(path)
        assert isinstance(caught.value, FileExistsError) and caught.value.filename == str(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["model.bpk"]
    writer.overwrite(True).with_metadata("k", "v").write_to_file(path)
    assert path.read_bytes() != before


def test_limits_and_sync_can_be_set_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    with pytest.raises(ValidationError, match='tensor "w"') as caught:
        Writer([tensor()]).durable(False).limits(Limits(max_tensor_bytes=3)).write_to_file(path)
    assert (caught.value.found, caught.value.limit) == (4, 3) and not path.exists()
    Writer([tensor()]).durable(False).limits(Limits(max_tensor_bytes=4)).write_to_file(path)
    assert path.read_bytes() == Writer([tensor()]).into_bytes()


def test_a_file_that_appears_during_the_write_survives(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"

    def plant() -> bytes:
        path.write_bytes(b"theirs")
        return bytes(4)

    with pytest.raises(AlreadyExists):
        Writer([deferred("w", plant)], overwrite=False).write_to_file(path)
    assert path.read_bytes() == b"theirs" and os.listdir(tmp_path) == ["model.bpk"]


def test_providers_run_once_a_write_in_order_and_not_for_the_size() -> None:
    calls: list[str] = []

    def provider(name: str) -> Callable[[], bytes]:
        return lambda: calls.append(name) or bytes(4)  # type: ignore[func-returns-value]

    names = ["b", "a", "empty", "c"]
    writer = Writer([deferred(name, provider(name)) for name in names])
    writer.size()
    assert calls == []
    writer.into_bytes()
    assert calls == names
    writer.into_bytes()
    assert calls == names * 2


def test_a_payload_is_gone_before_the_next_is_made(tmp_path: Path) -> None:
    import weakref

    alive: list[weakref.ref[np.ndarray[Any, Any]]] = []

    def make() -> np.ndarray[Any, Any]:
        assert [ref for ref in alive if ref() is not None] == []
        array = np.zeros(1 << 20, np.uint8)
        alive.append(weakref.ref(array))
        return array

    writer = Writer([deferred(str(i), make, 1 << 20) for i in range(4)])
    writer.into_bytes()
    writer.write_to_file(tmp_path / "a", durable=False)
    writer.write_to_file_in_place(tmp_path / "b")
    assert len(alive) == 12


def test_providers_may_write_containers_themselves() -> None:
    inner = Writer([deferred("w", lambda: bytes(4))])
    outer = Writer([deferred("packed", inner.into_bytes, inner.size())])
    assert Reader.from_bytes(outer.into_bytes()).tensor_data("packed") == inner.into_bytes()


def test_eight_threads_write_the_same_writer(tmp_path: Path) -> None:
    writer = Writer([deferred(str(i), lambda: bytes(1000), 1000) for i in range(50)])
    expected = writer.into_bytes()
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(writer.into_bytes())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 8


def test_a_provider_of_another_length_names_the_tensor_and_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    path.write_bytes(b"old")
    with pytest.raises(TensorBytesSizeMismatch) as caught:
        Writer([tensor(), deferred("d", lambda: bytes(3))]).write_to_file(path)
    assert (caught.value.tensor, caught.value.path) == ("d", str(path))
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["model.bpk"]


def test_an_in_place_write_that_fails_leaves_the_file_cut(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    path.write_bytes(bytes(10_000))
    with pytest.raises(TensorBytesSizeMismatch):
        Writer([tensor(), deferred("d", lambda: bytes(3))]).write_to_file_in_place(path)
    assert path.stat().st_size < 10_000


def test_an_in_place_write_keeps_inode_and_hard_links(tmp_path: Path) -> None:
    path, other = tmp_path / "model.bpk", tmp_path / "other.bpk"
    path.write_bytes(b"old")
    other.hardlink_to(path)
    Writer([tensor()]).write_to_file_in_place(path)
    assert other.read_bytes() == Writer([tensor()]).into_bytes()


def test_an_in_place_write_refuses_the_file_that_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    Writer([tensor()]).write_to_file(path)
    before = path.read_bytes()
    for backend in ("mmap", "pread"):
        tensors = Reader.from_file(path, backend=backend).into_tensors()
        with pytest.raises(ValidationError, match="window of the file"):
            Writer(tensors).write_to_file_in_place(path)
        Writer(tensors).write_to_file_in_place(tmp_path / "copy.bpk")
        assert path.read_bytes() == (tmp_path / "copy.bpk").read_bytes() == before


def test_what_a_reader_gives_writes_the_same_values_in_name_order() -> None:
    data = worked_example().into_bytes()
    reader = Reader.from_bytes(data)
    assert Writer(reader.into_tensors(), reader.metadata(), reader.scalars()).into_bytes() == data


@pytest.mark.parametrize(
    ("error", "make"),
    [
        (FileNotFoundError, lambda folder: folder / "missing" / "model.bpk"),
        (IsADirectoryError, lambda folder: folder),
    ],
)
def test_a_path_that_cannot_be_raises_pythons_own_error(
    error: type[OSError], make: Callable[[Path], Path], tmp_path: Path
) -> None:
    with pytest.raises(error):
        Writer([], auto_extension=False).write_to_file(make(tmp_path))
    assert os.listdir(tmp_path) == []


def test_what_is_no_tensor_or_text_is_refused() -> None:
    with pytest.raises(TypeError):
        Writer([np.zeros(3)])  # type: ignore[list-item]
    with pytest.raises(TypeError, match='metadata "k" must be a str, got int'):
        Writer([], {"k": 3})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="keys of scalars must be str, got int 3"):
        Writer([], None, {3: 3})  # type: ignore[dict-item]
    with pytest.raises(TypeError, match="metadata must be a mapping, got list"):
        Writer([], ["k"])  # type: ignore[arg-type]


def test_a_header_round_trips_and_a_wrong_one_is_told() -> None:
    header = Header(1234)
    assert (header.magic, header.version, header.metadata_size) == (pack.MAGIC_NUMBER, 1, 1234)
    assert Header.from_bytes(header.into_bytes()) == header
    assert header.into_bytes() == Writer([], {"k": "x" * 1209}).into_bytes()[:10]
    with pytest.raises(InvalidHeader):
        Header.from_bytes(b"NRUB")
    with pytest.raises(InvalidMagicNumber) as caught:
        Header.from_bytes(b"\xef\xbe\xad\xde" + bytes(6))
    assert caught.value.found == 0xDEADBEEF


def test_the_constants_are_the_formats() -> None:
    assert (pack.MAGIC_NUMBER, pack.FORMAT_VERSION, pack.HEADER_SIZE) == (0x4255524E, 1, 10)
    assert (pack.TENSOR_ALIGNMENT, pack.EXTENSION, pack.MAX_CBOR_RECURSION_DEPTH) == (256, "bpk", 128)
    assert (pack.MAX_METADATA_SIZE, pack.MAX_TENSOR_COUNT) == (104_857_600, 100_000)
    assert (pack.MAX_TENSOR_SIZE, pack.MAX_FILE_SIZE) == (10_737_418_240, 107_374_182_400)
    assert Limits() == Limits(max_tensors=100_000)


def test_an_atomic_file_appears_when_it_is_committed(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    with AtomicFile(path, durable=False) as file:
        assert file.write(b"one ") == 4 and file.write(memoryview(b"two")) == 3
        with os.fdopen(os.dup(file.fileno()), "wb") as handle:
            handle.write(b" three")
        assert not path.exists() and os.listdir(tmp_path) == [os.path.basename(file.path)]
        file.commit()
    assert path.read_bytes() == b"one two three" and os.listdir(tmp_path) == ["notes.txt"]


def test_an_atomic_file_without_commit_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError, match="no"), AtomicFile(path) as file:
        file.write(b"new")
        raise RuntimeError("no")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["notes.txt"]
    with pytest.raises(ValueError, match="committed or closed"):
        file.commit()


def test_an_atomic_file_can_refuse_to_replace(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    with AtomicFile(path) as file:
        path.write_bytes(b"theirs")
        with pytest.raises(AlreadyExists):
            file.commit(overwrite=False)
    assert path.read_bytes() == b"theirs" and os.listdir(tmp_path) == ["notes.txt"]
