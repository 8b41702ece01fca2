"""Safetensors files over a network: the header at once, a tensor when it is asked for."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import burnpy
from burnpy.errors import CheckpointError, StorageError
from burnpy.pack import Limits
from burnpy.storage import Cache, Location, Transfer, at
from tests.storage.conftest import Bucket
from tests.storage.servers import Server

Web = Callable[..., Location]
BIG = {name: np.arange(400_001, dtype=np.float64) + shift for shift, name in enumerate("abcdef")}
MANY = {f"layer{i:04}.weight": np.full((8, 8), i, np.float32) for i in range(2_000)}
ODD = {
    "none": np.zeros((0, 4), np.float32),
    "one": np.array(7, np.int64),
    "half": np.arange(6).astype(ml_dtypes.bfloat16),
    "flags": np.array([True, False]),
}


def written(tensors: dict[str, Any], folder: Path, name: str = "a", **more: Any) -> dict[str, bytes]:
    burnpy.numpy.save_file(tensors, folder / "source.bpk", {"by": "me"})
    (folder / "to").mkdir(exist_ok=True)
    burnpy.convert(folder / "source.bpk", folder / "to" / f"{name}.safetensors", **more)
    return {path.name: path.read_bytes() for path in (folder / "to").iterdir()}


def put(place: Location, data: bytes) -> Location:
    with place.create() as upload:
        upload.write(data)
        upload.commit()
    return place


def same(found: Any, wanted: dict[str, Any]) -> bool:
    return set(found) == set(wanted) and all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_opening_takes_one_request_where_the_header_is_small(web: Web, http: Server, tmp_path: Path) -> None:
    place = web("a.safetensors", written(BIG, tmp_path)["a.safetensors"])
    with burnpy.open(place) as model, burnpy.open(tmp_path / "to" / "a.safetensors") as here:
        assert model.keys() == here.keys() and model.metadata() == here.metadata()
        assert [model.info(name) for name in model] == [here.info(name) for name in here]
        assert (model.format, model.path) == ("safetensors", str(place))
        assert model["a"].shape == (400_001,) and model["a"].dtype == "f64"
    assert len(http.asked) == 1 and http.sent == 64 << 10


def test_opening_takes_two_requests_where_the_header_is_large(web: Web, http: Server, tmp_path: Path) -> None:
    place = web("a.safetensors", written(MANY, tmp_path)["a.safetensors"])
    with burnpy.open(place) as model:
        assert len(model) == 2_000
    assert len(http.asked) == 2


def test_a_tensor_is_one_request_for_its_bytes_alone(web: Web, http: Server, tmp_path: Path) -> None:
    with burnpy.open(web("a.safetensors", written(BIG, tmp_path)["a.safetensors"])) as model:
        http.clear()
        assert np.array_equal(model["c"].numpy(), BIG["c"])
        assert len(http.asked) == 1 and http.sent == BIG["c"].nbytes
        assert np.array_equal(model["c"][7:9], BIG["c"][7:9])


@pytest.mark.parametrize("engine", ["obstore", "fsspec"])
def test_a_sharded_set_is_listed_in_two_requests_a_file(s3: Bucket, tmp_path: Path, engine: str) -> None:
    files = written(BIG | MANY, tmp_path, shard="8MB")
    for name, data in files.items():
        put(s3.at(f"set/{name}"), data)
    s3.server.clear()
    with burnpy.open(s3.at("set/a.safetensors.index.json", engine=engine)) as model:
        assert set(model) == set(BIG | MANY) and model.format == "safetensors index"
        assert len(files) > 3 and all(1 <= len(s3.server.of(name)) <= 2 for name in files)
        s3.server.clear()
        assert np.array_equal(model["d"].numpy(), BIG["d"])
    ranges = [asked.range for asked in s3.server.asked if asked.method == "GET"]
    assert sum(stop - start for start, stop in ranges if stop) == BIG["d"].nbytes  # type: ignore[misc]
    assert len(ranges) == 1


@pytest.mark.parametrize("kind", ["memory", "obstore s3", "fsspec s3", "http"])
def test_everything_is_read_as_from_a_file(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    data = written(MANY | BIG | ODD, tmp_path)["a.safetensors"]
    if kind == "http":
        place = request.getfixturevalue("web")("a.safetensors", data)
    elif kind == "memory":
        pytest.importorskip("fsspec")
        place = put(at(f"memory://{tmp_path.name}/a.safetensors"), data)
    else:
        bucket: Bucket = request.getfixturevalue("s3")
        place = put(bucket.at("a.safetensors", engine=kind.split()[0]), data)
    some = {name: (BIG | ODD)[name] for name in BIG | ODD} | {"layer0007.weight": MANY["layer0007.weight"]}
    with burnpy.open(place) as model:
        assert model["half"].dtype == "bf16" and not model["a"].numpy().flags.writeable
        assert same({name: model[name].numpy() for name in some}, some)


def test_a_large_tensor_comes_in_pieces_at_once(web: Web, http: Server, tmp_path: Path) -> None:
    data = written(BIG, tmp_path)["a.safetensors"]
    with burnpy.open(web("a.safetensors", data, Transfer(request_bytes=1 << 20))) as model:
        http.clear()
        assert np.array_equal(model["b"].numpy(), BIG["b"])
        assert len(http.asked) == 4 and http.sent == BIG["b"].nbytes


def test_with_a_cache_the_file_comes_once_and_is_mapped(web: Web, http: Server, tmp_path: Path) -> None:
    data = written(BIG, tmp_path)["a.safetensors"]
    place = web("a.safetensors", data, cache=Cache(tmp_path / "cache"))
    for _ in range(2):
        with burnpy.open(place) as model:
            assert same(model, BIG)
    assert sum(asked.method == "GET" for asked in http.asked) == 1


def test_a_checkpoint_can_be_pickled_and_converted(web: Web, http: Server, tmp_path: Path) -> None:
    place = web("a.safetensors", written(BIG, tmp_path)["a.safetensors"])
    with burnpy.open(place) as model, pickle.loads(pickle.dumps(model)) as again:
        assert np.array_equal(again["e"].numpy(), BIG["e"])
    burnpy.convert(place, tmp_path / "b.bpk", only=["^b$"])
    assert same(burnpy.numpy.load_file(tmp_path / "b.bpk"), {"b": BIG["b"]})


def test_nothing_is_left_on_this_machine(web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = web("a.safetensors", written(BIG, tmp_path)["a.safetensors"])
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    model = burnpy.open(place)
    assert np.array_equal(model["a"].numpy(), BIG["a"])
    assert sum(path.stat().st_blocks * 512 for path in scratch.rglob("*") if path.is_file()) < 1 << 20
    model.close()
    with pytest.raises(ValueError, match="closed"):
        model.keys()
    del model
    assert list(scratch.iterdir()) == []


def test_a_changed_object_is_noticed(web: Web, http: Server, tmp_path: Path) -> None:
    with burnpy.open(web("a.safetensors", written(BIG, tmp_path)["a.safetensors"])) as model:
        http.tags["/a.safetensors"] = '"another"'
        with pytest.raises(StorageError, match="changed since it was opened"):
            model["f"].numpy()


def header_of(entries: dict[str, Any], data: int = 64, length: int | None = None) -> bytes:
    text = json.dumps(entries).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + bytes(data)


def entry(start: int, stop: int) -> dict[str, Any]:
    return {"dtype": "F32", "shape": [(stop - start) // 4], "data_offsets": [start, stop]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"1234567",
        header_of({"a": entry(0, 64)})[:-1],
        header_of({"a": entry(0, 64)}, data=65),
        header_of({"a": entry(0, 64)}, length=2**40),
        header_of({"a": entry(0, 64)}, length=10**8 + 1),
        header_of({"a": entry(0, 40), "b": entry(36, 64)}),
        header_of({"a": {"dtype": "F31", "shape": [16], "data_offsets": [0, 64]}}),
        header_of({"a": entry(0, 64)}).replace(b"}}", b"]}"),
    ],
    ids=["empty", "short", "cut", "long", "outside", "too long", "overlap", "dtype", "json"],
)
def test_what_is_damaged_is_told_as_of_a_file_with_its_url(web: Web, tmp_path: Path, body: bytes) -> None:
    (tmp_path / "bad.safetensors").write_bytes(body)
    with pytest.raises(CheckpointError) as here:
        burnpy.open(tmp_path / "bad.safetensors")
    place = web("bad.safetensors", body)
    with pytest.raises(CheckpointError) as caught:
        burnpy.open(place)
    assert str(caught.value) == str(here.value).replace(str(tmp_path / "bad.safetensors"), str(place))
    assert str(place) in str(caught.value)
    assert (caught.value.kind, caught.value.path) == (here.value.kind, str(place))


def test_limits_hold(web: Web, tmp_path: Path) -> None:
    place = web("a.safetensors", written(MANY, tmp_path)["a.safetensors"])
    for limits in (Limits(max_metadata_bytes=1000), Limits(max_tensors=5), Limits(max_file_bytes=1000)):
        with pytest.raises(CheckpointError, match="limit") as caught:
            burnpy.open(place, limits=limits)
        assert caught.value.kind == "over limit"


def test_a_file_of_a_set_that_is_missing_is_told_when_it_is_asked_for(s3: Bucket, tmp_path: Path) -> None:
    files = written(BIG, tmp_path, shard="8MB")
    gone = sorted(files)[0]
    for name, data in files.items():
        if name != gone:
            put(s3.at(f"set/{name}"), data)
    with burnpy.open(s3.at("set/a.safetensors.index.json")) as model:
        assert set(model) == set(BIG)
        with pytest.raises(CheckpointError, match="which does not exist"):
            for name in model:
                model[name].numpy()


def test_an_index_under_another_name_is_one(s3: Bucket, tmp_path: Path) -> None:
    for name, data in written(BIG, tmp_path, shard="8MB").items():
        put(s3.at(f"set/{name.removesuffix('.index.json')}" + ".json" * name.endswith(".index.json")), data)
    with burnpy.open(s3.at("set/a.safetensors.json")) as model:
        assert model.format == "safetensors index" and np.array_equal(model["a"].numpy(), BIG["a"])
