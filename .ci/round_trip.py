"""The smallest proof that an installed burnpy works: write, map, compare, in an environment else empty."""

import importlib.util

import ml_dtypes
import numpy as np

from burnpy.numpy import load_file, save_file

for name in ("torch", "jax", "rich", "pytest"):
    assert importlib.util.find_spec(name) is None, f"the environment is not empty: it has {name}"

wanted = {
    "weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "scale": np.ones(5, dtype=ml_dtypes.bfloat16),
    "empty": np.zeros((0, 2), dtype=np.int64),
}
save_file(wanted, "round_trip.bpk", {"made_by": "round_trip"})
found = load_file("round_trip.bpk")
assert found.keys() == wanted.keys()
for name, array in wanted.items():
    assert found[name].dtype == array.dtype and np.array_equal(found[name], array), name
print(f"{len(found)} tensors written, mapped and compared")
