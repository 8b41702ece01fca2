"""`burnpy.jax`: `save_file` and `save`."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="jax is not installed")

import burnpy.jax  # noqa: E402
from burnpy import save_sharded  # noqa: E402
from burnpy.errors import DTypeError  # noqa: E402
from burnpy.jax import load_file, save, save_file  # noqa: E402
from burnpy.pack import Reader  # noqa: E402

pytestmark = pytest.mark.peers

jnp = jax.numpy
ARRAYS: dict[str, Any] = {
    "f32": jnp.arange(6.0).reshape(2, 3),
    "bf16": jnp.arange(5, dtype="bfloat16"),
    "f16": jnp.arange(5, dtype="float16"),
    "transposed": jnp.arange(24).reshape(2, 3, 4).transpose(2, 0, 1),
    "0-d": jnp.array(3),
    "zero-size": jnp.zeros((0, 3)),
    "bool": jnp.array([True, False]),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_is_read_back_as_it_was(name: str, tmp_path: Path) -> None:
    array = ARRAYS[name]
    save_file({name: array}, tmp_path / "model.bpk")
    for loaded in (load_file(tmp_path / "model.bpk")[name], burnpy.jax.load(save({name: array}))[name]):
        assert (loaded.shape, loaded.dtype) == (array.shape, array.dtype)
        np.testing.assert_array_equal(np.asarray(loaded), np.asarray(array))


@pytest.mark.parametrize(
    "make",
    [lambda: jnp.zeros(2, "float8_e4m3fn"), lambda: jnp.zeros(2, "complex64"), lambda: jax.random.key(0)],
)
def test_what_no_burnpack_holds_is_refused_by_name(make: Any, tmp_path: Path) -> None:
    with pytest.raises(DTypeError) as caught:
        save_file({"good": jnp.zeros(2), "odd": make()}, tmp_path / "model.bpk")
    assert caught.value.tensor == "odd" and os.listdir(tmp_path) == []


def test_an_array_that_is_spread_over_devices_is_written_whole() -> None:
    devices = np.array(jax.devices())
    sharding = jax.sharding.NamedSharding(jax.sharding.Mesh(devices, ("x",)), jax.sharding.PartitionSpec("x"))
    array = jax.device_put(jnp.arange(8.0 * len(devices)), sharding)
    found = Reader.from_bytes(save({"x": array})).tensor_data("x")
    assert found == np.arange(8.0 * len(devices), dtype=np.float32).tobytes()


def test_sharded_sets_take_jaxs_arrays(tmp_path: Path) -> None:
    save_sharded({"a": jnp.ones(4), "b": jnp.ones(4, "bfloat16")}, tmp_path, 16)
    assert len(os.listdir(tmp_path)) == 3
