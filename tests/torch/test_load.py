"""Handing tensors to torch: without a copy, and without harm when they are written to."""

import gc
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.numpy import load_file as load_numpy
from burnpy.numpy import save, save_file

torch: Any = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.peers

DTYPES = [
    "float64", "float32", "float16", "int64", "int32", "int16", "int8",
    "uint64", "uint32", "uint16", "uint8", "bool",
]  # fmt: skip


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    plain = {dtype: np.arange(6).reshape(2, 3).astype(dtype) for dtype in DTYPES}
    return {
        **plain,
        "bfloat16": np.array([1.5, -2], ml_dtypes.bfloat16),
        "empty": np.zeros((0, 3)),
        "one": np.array(1),
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    save_file(arrays(), tmp_path / "model.bpk", {"producer": "me"})
    return tmp_path / "model.bpk"


@pytest.mark.parametrize("options", [{}, {"copy": True}, {"backend": "pread"}], ids=str)
def test_every_dtype_arrives_with_its_values(path: Path, options: dict[str, Any]) -> None:
    from burnpy.torch import load_file

    found, metadata = load_file(path, with_metadata=True, **options)
    assert metadata == {"producer": "me"} and list(found) == list(arrays())
    for name, array in arrays().items():
        assert tuple(found[name].shape) == array.shape
        if name in DTYPES:
            assert str(found[name].dtype) == f"torch.{name}"
            assert np.array_equal(found[name].numpy(), array)
    assert found["bfloat16"].dtype is torch.bfloat16 and found["bfloat16"].tolist() == [1.5, -2]


def test_a_write_reaches_neither_the_file_nor_any_array(path: Path) -> None:
    from burnpy.torch import load_file

    saved = path.read_bytes()
    mapped, other = load_numpy(path), load_file(path)
    with burnpy.safe_open(path) as model, burnpy.safe_open(path, "pt") as handle:
        tensors = [
            load_file(path)["float32"],
            model["float32"].torch(),
            torch.from_dlpack(model["float32"]),
            handle.get_tensor("float32"),
            handle.get_slice("float32")[:],
        ]
        for tensor in tensors:
            tensor.fill_(-1)
        assert np.array_equal(model["float32"], arrays()["float32"])
    assert np.array_equal(mapped["float32"], arrays()["float32"])
    assert np.array_equal(other["float32"].numpy(), arrays()["float32"])
    assert path.read_bytes() == saved


def test_nothing_is_copied(tmp_path: Path) -> None:
    from burnpy.torch import load_file

    save_file({"w": np.zeros(1 << 20, np.float32), "v": np.ones(3, np.float32)}, tmp_path / "m.bpk")
    found = load_file(tmp_path / "m.bpk")
    # Windows of one map lie as far apart as in the file.
    assert found["v"].data_ptr() - found["w"].data_ptr() == 4 << 20


def test_slices_read_parts_in_any_direction(path: Path) -> None:
    expected = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    for backend in ("mmap", "pread"):
        with burnpy.safe_open(path, "pt", backend=backend) as model:  # type: ignore[arg-type]
            part = model.get_slice("float32")
            assert torch.equal(part[1:, ::2], expected[1:, ::2])
            assert torch.equal(part[::-1, 0], expected.flip(0)[:, 0])
            assert part[1, 2].item() == 5
            assert model.get_slice("bfloat16")[1:].tolist() == [-2]


def test_tensors_outlive_everything_they_came_from(path: Path) -> None:
    with burnpy.safe_open(path, "torch") as model:
        tensor = model.get_tensor("float32")
    path.unlink()
    del model
    gc.collect()
    assert tensor.sum().item() == 15


def test_a_file_in_memory_is_copied_as_torch_could_write_to_it() -> None:
    from burnpy.torch import load

    data = save(arrays())
    load(data)["float32"].fill_(-1)
    torch.from_dlpack(burnpy.pack.Reader.from_bytes(data).view("float32")).fill_(-1)
    assert data == save(arrays())


def test_the_file_that_took_the_name_is_not_mixed_in(path: Path) -> None:
    with burnpy.safe_open(path) as model:
        save_file({"float32": np.zeros((2, 3), np.float32)}, path)
        assert np.array_equal(model["float32"].torch().numpy(), arrays()["float32"])
