"""`burnpy.convert` copies tensors from file to file: every byte arrives, and what is wrong with the source is told."""

import os
import pickle
import zipfile
from collections.abc import Mapping
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy.errors import BurnpyError, CheckpointError
from burnpy.numpy import load_file, save_file

Arrays = Mapping[str, np.ndarray[Any, Any]]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _text(value: str) -> bytes:
    return pickle.BINUNICODE + pack("<I", len(value.encode())) + value.encode()


def _tuple(*parts: bytes) -> bytes:
    return pickle.MARK + b"".join(parts) + pickle.TUPLE


def _numbers(*values: int) -> bytes:
    return _tuple(*(pickle.BININT + pack("<i", value) for value in values))


def _tensor(key: int, storage: int, start: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bytes:
    """A call of the function that makes a tensor of a storage of so many f32."""
    number = pickle.BININT + pack("<i", storage)
    persistent = _tuple(_text("storage"), b"ctorch\nFloatStorage\n", _text(str(key)), _text("cpu"), number)
    args = (
        persistent + pickle.BINPERSID,
        pickle.BININT + pack("<i", start),
        _numbers(*shape),
        _numbers(*strides),
    )
    hooks = b"ccollections\nOrderedDict\n" + pickle.EMPTY_TUPLE + pickle.REDUCE
    return b"ctorch._utils\n_rebuild_tensor_v2\n" + _tuple(*args, pickle.NEWFALSE, hooks) + pickle.REDUCE


def write_torch(path: str, tensors: Mapping[str, bytes], storages: list[np.ndarray[Any, Any]]) -> None:
    """An archive as `torch.save` writes it."""
    items = b"".join(_text(name) + tensor for name, tensor in tensors.items())
    pickled = pickle.PROTO + b"\2" + pickle.EMPTY_DICT + pickle.MARK + items + pickle.SETITEMS + pickle.STOP
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickled)
        for key, storage in enumerate(storages):
            archive.writestr(f"archive/data/{key}", storage.tobytes())
        archive.writestr("archive/version", "3\n")


def save_torch(path: str, arrays: Arrays) -> None:
    """Every array with a storage of its own."""
    tensors = {name: _tensor(key, a.size, 0, a.shape, (1,)) for key, (name, a) in enumerate(arrays.items())}
    write_torch(path, tensors, list(arrays.values()))


def _damage(path: str, tensor: bytes) -> None:
    data = Path(path).read_bytes()
    at = data.index(tensor) + len(tensor) // 2
    Path(path).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])


def _is_equal(found: Arrays, expected: Arrays) -> bool:
    assert set(found) == set(expected)
    return all(found[name].tobytes() == array.tobytes() for name, array in expected.items())


# Small ones are compared when they are read, large ones while they are copied.
@pytest.mark.parametrize("elements", [1000, 1_500_000])
@pytest.mark.parametrize("target", ["out.bpk", "out.safetensors", "out.npz", "s.bpk.index.json"])
@pytest.mark.parametrize("damaged", [0, 2])
def test_a_damaged_tensor_is_told_by_name_and_nothing_is_written(
    elements: int, target: str, damaged: int
) -> None:
    arrays = {f"w{i}": np.full(elements, i + 1, np.float32) for i in range(3)}
    save_torch("a.pt", arrays)
    burnpy.convert("a.pt", "sound.bpk")
    assert _is_equal(load_file("sound.bpk"), arrays)
    _damage("a.pt", arrays[f"w{damaged}"].tobytes())
    before = sorted(os.listdir())
    with pytest.raises((CheckpointError, BurnpyError), match=f"w{damaged}.*CRC-32"):
        burnpy.convert("a.pt", target, shard=7_000_000 if "index" in target else None)
    assert sorted(os.listdir()) == before


@pytest.mark.parametrize("damaged", ["left", "right", "turned", "cast"])
def test_a_storage_that_is_not_copied_as_a_whole_is_compared_all_the_same(damaged: str) -> None:
    """Two tensors share a storage, one is transposed; the cast changes them all."""
    storages = [np.arange(800_000, dtype=np.float32), np.arange(600_000, dtype=np.float32)[::-1].copy()]
    tensors = {
        "left": _tensor(0, 800_000, 0, (400_000,), (1,)),
        "right": _tensor(0, 800_000, 400_000, (400_000,), (1,)),
        "turned": _tensor(1, 600_000, 0, (600, 1000), (1, 600)),
    }
    write_torch("a.pt", tensors, storages)
    wishes = {"dtype": "f64"} if damaged == "cast" else {}
    burnpy.convert("a.pt", "out.bpk", **wishes)
    left, right = np.split(storages[0], 2)
    expected = {"left": left, "right": right, "turned": storages[1].reshape(1000, 600).T}
    found = load_file("out.bpk")
    assert all(np.array_equal(found[name], array) for name, array in expected.items())
    before = Path("out.bpk").read_bytes()
    _damage("a.pt", expected["right" if damaged == "cast" else damaged].tobytes("F"))
    with pytest.raises(CheckpointError, match="CRC-32"):
        burnpy.convert("a.pt", "out.bpk", **wishes)
    assert Path("out.bpk").read_bytes() == before
    assert sorted(os.listdir()) == ["a.pt", "out.bpk"]


