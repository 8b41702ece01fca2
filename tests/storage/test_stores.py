"""Stores of modules in stores of objects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy.errors import AlreadyExists, PytorchError, PytorchStoreError, SafetensorsStoreError
from burnpy.nn import LinearConfig
from burnpy.pack import InvalidMagicNumber
from burnpy.storage import Cache, Location, at
from burnpy.store import BurnpackStore, PytorchReader, PytorchStore, SafetensorsStore
from tests.paths import ROOT
from tests.storage.conftest import Bucket
from tests.storage.servers import Server

Web = Callable[..., Location]
TENSORS = {"fc.weight": np.arange(6, dtype=np.float32).reshape(2, 3), "fc.bias": np.ones(2, np.float32)}
STORES = [BurnpackStore, SafetensorsStore]
PT = sorted((ROOT / "tests" / "golden").rglob("*.pt"))


@pytest.fixture(params=["memory", "s3"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "memory":
        pytest.importorskip("fsspec")
        return at(f"memory://{tmp_path.name}/stores")
    bucket: Bucket = request.getfixturevalue("s3")
    return bucket.at("stores")


@pytest.mark.parametrize("kind", STORES)
def test_a_module_is_saved_and_loaded_there(folder: Location, kind: Any, tmp_path: Path) -> None:
    first, second = LinearConfig(3, 2).init(), LinearConfig(3, 2).init()
    place = folder.child("model")
    kind.from_file(place).collect_from(first)
    result = kind.from_file(place).apply_to(second)
    assert result.is_success() and second.weight.val().tolist() == first.weight.val().tolist()
    kind.from_file(tmp_path / "model").collect_from(first)
    (name,) = folder.files()
    assert name == ("model.bpk" if kind is BurnpackStore else "model")
    assert bytes(folder.child(name).read()) == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("kind", STORES)
def test_what_is_there_is_replaced_only_if_asked(folder: Location, kind: Any) -> None:
    place = folder.child("model.x")
    kind.from_file(place).save(TENSORS)
    before = bytes(place.read())
    with pytest.raises((AlreadyExists, SafetensorsStoreError), match=r"model\.x: something is there already"):
        kind.from_file(place).save({"other": TENSORS["fc.bias"]})
    assert bytes(place.read()) == before
    kind.from_file(place, overwrite=True).save({"other": TENSORS["fc.bias"]})
    store = kind.from_file(place)
    assert store.keys() == ["other"] and store.file_metadata()["producer"] == "burn"


@pytest.mark.parametrize("kind", STORES)
def test_only_what_is_loaded_travels(web: Web, http: Server, tmp_path: Path, kind: Any) -> None:
    tensors = {name: np.full(200_000, i, np.float32) for i, name in enumerate("abcd")}
    kind.from_file(tmp_path / "model.x").save(tensors)
    store = kind.from_file(web("model.x", (tmp_path / "model.x").read_bytes()))
    assert store.keys() == list("abcd") and len(http.asked) == 1
    http.clear()
    assert np.array_equal(store.get_tensor("c").to_numpy(), tensors["c"])
    assert http.sent == tensors["c"].nbytes


@pytest.mark.parametrize("kind", [BurnpackStore, SafetensorsStore, PytorchStore])
def test_what_is_missing_is_told_by_its_url(folder: Location, kind: Any) -> None:
    store = kind.from_file(folder.child("none.x"))
    with pytest.raises(FileNotFoundError) as caught:
        store.keys()
    assert caught.value.filename == str(folder.child("none.x"))
    assert str(folder) in repr(store)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        (BurnpackStore, InvalidMagicNumber),
        (SafetensorsStore, SafetensorsStoreError),
        (PytorchStore, PytorchStoreError),
    ],
)
def test_what_is_something_else_is_told_with_its_url(web: Web, http: Server, kind: Any, error: Any) -> None:
    place = web("bad.x", b"nothing that anybody reads " * 10)
    with pytest.raises(error, match=rf"{http.url}/bad\.x"):
        kind.from_file(place).keys()


@pytest.mark.parametrize("kind", [BurnpackStore, SafetensorsStore, PytorchStore])
def test_a_missing_package_is_told_with_the_extra(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"needs fsspec: pip install 'burnpy\[remote\]'"):
        kind.from_file("s3://bucket/model")


@pytest.mark.skipif(not PT, reason="no golden checkpoint of PyTorch")
@pytest.mark.parametrize("cached", [False, True])
def test_a_checkpoint_of_pytorch_is_copied_and_read(
    web: Web, http: Server, tmp_path: Path, cached: bool
) -> None:
    path = next(path for path in PT if _opens(path))
    more = {"cache": Cache(tmp_path / "cache")} if cached else {}
    place = web(path.name, path.read_bytes(), **more)
    wanted, found = PytorchStore.from_file(path, top_level_key=None), PytorchReader(place)
    assert sorted(found.keys()) == sorted(PytorchReader(path).keys())
    store = PytorchStore.from_file(place, top_level_key=None)
    assert store.keys() == wanted.keys() != []
    for name in wanted.keys():  # noqa: SIM118 (not a mapping)
        assert np.array_equal(store.get_tensor(name).to_numpy(), wanted.get_tensor(name).to_numpy())
    assert PytorchReader.read_pickle_data(place) is not None


def _opens(path: Path) -> bool:
    try:
        return len(PytorchReader(path)) > 0
    except (PytorchError, OSError):
        return False


def test_a_store_with_a_cache_maps_what_came(web: Web, http: Server, tmp_path: Path) -> None:
    SafetensorsStore.from_file(tmp_path / "a.safetensors").save(TENSORS)
    place = web("a.safetensors", (tmp_path / "a.safetensors").read_bytes(), cache=Cache(tmp_path / "cache"))
    for _ in range(2):
        store = SafetensorsStore.from_file(place)
        assert np.array_equal(store.get_tensor("fc.weight").to_numpy(), TENSORS["fc.weight"])
    assert sum(asked.method == "GET" for asked in http.asked) == 1
    assert burnpy.open(place).format == "safetensors"
