"""Loading into NumPy: windows and copies, dtypes, what they outlive."""

import gc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.numpy import load, load_file, save, save_file
from burnpy.pack import Tensor, Writer

DTYPES = [
    "float64", "float32", "float16", "int64", "int32", "int16", "int8",
    "uint64", "uint32", "uint16", "uint8", "bool", ml_dtypes.bfloat16,
]  # fmt: skip


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    return {np.dtype(dtype).name: np.arange(6).reshape(2, 3).astype(dtype) for dtype in DTYPES}


@pytest.mark.parametrize("backend", ["auto", "mmap", "pread"])
@pytest.mark.parametrize("copy", [False, True])
def test_what_was_saved_is_loaded_in_data_order(tmp_path: Path, backend: Any, copy: bool) -> None:
    saved = {**arrays(), "empty": np.zeros((3, 0, 2)), "scalar": np.array(3.5)}
    save_file(saved, tmp_path / "m.bpk")
    found = load_file(tmp_path / "m.bpk", backend=backend, copy=copy)
    assert list(found) == list(saved)
    for name, array in saved.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert np.array_equal(found[name], array)
        assert found[name].flags.aligned and found[name].flags.c_contiguous


def test_windows_share_one_map_and_are_read_only(tmp_path: Path) -> None:
    save_file(arrays(), tmp_path / "m.bpk")
    found = load_file(tmp_path / "m.bpk")
    assert len({id(array.base) for array in found.values()}) == 1
    assert not any(array.flags.writeable for array in found.values())
    with pytest.raises(ValueError, match="WRITEABLE"):
        found["float32"].setflags(write=True)


def test_copies_are_writable_and_apart_from_each_other_and_the_file(tmp_path: Path) -> None:
    save_file(arrays(), tmp_path / "m.bpk")
    saved = (tmp_path / "m.bpk").read_bytes()
    found = load_file(tmp_path / "m.bpk", copy=True)
    found["int32"][:] = -1
    for name, array in arrays().items():
        assert name == "int32" or np.array_equal(found[name], array)
    assert (tmp_path / "m.bpk").read_bytes() == saved
    found["int32"].setflags(write=False)
    found["int32"].setflags(write=True)


def test_large_and_small_copies_are_whole(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    lengths = [5 << 20, 3, 3 << 20, 1 << 20, 1 << 20, 1 << 20, 0, 17 << 20, 1]
    saved = {str(i): rng.integers(0, 256, length, np.uint8) for i, length in enumerate(lengths)}
    save_file(saved, tmp_path / "m.bpk")
    for backend in ("mmap", "pread"):
        found = load_file(tmp_path / "m.bpk", copy=True, backend=backend)  # type: ignore[call-overload]
        assert all(np.array_equal(found[name], array) for name, array in saved.items())


def test_metadata_comes_on_request(tmp_path: Path) -> None:
    save_file(arrays(), tmp_path / "m.bpk", {"producer": "me"})
    found, metadata = load_file(tmp_path / "m.bpk", with_metadata=True)
    assert metadata == {"producer": "me"} and len(found) == len(DTYPES)


def test_dtypes_that_numpy_lacks_become_their_nearest() -> None:
    flex = Tensor("flex", "flex32", (2,), data=np.array([1, 2], np.float32))
    wide = Tensor("wide", "bool(u32)", (2,), data=np.array([0, 1], np.uint32))
    byte = Tensor("byte", "bool(u8)", (2,), data=np.array([0, 1], np.uint8))
    found = load(Writer([flex, wide, byte]).into_bytes())
    assert {name: array.dtype.name for name, array in found.items()} == {
        "flex": "float32",
        "wide": "uint32",
        "byte": "bool",
    }
    assert found["byte"].tolist() == [False, True] and found["wide"].tolist() == [0, 1]


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview])
def test_a_buffer_is_loaded_without_a_copy_and_kept_alive(wrap: Any) -> None:
    data = wrap(save(arrays()))
    found = load(data)
    start = np.frombuffer(data, np.uint8).ctypes.data
    assert all(start < array.ctypes.data < start + len(data) for array in found.values())
    assert not found["int8"].flags.writeable
    del data
    gc.collect()
    assert all(np.array_equal(found[name], array) for name, array in arrays().items())


@pytest.mark.parametrize("through_link", [False, True])
def test_saving_over_the_mapped_file_keeps_the_values(tmp_path: Path, through_link: bool) -> None:
    path = tmp_path / "m.bpk"
    save_file(arrays(), path)
    target = path
    if through_link:
        target = tmp_path / "link.bpk"
        target.symlink_to(path)
    found = load_file(target)
    save_file(found, target)
    gc.collect()
    for values in (found, load_file(path)):
        assert all(np.array_equal(values[name], array) for name, array in arrays().items())
    assert target.is_symlink() == through_link


def test_loading_again_and_again_leaves_memory_and_open_files_flat(tmp_path: Path) -> None:
    save_file({str(i): np.zeros(100_000, np.float32) for i in range(10)}, tmp_path / "m.bpk")

    def load_all(count: int) -> None:
        for _ in range(count):
            load_file(tmp_path / "m.bpk")
            load_file(tmp_path / "m.bpk", copy=True)
            burnpy.safe_open(tmp_path / "m.bpk", backend="pread")["0"].numpy()

    load_all(20)
    before = _pages(), len(list(Path("/proc/self/fd").iterdir()))
    load_all(300)
    after = _pages(), len(list(Path("/proc/self/fd").iterdir()))
    assert after[0] - before[0] < (8 << 20) // 4096 and after[1] == before[1]


def _pages() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.parametrize("cut", [1, 2, 100, 255, 256, 300])
def test_a_cut_file_is_refused(tmp_path: Path, cut: int) -> None:
    save_file(arrays(), tmp_path / "m.bpk")
    data = (tmp_path / "m.bpk").read_bytes()
    (tmp_path / "m.bpk").write_bytes(data[:-cut])
    for attempt in (lambda: load_file(tmp_path / "m.bpk"), lambda: load(data[:-cut])):
        with pytest.raises(burnpy.pack.ValidationError):
            attempt()
