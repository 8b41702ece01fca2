import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from burnpy.numpy import save_file
from burnpy.pack import QuantScheme, Scalar, Tensor, Writer
from tests.cli.conftest import Run
from tests.paths import GOLDEN


def test_the_table_has_a_line_for_each_tensor_and_the_totals(run: Run, model: Path) -> None:
    lines = run("inspect", model).out.splitlines()
    assert lines[0].endswith("model.bpk: 3 tensors, 17 elements, 56 B")
    assert lines[2].split() == ["name", "dtype", "shape", "size", "param", "id"]
    rows = [line.split() for line in lines[3:6]]
    assert rows == [
        ["encoder.weight", "f32", "3x4", "48", "B", "18446744073709551615"],
        ["encoder.bias", "f16", "3", "6", "B", "-"],
        ["mask", "bool", "2", "2", "B", "-"],
    ]
    assert lines[6:] == [
        "", "metadata", "  author = me", "  note   = two words",
        "", "scalars", "  done = true (Bool)", "  lr   = 0.001 (Float)", "  step = 3 (UInt)",
    ]  # fmt: skip


def test_json_tells_everything_in_full(run: Run, model: Path) -> None:
    told = json.loads(run("inspect", "--json", model).out)
    assert told["total"] == {"tensors": 3, "elements": 17, "bytes": 56}
    assert told["tensors"][0] == {
        "name": "encoder.weight", "dtype": "f32", "shape": [3, 4], "param_id": 2**64 - 1,
        "data_offsets": [0, 48], "nbytes": 48,
    }  # fmt: skip
    assert told["metadata"] == {"author": "me", "note": "two words"}
    assert told["scalars"]["step"] == {"kind": "UInt", "value": 3}
    assert told["file"] == str(model)
    assert told["data_start"] % 256 == 0
    assert (told["version"], 10 + told["metadata_size"] <= told["data_start"]) == (1, True)


@pytest.mark.parametrize(
    ("order", "names"),
    [
        ("data", ["encoder.weight", "encoder.bias", "mask"]),
        ("name", ["encoder.bias", "encoder.weight", "mask"]),
        ("size", ["encoder.weight", "encoder.bias", "mask"]),
    ],
)
def test_tensors_are_sorted_as_asked(run: Run, model: Path, order: str, names: list[str]) -> None:
    told = json.loads(run("inspect", "--json", "--sort", order, model).out)
    assert [tensor["name"] for tensor in told["tensors"]] == names


def test_a_limit_cuts_the_list_and_says_so_but_not_the_totals(run: Run, model: Path) -> None:
    out = run("inspect", "--limit", "1", model).out
    assert "3 tensors" in out and "encoder.weight" in out and "mask" not in out
    assert "... and 2 more" in out


def test_json_says_what_json_has_no_number_for(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.bpk"
    save_file({}, path, scalars={"nan": float("nan"), "low": float("-inf"), "big": Scalar.uint(2**64 - 1)})
    scalars = json.loads(run("inspect", "--json", path).out)["scalars"]
    assert [scalars[name]["value"] for name in ("nan", "low", "big")] == ["NaN", "-Infinity", 2**64 - 1]


def test_names_cannot_command_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd.bpk"
    save_file({"a\x1b[31m\n\u202e": np.zeros(1)}, path, {"k\x07": "v\r"})
    out = run("inspect", path).out
    assert r"a\x1b[31m\n\u202e" in out and r"k\x07 = v\r" in out
    assert not {"\x1b", "\r", "\x07", "\u202e"} & set(out)


def test_an_empty_name_is_seen(run: Run, tmp_path: Path) -> None:
    save_file({"": np.zeros(1)}, tmp_path / "odd.bpk")
    assert '""' in run("inspect", tmp_path / "odd.bpk").out


def test_a_long_name_gives_way_to_the_terminal_but_not_in_json(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "first." + "x" * 200 + ".last"
    save_file({name: np.zeros((2, 3), ml_dtypes.bfloat16)}, tmp_path / "wide.bpk")
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("inspect", tmp_path / "wide.bpk").out.splitlines()[2:]
    assert all(len(line) <= 60 for line in lines)
    assert "first." in lines[1] and ".last" in lines[1] and "…" in lines[1]
    assert json.loads(run("inspect", "--json", tmp_path / "wide.bpk").out)["tensors"][0]["name"] == name


def test_nothing_is_cut_where_there_is_no_terminal(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    save_file({"x" * 500: np.zeros(1)}, tmp_path / "wide.bpk")
    assert "x" * 500 in run("inspect", tmp_path / "wide.bpk").out


def test_columns_stand_straight_under_wide_characters(run: Run, tmp_path: Path) -> None:
    save_file({"日本": np.zeros(1), "ab": np.zeros(1)}, tmp_path / "wide.bpk")
    rows = run("inspect", tmp_path / "wide.bpk").out.splitlines()[3:5]
    assert rows[0].index("f64") + 2 == rows[1].index("f64")


def test_a_quantized_tensor_shows_its_scheme(run: Run, tmp_path: Path) -> None:
    entry = Tensor("q", QuantScheme(value="Q8S", store="Native"), (2, 3), data=bytes(10))
    Writer([entry]).write_to_file(tmp_path / "q.bpk")
    assert "qfloat(Q8S)" in run("inspect", tmp_path / "q.bpk").out
    told = json.loads(run("inspect", "--json", tmp_path / "q.bpk").out)["tensors"][0]
    assert (told["dtype"], told["scheme"]["value"], told["scheme"]["store"]) == ("qfloat", "Q8S", "Native")


def test_no_payload_is_read(run: Run, model: Path) -> None:
    """Cut to its metadata and padding the file has lost its data; what remains is all that is needed but the length."""
    size = model.stat().st_size
    with model.open("r+b") as file:
        file.truncate(size - 2)
        file.truncate(size)
    assert run("inspect", model).status == 0


@pytest.mark.golden
def test_a_part_of_a_checkpoint_is_shown_under_names_without_its_key(run: Run) -> None:
    source = GOLDEN / "pytorch" / "lightning.ckpt"
    for key in ("auto", "state_dict"):
        told = json.loads(run("inspect", "--json", "--top-level-key", key, source).out)
        assert "net.first.weight" in [tensor["name"] for tensor in told["tensors"]]
    outcome = run("inspect", "--top-level-key", "nope", source)
    assert outcome.status == 2 and "no tensor is below the key 'nope'" in outcome.err
