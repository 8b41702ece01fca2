"""Every checkpoint of the golden folders is read to its manifest by `burnpy.open`, or refused as its manifest says."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy.errors import CheckpointError
from burnpy.store.checkpoint import Checkpoint
from tests.golden_containers import dtype_text, manifest
from tests.paths import GOLDEN, GOLDEN_EXTRA

pytestmark = pytest.mark.golden

Json = dict[str, Any]


@dataclass(frozen=True)
class GoldenCheckpoint:
    """A file and what its manifest says of it."""

    path: Path
    told: Json

    @property
    def expect(self) -> str:
        return (
            "error" if "error" in self.told and "expect" not in self.told else self.told.get("expect", "ok")
        )

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name}"


def _checkpoints() -> Iterator[GoldenCheckpoint]:
    folders = [GOLDEN / "pytorch", GOLDEN / "safetensors", *([GOLDEN_EXTRA] if GOLDEN_EXTRA else [])]
    for folder in folders:
        for name, told in manifest(folder / "manifest.json")["files"].items():
            yield GoldenCheckpoint(folder / name, told)
    for told in manifest(GOLDEN / "burn" / "store" / "manifest.json")["files"]:
        if "tensors" in told:
            yield GoldenCheckpoint(GOLDEN / "burn" / "store" / told["file"], told)


CHECKPOINTS = list(_checkpoints())


def _that(*expect: str) -> pytest.MarkDecorator:
    chosen = [checkpoint for checkpoint in CHECKPOINTS if checkpoint.expect in expect]
    return pytest.mark.parametrize("golden", chosen, ids=str)


@pytest.fixture(autouse=True)
def _nothing_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The payload of a hostile file would leave a file in the working directory."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not (tmp_path / "PWNED").exists()


@pytest.mark.parametrize("golden", CHECKPOINTS, ids=str)
def test_a_file_is_the_one_that_the_manifest_tells_of(golden: GoldenCheckpoint) -> None:
    digest = golden.told.get("file_sha256") or golden.told["sha256"]
    assert hashlib.sha256(golden.path.read_bytes()).hexdigest() == digest


@_that("ok")
def test_a_good_file_is_read_to_its_manifest(golden: GoldenCheckpoint) -> None:
    with burnpy.open(golden.path) as checkpoint:
        _check_content(checkpoint, golden)


@_that("error")
def test_a_bad_file_is_refused_by_its_kind_and_with_its_words(golden: GoldenCheckpoint) -> None:
    _check_refused(golden)


@_that("either")
def test_an_odd_file_is_read_to_its_manifest_or_refused_as_it_says(golden: GoldenCheckpoint) -> None:
    try:
        with burnpy.open(golden.path) as checkpoint:
            _check_content(checkpoint, golden)
    except (CheckpointError, AssertionError):
        _check_refused(golden)


READABLE = [golden for golden in CHECKPOINTS if golden.told.get("readable")]


@pytest.mark.parametrize("golden", READABLE, ids=str)
def test_what_is_whole_in_a_damaged_file_can_be_read(golden: GoldenCheckpoint) -> None:
    with burnpy.open(golden.path) as checkpoint:
        for told in golden.told["readable"]:
            _check_tensor(checkpoint, told)
        for name, shape in golden.told.get("shapes", {}).items():
            assert checkpoint.info(name).shape == tuple(shape)


def test_a_file_that_burn_itself_wrote_badly_is_refused() -> None:
    path = GOLDEN / "burn" / "store" / "safetensors_predicate.safetensors"
    with pytest.raises(CheckpointError, match="not JSON") as caught:
        burnpy.open(path)
    assert caught.value.kind == "malformed header"


def test_every_container_has_its_name() -> None:
    assert burnpy.open(GOLDEN / "pytorch" / "lightning.ckpt").format == "pytorch zip"
    assert burnpy.open(GOLDEN / "pytorch" / "model_linear_legacy.pth").format == "pytorch legacy"
    assert burnpy.open(GOLDEN / "pytorch" / "tar_era.pt").format == "pytorch tar"
    assert burnpy.open(GOLDEN / "pytorch" / "raw_pickle_p2.pkl").format == "pickle"
    index = GOLDEN / "safetensors" / "sharded_2" / "model.safetensors.index.json"
    assert burnpy.open(index).format == "safetensors index"


def _check_content(checkpoint: Checkpoint, golden: GoldenCheckpoint) -> None:
    told = golden.told
    for tensor in told["tensors"]:
        _check_tensor(checkpoint, tensor)
    optional = {tensor["name"] for tensor in told.get("optional", [])}
    assert set(checkpoint) - optional == {tensor["name"] for tensor in told["tensors"]}
    if "ties" in told:
        assert _sets(checkpoint.ties()) == _sets(told["ties"])
        assert _sets(checkpoint.overlaps()) == _sets(told["overlaps"])
    _check_skipped(checkpoint, told.get("skipped") or [])
    if isinstance(told.get("scalars"), list):
        _check_scalars(checkpoint, told["scalars"])
    elif "scalars" in told and "file" in told:
        assert checkpoint.scalars().keys() == told["scalars"].keys()
    if "metadata" in told:
        assert checkpoint.metadata() == (told["metadata"] or {})


def _check_tensor(checkpoint: Checkpoint, told: Json) -> None:
    view, name = checkpoint[told["name"]], told["name"]
    # Burn's manifests have its own words for dtypes, or those of a safetensors header.
    dtype = dtype_text(told["dtype"]) if "param_id" in told else told["dtype"].lower()
    assert view.param_id == told.get("param_id"), name
    assert (view.dtype, list(view.shape)) == (dtype, told["shape"]), name
    assert checkpoint.info(name).shape == tuple(told["shape"]), name
    array = view.numpy()
    assert hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() == told["sha256"], name
    data = bytes(view)
    assert hashlib.sha256(data).hexdigest() == told["sha256"], name
    assert view.nbytes == checkpoint.info(name).nbytes == len(data), name


def _check_skipped(checkpoint: Checkpoint, expected: list[Json]) -> None:
    found = {(skipped.name, skipped.kind): skipped for skipped in checkpoint.skipped()}
    for told in expected:
        skipped = found[told["name"], told["qualified"]]
        assert skipped.shape == tuple(told.get("shape", skipped.shape or ())) or "shape" not in told
        assert skipped.dtype == told.get("dtype", skipped.dtype)


def _check_scalars(checkpoint: Checkpoint, expected: list[Json]) -> None:
    found = {**checkpoint.metadata(), **checkpoint.scalars()}
    assert found.keys() == {told["name"] for told in expected}
    for told in expected:
        value = found[told["name"]]
        assert _type_name(value) == told["type"], told["name"]
        plain = _plain(value)
        assert plain == told["value"] or str(plain) == str(told["value"]), told["name"]


def _type_name(value: Any) -> str:
    kind = type(value)
    return f"numpy.{value.dtype.name}" if isinstance(value, np.generic) else kind.__name__


def _plain(value: Any) -> Any:
    """A value as the manifest's JSON has it."""
    match value:
        case set() | frozenset():
            return sorted(value)
        case bytes():
            return value.hex()
        case complex():
            return [value.real, value.imag]
        case np.generic():
            return value.item()
    return value


def _check_refused(golden: GoldenCheckpoint) -> None:
    error = golden.told["error"]
    with pytest.raises(CheckpointError) as caught, burnpy.open(golden.path) as checkpoint:
        for view in checkpoint.values():
            view.numpy()
            bytes(view)
    assert caught.value.kind == error["kind"]
    message = str(caught.value)
    assert all(word in message for word in error["mention"]), message
    alternatives = error.get("mention_any") or [""]
    assert any(word in message for word in alternatives), message


def _sets(groups: list[list[str]]) -> list[list[str]]:
    return sorted(sorted(group) for group in groups)
