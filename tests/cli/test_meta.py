import json
from pathlib import Path

import numpy as np
import pytest

from burnpy.pack import Reader, Tensor, Writer
from tests.cli.conftest import Run


def test_get_prints_all_or_the_value_of_one(run: Run, model: Path) -> None:
    assert run("meta", "get", model).out.splitlines() == [
        "author=me", "note=two words", "done=true", "lr=0.001", "step=3",
    ]  # fmt: skip
    assert run("meta", "get", model, "note").out == "two words\n"
    assert run("meta", "get", model, "step").out == "3\n"


def test_get_as_json(run: Run, model: Path) -> None:
    told = json.loads(run("meta", "get", "--json", model).out)
    assert told["metadata"] == {"author": "me", "note": "two words"}
    assert told["scalars"]["lr"] == {"kind": "Float", "value": 0.001}
    assert json.loads(run("meta", "get", "--json", model, "author").out) == "me"


def test_get_of_a_key_that_is_not_there_is_an_error(run: Run, model: Path) -> None:
    outcome = run("meta", "get", model, "nothing")
    assert (outcome.status, outcome.out) == (2, "")
    assert outcome.err == f"burnpy: {model}: no metadata entry or scalar is named 'nothing'\n"


def test_set_changes_the_metadata_and_nothing_else(run: Run, model: Path) -> None:
    before = Reader.from_bytes(model.read_bytes())
    assert run("meta", "set", model, "author=you", "new=a=b", "--delete", "note").status == 0
    after = Reader.from_bytes(model.read_bytes(), strict=True)
    assert after.metadata() == {"author": "you", "new": "a=b"}
    assert after.scalars() == before.scalars()
    assert list(after.keys()) == list(before.keys())
    for name in after.tensor_names():
        assert after.info(name) == before.info(name)
        assert after.tensor_data(name) == before.tensor_data(name)


def test_setting_what_is_there_gives_the_same_bytes(run: Run, model: Path) -> None:
    before = model.read_bytes()
    assert run("meta", "set", model, "author=me").status == 0
    assert model.read_bytes() == before


def test_set_can_write_elsewhere(run: Run, model: Path, tmp_path: Path) -> None:
    before = model.read_bytes()
    assert run("meta", "set", model, "author=you", "-o", tmp_path / "other").status == 0
    assert model.read_bytes() == before
    assert Reader.from_file(tmp_path / "other").metadata()["author"] == "you"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--delete", "nothing"), "no metadata entry is named 'nothing'"),
        ((), "nothing to set and nothing to delete"),
        (("no-equals-sign",), "KEY=VALUE"),
        (("k=\udcff",), "'k=\\udcff' is no UTF-8"),
    ],
)
def test_what_cannot_be_set_leaves_the_file_as_it_is(
    run: Run, model: Path, arguments: tuple[str, ...], words: str
) -> None:
    before = model.read_bytes()
    outcome = run("meta", "set", model, *arguments)
    assert outcome.status == 2 and words in outcome.err
    assert model.read_bytes() == before
    assert list(model.parent.iterdir()) == [model]


def test_set_keeps_the_order_of_tensors_that_have_no_bytes(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    entries = [Tensor("z", "f32", (0,), data=b""), Tensor("a", "f32", (1,), data=np.ones(1, np.float32))]
    Writer(entries).write_to_file(path)
    assert run("meta", "set", path, "k=v").status == 0
    assert list(Reader.from_file(path).keys()) == ["z", "a"]
