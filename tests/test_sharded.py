"""`burnpy.save_sharded`, and a set opened as one mapping."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy import safe_open, save_sharded
from burnpy.errors import DTypeError
from burnpy.numpy import load_file
from burnpy.pack import Tensor, TensorNotFound, ValidationError


def layers(count: int = 5, size: int = 100) -> dict[str, Any]:
    return {f"layer{i}": np.full(size, i, np.float32) for i in range(count)}


def test_a_set_is_filled_in_order_and_has_an_index(tmp_path: Path) -> None:
    index = save_sharded(
        layers(), tmp_path / "set", 800, metadata={"k": "v"}, scalars={"n": 1}, param_ids={"layer4": 7}
    )
    assert index == tmp_path / "set" / "model.bpk.index.json"
    files = [f"model-0000{i}-of-00003.bpk" for i in (1, 2, 3)]
    assert sorted(os.listdir(index.parent)) == [*files, "model.bpk.index.json"]
    assert json.loads(index.read_text()) == {
        "metadata": {"total_size": 2000},
        "weight_map": dict(zip(layers(), [files[0], files[0], files[1], files[1], files[2]], strict=True)),
    }
    for file, names in zip(files, (["layer0", "layer1"], ["layer2", "layer3"], ["layer4"]), strict=True):
        with safe_open(index.parent / file) as handle:
            assert list(handle.keys()) == names
            assert (handle.metadata(), handle.scalars()) == (
                ({"k": "v"}, {"n": 1}) if file == files[0] else ({}, {})
            )
    with safe_open(index.parent / files[2]) as handle:
        assert handle.info("layer4").param_id == 7


def test_an_index_opens_as_one_mapping(tmp_path: Path) -> None:
    index = save_sharded(layers(), tmp_path, 800, metadata={"k": "v"}, scalars={"n": 1})
    with safe_open(index) as handle:
        assert list(handle.keys()) == list(layers()) and len(handle) == 5
        assert (handle.metadata(), handle.scalars()) == ({"k": "v"}, {"n": 1})
        for name, array in layers().items():
            np.testing.assert_array_equal(handle.get_tensor(name), array)


@pytest.mark.parametrize(
    ("limit", "count"),
    [(1, 5), (400, 5), (799, 5), (800, 3), ("0.8KB", 3), ("1kib", 3), (2000, 1), ("5GB", 1)],
)
def test_a_file_holds_at_most_so_many_bytes(limit: int | str, count: int, tmp_path: Path) -> None:
    save_sharded(layers(), tmp_path, limit)
    assert len(list(tmp_path.glob("*.bpk"))) == count


@pytest.mark.parametrize(
    "limit",
    [
        0,
        -1,
        "5",
        "5 apples",
        "GB",
        "",
        "1e3KB",
        "9" * 400 + "TB",
        None,
        1.5,
        float("nan"),
        b"5GB",
        "\u0663KB",
    ],
    ids=lambda limit: repr(limit)[:20],
)
def test_a_limit_that_means_nothing_is_refused(limit: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="max_shard_bytes must be"):
        save_sharded(layers(), tmp_path, limit)
    assert os.listdir(tmp_path) == []


def test_no_tensor_is_a_set_of_one_file(tmp_path: Path) -> None:
    index = save_sharded({}, tmp_path, metadata={"k": "v"}, scalars={"n": 3})
    with safe_open(index) as handle:
        assert list(handle.keys()) == [] and len(handle) == 0
        assert (handle.metadata(), handle.scalars()) == ({"k": "v"}, {"n": 3})
    assert load_file(index, with_metadata=True) == ({}, {"k": "v"})
    with safe_open(tmp_path / "model-00001-of-00001.bpk") as handle:
        assert list(handle.keys()) == [] and handle.metadata() == {"k": "v"}
    assert len(os.listdir(tmp_path)) == 2


def test_a_smaller_set_takes_the_place_of_a_larger_one(tmp_path: Path) -> None:
    save_sharded(layers(), tmp_path, 400)
    others = ["model-00001-of-00005.bpk.bak", "other-00001-of-00005.bpk", "model.bpk"]
    for other in others:
        (tmp_path / other).write_bytes(b"")
    save_sharded(layers(), tmp_path, 800)
    assert sorted(os.listdir(tmp_path)) == sorted(
        [*others, *(f"model-0000{i}-of-00003.bpk" for i in (1, 2, 3)), "model.bpk.index.json"]
    )


def fail() -> bytes:
    raise ValueError("no more")


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (Tensor.deferred("x", dtype="f32", shape=(100,), provider=fail), ValidationError),
        (np.zeros(100, complex), DTypeError),
        (Tensor("x", "f32", (100,), data=bytes(4)), ValidationError),
    ],
)
def test_an_error_in_the_last_file_leaves_the_old_set(
    bad: Any, error: type[Exception], tmp_path: Path
) -> None:
    save_sharded(layers(), tmp_path, 400)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(error, match="layer4"):
        save_sharded({**{name: array + 1 for name, array in layers().items()}, "layer4": bad}, tmp_path, 400)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_param_ids_of_no_tensor_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="param_ids names 'y'"):
        save_sharded(layers(), tmp_path, 800, param_ids={"layer0": 1, "y": 2})
    assert os.listdir(tmp_path) == []


def test_a_set_can_be_saved_over_itself(tmp_path: Path) -> None:
    index = save_sharded(layers(), tmp_path, 800)
    with safe_open(index) as handle:
        save_sharded(dict(handle), tmp_path, 400)
    with safe_open(index) as handle:
        assert {name: handle.get_tensor(name)[0] for name in handle} == {f"layer{i}": i for i in range(5)}


def test_the_names_of_a_set_can_be_chosen(tmp_path: Path) -> None:
    index = save_sharded(layers(1), tmp_path, name="ema [1]")
    assert sorted(os.listdir(tmp_path)) == ["ema [1]-00001-of-00001.bpk", "ema [1].bpk.index.json"]
    assert list(load_file(tmp_path / "ema [1]-00001-of-00001.bpk")) == ["layer0"]
    assert index.name == "ema [1].bpk.index.json"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", 3, None])
def test_a_name_that_leads_elsewhere_is_refused(name: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="name must be the first part of a file's name"):
        save_sharded(layers(), tmp_path / "set", name=name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tensors": [1]}, "tensors must be a mapping, got list"),
        ({"tensors": {b"a": np.zeros(1)}}, "keys of tensors must be str, got bytes b'a'"),
        ({"param_ids": 3}, "param_ids must be a mapping, got int"),
        ({"param_ids": {3: 3}}, "keys of param_ids must be str, got int 3"),
    ],
)
def test_arguments_of_another_type_are_named(arguments: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=message):
        save_sharded(**{"tensors": layers(), "folder": tmp_path / "set", **arguments})
    assert os.listdir(tmp_path) == []


def test_a_closed_set_says_so_whatever_it_is_asked(tmp_path: Path) -> None:
    with safe_open(save_sharded(layers(), tmp_path, 400)) as handle:
        view = handle["layer1"]
    for ask in (
        lambda: list(handle),
        lambda: len(handle),
        lambda: "layer1" in handle,
        lambda: handle["layer1"],
    ):
        with pytest.raises(ValueError, match="the reader is closed"):
            ask()
    with pytest.raises(ValueError, match="the reader is closed"):
        view.numpy()
    assert "5 tensors in 5 files" in repr(handle)


def test_an_unknown_name_is_told_with_the_nearest(tmp_path: Path) -> None:
    with (
        safe_open(save_sharded(layers(), tmp_path, 400)) as handle,
        pytest.raises(TensorNotFound, match="'layr1'; did you mean 'layer1'") as caught,
    ):
        handle["layr1"]
    assert (caught.value.tensor, caught.value.path) == ("layr1", str(tmp_path / "model.bpk.index.json"))


def test_files_of_a_set_may_be_links(tmp_path: Path) -> None:
    index = save_sharded(layers(), tmp_path / "set", 400)
    (tmp_path / "linked").mkdir()
    for number, file in enumerate(sorted(index.parent.iterdir())):
        file.rename(tmp_path / str(number))
        (tmp_path / "linked" / file.name).symlink_to(tmp_path / str(number))
    assert list(load_file(tmp_path / "linked" / index.name)) == list(layers())