def test_what_is_not_carried_is_not_compared() -> None:
    arrays = {f"w{i}": np.full(500_000, i + 1, np.float32) for i in range(2)}
    save_torch("a.pt", arrays)
    _damage("a.pt", arrays["w1"].tobytes())
    burnpy.convert("a.pt", "out.bpk", only="w0")
    assert _is_equal(load_file("out.bpk"), {"w0": arrays["w0"]})


def test_the_checksum_is_that_of_what_was_written_whatever_is_in_the_source_later() -> None:
    arrays = {f"w{i}": np.full(1_500_000, i + 1, np.float32) for i in range(2)}
    save_torch("a.pt", arrays)
    sound, stat = Path("a.pt").read_bytes(), os.stat("a.pt")

    def damage_for_a_while(name: str, _done: int, _total: int) -> None:
        if name == "w0":
            _damage("a.pt", arrays["w0"].tobytes())
        else:
            Path("a.pt").write_bytes(sound)
        os.utime("a.pt", ns=(stat.st_atime_ns, stat.st_mtime_ns))

    with pytest.raises(CheckpointError, match="changed while it was read"):
        burnpy.convert("a.pt", "out.bpk", progress=damage_for_a_while)
    assert os.listdir() == ["a.pt"]


def test_a_source_that_is_written_to_meanwhile_is_an_error() -> None:
    save_torch("a.pt", {"w": np.ones(400_000, np.float32), "v": np.zeros(400_000, np.float32)})

    def write(*_: object) -> None:
        with open("a.pt", "r+b") as file:
            file.write(file.read(2))
        os.utime("a.pt", (1, 1))

    with pytest.raises(CheckpointError, match="changed while it was read") as caught:
        burnpy.convert("a.pt", "out.bpk", progress=write)
    assert caught.value.kind == "changed"
    assert os.listdir() == ["a.pt"]


@pytest.mark.parametrize("cut", ["a.bpk", "a.safetensors"])
def test_a_source_that_is_cut_meanwhile_is_an_error_and_no_signal(cut: str) -> None:
    arrays = {name: np.full(2_000_000, number, np.float32) for number, name in enumerate("abc")}
    save_file(arrays, "a.bpk")
    burnpy.convert("a.bpk", "a.safetensors")
    target = "out.safetensors" if cut == "a.bpk" else "out.bpk"
    with pytest.raises(BurnpyError, match="the source was cut while it was read: it ends at byte 1000000"):
        burnpy.convert(cut, target, progress=lambda *_: os.truncate(cut, 1_000_000))
    assert sorted(os.listdir()) == ["a.bpk", "a.safetensors"]


def test_a_source_that_is_replaced_meanwhile_is_read_to_its_end() -> None:
    arrays = {name: np.full(400_000, number, np.float32) for number, name in enumerate("abc")}
    save_file(arrays, "a.bpk")
    burnpy.convert("a.bpk", "a.safetensors")

    def replace(*_: object) -> None:
        Path("other").write_bytes(bytes(5_000_000))
        Path("other").replace("a.safetensors")

    burnpy.convert("a.safetensors", "out.bpk", progress=replace)
    assert Path("out.bpk").read_bytes() == Path("a.bpk").read_bytes()


@pytest.mark.parametrize("through", ["t.bpk", "t.safetensors", "t.npz"])
@pytest.mark.parametrize("elements", [0, 1, 1024, 65_536, 65_537, 300_001, 2_100_007])
def test_tensors_of_any_length_and_place_keep_their_bytes(through: str, elements: int) -> None:
    rng = np.random.default_rng(elements)
    lengths = {"a": elements, "b": 3, "c": elements}
    arrays = {name: rng.random(length, np.float32) for name, length in lengths.items()}
    save_torch("a.pt", arrays)
    burnpy.convert("a.pt", through)
    burnpy.convert(through, "b.bpk")
    with burnpy.open(through) as checkpoint:
        assert _is_equal({name: checkpoint[name].numpy() for name in checkpoint}, arrays)
    assert _is_equal(load_file("b.bpk"), arrays)
