import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy.numpy import save_file
from burnpy.pack import QuantScheme, Scalar, Tensor, Writer
from tests.cli.conftest import Run
from tests.paths import GOLDEN


def _differ(run: Run, tmp_path: Path, a: Any, b: Any) -> dict[str, Any]:
    """What `--json` tells of two files that hold one tensor each."""
    save_file({"w": a}, tmp_path / "a.bpk")
    save_file({"w": b}, tmp_path / "b.bpk")
    outcome = run("diff", "--json", tmp_path / "a.bpk", tmp_path / "b.bpk")
    told: dict[str, Any] = json.loads(outcome.out)
    assert outcome.status == (0 if told["equal"] else 1)
    return told


def test_equal_files_print_nothing(run: Run, model: Path) -> None:
    other = shutil.copy(model, model.with_name("copy.bpk"))
    outcome = run("diff", model, other)
    assert (outcome.status, outcome.out, outcome.err) == (0, "", "")


@pytest.mark.golden
def test_a_checkpoint_of_pytorch_is_compared_below_a_key(run: Run, tmp_path: Path) -> None:
    source = GOLDEN / "pytorch" / "lightning.ckpt"
    target = tmp_path / "model.bpk"
    assert run("convert", "-q", source, target).status == 0
    assert "tensor net.first.weight: only in B" in run("diff", source, target).out
    for key in ("auto", "state_dict"):
        assert "tensor " not in run("diff", "--top-level-key", key, source, target).out


def test_the_order_of_the_data_is_no_difference(run: Run, tmp_path: Path) -> None:
    a, b = np.zeros(2), np.ones(3)
    save_file({"a": a, "b": b}, tmp_path / "a.bpk")
    save_file({"b": b, "a": a}, tmp_path / "b.bpk")
    assert run("diff", tmp_path / "a.bpk", tmp_path / "b.bpk").status == 0


def test_each_difference_has_its_line(run: Run, tmp_path: Path) -> None:
    a, b = tmp_path / "a.bpk", tmp_path / "b.bpk"
    same = np.ones(4, np.float32)
    save_file(
        {"same": same, "gone": same, "shape": same, "dtype": same, "values": same, "id": same},
        a, {"k": "1", "only": "x"}, scalars={"s": Scalar.int_(1), "t": 2}, param_ids={"id": 1},
    )  # fmt: skip
    save_file(
        {"same": same, "new": same, "shape": same.reshape(2, 2), "dtype": same.astype("f2"),
         "values": np.array([1, 1, 1, 3.5], np.float32), "id": same},
        b, {"k": "2"}, scalars={"s": Scalar.uint(1), "t": 2}, param_ids={"id": 2},
    )  # fmt: skip
    outcome = run("diff", a, b)
    assert outcome.status == 1
    assert outcome.out.splitlines() == [
        "tensor gone: only in A",
        "tensor shape: shape 4 and 2x2",
        "tensor dtype: dtype f32 and f16",
        "tensor values: 1 of 4 values differ, by up to 2.5",
        "tensor id: param_id 1 and 2",
        "tensor new: only in B",
        "metadata k: value 1 and 2",
        "metadata only: only in A; x",
        "scalar s: value 1 (Int) and 1 (UInt)",
    ]
    assert "tensor id" not in run("diff", "--ignore-ids", a, b).out


@pytest.mark.parametrize(
    ("dtype", "a", "b", "expected"),
    [
        ("f4", [1, 2, 3], [1, 2.5, 3], 0.5),
        ("f8", [1e308], [-1e308], "Infinity"),
        ("f4", [np.inf, 1], [np.inf, 2], 1.0),
        ("f4", [np.nan, 1], [1, 1], "NaN"),
        ("f4", [0.0], [-0.0], 0.0),
        ("i8", [2**63 - 1], [-(2**63)], 2**64 - 1),
        ("u8", [2**63], [2**63 + 1], 1),
        ("i1", [-128], [127], 255),
        ("?", [True, False], [False, False], 1),
        ("bfloat16", [1], [1.5], 0.5),
    ],
)
def test_the_largest_difference_is_exact(
    run: Run, tmp_path: Path, dtype: str, a: list[Any], b: list[Any], expected: object
) -> None:
    import ml_dtypes

    type_ = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    told = _differ(run, tmp_path, np.array(a, type_), np.array(b, type_))
    values = told["tensors"]["w"]["values"]
    assert (values["max_abs_difference"], values["differing"], values["of"]) == (expected, 1, len(a))


def test_two_nans_of_the_same_bits_are_no_difference(run: Run, tmp_path: Path) -> None:
    assert _differ(run, tmp_path, np.array([np.nan]), np.array([np.nan]))["equal"]


def test_a_difference_in_the_last_chunk_of_a_large_tensor_is_found(run: Run, tmp_path: Path) -> None:
    a = np.zeros(3_000_001, np.float32)
    b = a.copy()
    b[[5, -1]] = [1, -2]
    told = _differ(run, tmp_path, a, b)["tensors"]["w"]["values"]
    assert told == {"differing": 2, "of": 3_000_001, "max_abs_difference": 2.0}


def test_quantized_tensors_are_compared_by_their_bytes(run: Run, tmp_path: Path) -> None:
    for name, last in (("a", 0), ("b", 1)):
        data = bytes(9) + bytes([last])
        entry = Tensor("q", QuantScheme(value="Q8S", store="Native"), (2, 3), data=data)
        Writer([entry]).write_to_file(tmp_path / f"{name}.bpk")
    outcome = run("diff", tmp_path / "a.bpk", tmp_path / "b.bpk")
    assert outcome.out == "tensor q: 1 of 10 values differ\n"


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_shapes_without_and_with_one_element_compare(
    run: Run, tmp_path: Path, shape: tuple[int, ...]
) -> None:
    assert _differ(run, tmp_path, np.zeros(shape), np.zeros(shape))["equal"]
