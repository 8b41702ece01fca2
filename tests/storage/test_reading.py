"""What is read over a network, counted: requests and bytes."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy import safe_open
from burnpy.numpy import load_file, save, save_file
from burnpy.pack import Tensor
from burnpy.storage import Location, Transfer, at
from tests.storage.conftest import Bucket
from tests.storage.servers import Server

Web = Callable[..., Location]
MANY = {f"layer{i:04}.weight": np.full((8, 8), i, np.float32) for i in range(2_000)}
BIG = {name: np.arange(400_001, dtype=np.float64) + shift for shift, name in enumerate("abcdef")}


def same(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    return list(found) == list(wanted) and all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_opening_takes_one_request_where_the_metadata_is_small(web: Web, http: Server) -> None:
    place = web("a.bpk", save(BIG, {"by": "me"}, scalars={"step": 3}))
    with safe_open(place) as model:
        assert (
            model.keys() == list(BIG) and model.metadata() == {"by": "me"} and model.scalars() == {"step": 3}
        )
        assert model["a"].shape == (400_001,) and model.info("f").dtype == "f64"
    assert len(http.asked) == 1 and http.sent == 64 << 10


def test_opening_takes_two_requests_where_the_metadata_is_large(web: Web, http: Server) -> None:
    place = web("a.bpk", save(MANY))
    with burnpy.open(place) as model:
        assert len(model) == 2_000 and model.format == "burnpack"
    assert len(http.asked) == 2


@pytest.mark.parametrize("engine", ["obstore", "fsspec"])
def test_a_sharded_set_on_s3_is_listed_in_two_requests_a_file(s3: Bucket, engine: str) -> None:
    burnpy.save_sharded(MANY | BIG, s3.at("set"), "4MB", metadata={"by": "me"})
    shards = [stat.key for stat in s3.at("set").list()]
    s3.server.clear()
    with safe_open(s3.at("set/model.bpk.index.json", engine=engine)) as model:
        assert model.keys() == list(MANY | BIG) and model.metadata() == {"by": "me"}
        for file in shards:
            assert 1 <= len(s3.server.of(file)) <= 2, file
        asked = len(s3.server.asked)
        assert asked <= 2 * len(shards)
        s3.server.clear()
        assert np.array_equal(model.get_tensor("d"), BIG["d"])
    ranges = [asked.range for asked in s3.server.asked if asked.method == "GET"]
    assert sum(stop - start for start, stop in ranges if stop) == BIG["d"].nbytes  # type: ignore[misc]
    assert len(ranges) == 1


@pytest.mark.slow
def test_a_sharded_set_of_2_gb_is_listed_in_two_requests_a_file(
    web: Web, http: Server, tmp_path: Path
) -> None:
    zeros = np.zeros(4 << 20, np.float32)
    layers = {
        f"layer{i}": Tensor.deferred(f"layer{i}", dtype="f32", shape=zeros.shape, provider=lambda: zeros)
        for i in range(128)
    }
    burnpy.save_sharded(layers, tmp_path, "256MiB")
    for file in tmp_path.iterdir():
        http.objects[f"/set/{file.name}"] = file
    with safe_open(at(f"{http.url}/set/model.bpk.index.json")) as model:
        assert len(model) == 128
        assert all(len(http.of(file.name)) <= 2 for file in tmp_path.iterdir())
        http.clear()
        assert not model.get_tensor("layer77").any()
    assert http.sent == zeros.nbytes


def test_a_tensor_is_one_request_for_its_bytes_alone(web: Web, http: Server) -> None:
    with safe_open(web("a.bpk", save(BIG))) as model:
        http.clear()
        assert np.array_equal(model["c"].numpy(), BIG["c"])
        assert len(http.asked) == 1 and http.sent == BIG["c"].nbytes
        http.clear()
        assert np.array_equal(model["c"][100:200], BIG["c"][100:200])
        assert http.sent < BIG["c"].nbytes / 100


def test_neighbours_come_in_one_request_and_a_gap_is_settable(web: Web, http: Server) -> None:
    wanted = ["a", "c", "d"]
    for gap, requests in ((0, 3), (300, 2), (4 << 20, 1)):
        place = web("a.bpk", save(BIG), Transfer(gap_bytes=gap))
        with safe_open(place) as model:
            http.clear()
            assert same(model.get_tensors(wanted), {name: BIG[name] for name in wanted})
            assert len(http.asked) == requests, gap


def test_a_tensor_larger_than_a_request_comes_in_pieces_at_once(web: Web, http: Server) -> None:
    place = web("a.bpk", save(BIG), Transfer(request_bytes=1 << 20))
    with safe_open(place) as model:
        http.clear()
        assert np.array_equal(model.get_tensor("b"), BIG["b"])
        assert len(http.asked) == 4 and http.sent == BIG["b"].nbytes


@pytest.mark.parametrize("copy", [False, True])
def test_a_whole_file_is_loaded(web: Web, http: Server, copy: bool) -> None:
    everything = MANY | BIG | {"half": np.ones(3, np.float16), "none": np.zeros((0, 4)), "one": np.array(7)}
    found = load_file(web("a.bpk", save(everything)), copy=copy)
    assert same(found, everything)
    assert all(array.flags.writeable == copy for array in found.values())
    assert len(http.asked) < 12


def test_the_extension_is_added_where_nothing_is(web: Web, http: Server) -> None:
    web("model.bpk", save(BIG))
    assert same(load_file(f"{http.url}/model"), BIG)
    with pytest.raises(FileNotFoundError) as caught:
        burnpy.open(f"{http.url}/none")
    assert caught.value.filename == f"{http.url}/none"


def test_a_web_address_may_have_escapes_and_a_query(web: Web, http: Server) -> None:
    web("a b.bpk", b"")
    http.objects["/a%20b.bpk"] = save(BIG)
    assert same(load_file(f"{http.url}/a%20b.bpk"), BIG)
    pytest.importorskip("aiohttp")
    assert same(load_file(f"{http.url}/a%20b.bpk?signature=1%2F2"), BIG)
    assert {asked.path for asked in http.asked} == {"/a%20b.bpk", "/a%20b.bpk?signature=1%2F2"}


def test_a_handle_over_a_network_can_be_pickled_and_copied_into_a_file(
    web: Web, tmp_path: Path, http: Server
) -> None:
    with safe_open(web("a.bpk", save(BIG))) as model:
        again = pickle.loads(pickle.dumps(model))
        assert np.array_equal(again["e"], BIG["e"])
        save_file(dict(model), tmp_path / "copy.bpk")
    assert (tmp_path / "copy.bpk").read_bytes() == save(BIG)


def test_progress_is_told_to_the_end(web: Web) -> None:
    told: list[tuple[str, int, int]] = []
    place = web("a.bpk", save(BIG), Transfer(progress=lambda *step: told.append(step), request_bytes=1 << 20))
    load_file(place)
    assert told[-1][0] == "" and told[-1][1] == told[-1][2] and len(told) > 10
    assert {name for name, _, _ in told[:-1]} == {str(place)}
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


@pytest.mark.parametrize("damage", ["cut", "magic", "empty"])
def test_a_damaged_container_is_told_with_its_url(web: Web, http: Server, damage: str) -> None:
    data = save(BIG)
    body = {"cut": data[:-1000], "magic": b"no burnpack " * 100, "empty": b""}[damage]
    with pytest.raises(burnpy.pack.Error, match=rf"{http.url}/bad\.bpk"):
        safe_open(web("bad.bpk", body))


def test_formats_of_others_are_opened_through_a_copy(web: Web, tmp_path: Path, http: Server) -> None:
    np.savez(tmp_path / "a.npz", **BIG)
    place = web("a.npz", (tmp_path / "a.npz").read_bytes())
    with burnpy.open(place) as checkpoint:
        assert checkpoint.format == "npz" and np.array_equal(checkpoint["b"], BIG["b"])
        assert checkpoint.path == f"{http.url}/a.npz"


def test_several_threads_read_one_handle(s3: Bucket) -> None:
    from concurrent.futures import ThreadPoolExecutor

    save_file(BIG, s3.at("a.bpk"))
    with safe_open(s3.at("a.bpk")) as model, ThreadPoolExecutor(6) as pool:
        found = dict(zip(BIG, pool.map(model.get_tensor, BIG), strict=True))
    assert same(found, BIG)


class Capsule:
    """What NumPy takes for a tensor of another library."""

    def __init__(self, capsule: Any) -> None:
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


@pytest.mark.parametrize("copy", [False, True])
def test_other_frameworks_get_memory_of_their_own(web: Web, copy: bool) -> None:
    with safe_open(web("a.bpk", save(BIG))) as model:
        capsules = model._reader._capsules(copy=copy)
        found = {name: np.from_dlpack(Capsule(capsule)) for name, capsule in capsules.items()}
        part = np.from_dlpack(Capsule(model["b"]._capsule_of(slice(3, 9))))
    assert same(found, BIG) and np.array_equal(part, BIG["b"][3:9])


def test_odd_steps_and_scalars_are_read_of_a_view(web: Web) -> None:
    with safe_open(web("a.bpk", save(BIG | {"m": np.arange(600.0).reshape(20, 30)}))) as model:
        assert model["a"][7] == 7.0 and model["a"][-1] == 400_000.0
        assert np.array_equal(model["m"][::-3, 4], np.arange(600.0).reshape(20, 30)[::-3, 4])
        assert model["a"][2:9:3].flags.writeable
