"""Handing arrays to jax."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.numpy import save, save_file

jax: Any = pytest.importorskip("jax", reason="jax is not installed")
pytestmark = pytest.mark.peers


def arrays() -> dict[str, np.ndarray[Any, Any]]:
    names = ["float64", "float32", "float16", "int64", "int32", "int8", "uint64", "uint16", "uint8", "bool"]
    plain = {name: np.arange(6).reshape(2, 3).astype(name) for name in names}
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
@pytest.mark.parametrize("x64", [False, True])
def test_every_dtype_arrives_with_its_values(path: Path, options: dict[str, Any], x64: bool) -> None:
    from burnpy.jax import load_file

    with jax.enable_x64(x64):
        found, metadata = load_file(path, with_metadata=True, **options)
    assert metadata == {"producer": "me"} and list(found) == list(arrays())
    for name, array in arrays().items():
        assert isinstance(found[name], jax.Array) and found[name].shape == array.shape
        assert found[name].dtype == (array.dtype if x64 else jax.dtypes.canonicalize_dtype(array.dtype))
        assert np.array_equal(np.asarray(found[name]), array.astype(found[name].dtype))


def test_aligned_arrays_are_not_copied(path: Path) -> None:
    with burnpy.safe_open(path, "jax") as model:
        array, view = model.get_tensor("float32"), model["float32"]
        assert array.unsafe_buffer_pointer() == view.numpy().ctypes.data
        assert model["bfloat16"].jax().dtype == ml_dtypes.bfloat16
        assert np.array_equal(model.get_slice("float32")[::-1, 1:], arrays()["float32"][::-1, 1:])


def test_a_donated_array_does_not_change_the_file(path: Path) -> None:
    saved = path.read_bytes()
    with burnpy.safe_open(path, "flax") as model:
        jax.jit(lambda x: x * 0, donate_argnums=0)(model.get_tensor("float32")).block_until_ready()
        assert np.array_equal(model["float32"], arrays()["float32"])
    assert path.read_bytes() == saved


def test_a_file_in_memory_loads() -> None:
    from burnpy.jax import load

    assert np.array_equal(load(save(arrays()))["float32"], arrays()["float32"])
