"""The cache: one download of a version, never a stale one, bounded, shared by processes."""

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import burnpy
from burnpy.numpy import load_file, save
from burnpy.storage import Cache, Location, at
from tests.storage.servers import Server

Web = Callable[..., Location]
MODEL = {"w": np.arange(100_000, dtype=np.float32)}


def kept(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith("."))


def gets(http: Server) -> int:
    return sum(asked.method == "GET" for asked in http.asked)


def test_a_second_open_asks_for_the_version_alone_and_maps_the_file(
    web: Web, http: Server, tmp_path: Path
) -> None:
    place = web("a.bpk", save(MODEL), cache=Cache(tmp_path / "cache"))
    assert np.array_equal(load_file(place)["w"], MODEL["w"])
    http.clear()
    with burnpy.open(place) as model:
        assert np.array_equal(model["w"], MODEL["w"]) and model.path == str(place)
    assert [asked.method for asked in http.asked] == ["HEAD"]
    assert len(kept(tmp_path / "cache")) == 1


def test_a_new_version_is_downloaded(web: Web, http: Server, tmp_path: Path) -> None:
    place = web("a.bpk", save(MODEL), cache=Cache(tmp_path / "cache"))
    load_file(place)
    http.objects["/a.bpk"], http.tags["/a.bpk"] = save({"w": MODEL["w"] + 1}), '"another"'
    assert np.array_equal(load_file(place)["w"], MODEL["w"] + 1)


def test_a_file_of_another_length_is_not_believed(web: Web, http: Server, tmp_path: Path) -> None:
    place = web("a.bpk", save(MODEL), cache=Cache(tmp_path / "cache"))
    load_file(place)
    (file,) = kept(tmp_path / "cache")
    file.write_bytes(file.read_bytes()[:-10])
    assert np.array_equal(load_file(place)["w"], MODEL["w"])
    assert file.stat().st_size == len(save(MODEL))


def test_what_was_not_used_for_the_longest_time_goes_first(web: Web, http: Server, tmp_path: Path) -> None:
    size = len(save(MODEL))
    cache = Cache(tmp_path / "cache", max_bytes=2 * size)
    places = [web(f"{name}.bpk", save(MODEL), cache=cache) for name in "abc"]
    for age, place in enumerate(places[:2]):
        path = cache.path_of(place)
        assert path is not None
        os.utime(path, (1_000 + age, 1_000 + age))
    load_file(places[0])
    load_file(places[2])
    assert [path.name[-5:] for path in kept(tmp_path / "cache")] and len(kept(tmp_path / "cache")) == 2
    http.clear()
    load_file(places[0])
    assert gets(http) == 0
    load_file(places[1])
    assert gets(http) > 0


def test_the_newest_file_stays_though_it_alone_is_too_large(web: Web, tmp_path: Path) -> None:
    place = web("a.bpk", save(MODEL), cache=Cache(tmp_path / "cache", max_bytes=10))
    assert np.array_equal(load_file(place)["w"], MODEL["w"]) and len(kept(tmp_path / "cache")) == 1


def test_formats_of_others_and_records_come_out_of_the_cache(web: Web, http: Server, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **MODEL)
    place = web("a.npz", (tmp_path / "a.npz").read_bytes(), cache=Cache(tmp_path / "cache"))
    for _ in range(2):
        with burnpy.open(place) as checkpoint:
            assert checkpoint.format == "npz" and np.array_equal(checkpoint["w"], MODEL["w"])
    assert gets(http) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no lock there: each process downloads")
def test_processes_that_open_at_once_download_once(web: Web, http: Server, tmp_path: Path) -> None:
    place = web("a.bpk", save(MODEL))
    script = textwrap.dedent(f"""
        from burnpy.numpy import load_file
        from burnpy.storage import Cache, at
        cache = Cache({str(tmp_path / "cache")!r})
        print(int(load_file(at({str(place)!r}, cache=cache))["w"].sum()))
    """)
    command = [sys.executable, "-c", script]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert {process.communicate()[0].strip() for process in started} == {str(int(MODEL["w"].sum()))}
    assert len({asked.range for asked in http.asked if asked.method == "GET"}) == gets(http)


def test_an_object_without_a_version_is_not_kept(tmp_path: Path) -> None:
    import io

    place = at(io.BytesIO(save(MODEL)), cache=Cache(tmp_path / "cache"))
    assert np.array_equal(load_file(place)["w"], MODEL["w"])
    assert not (tmp_path / "cache").exists()


def test_what_another_process_is_downloading_is_left_alone_until_it_is_abandoned(
    web: Web, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    folder.mkdir()
    for name, age in (("fresh.tmp", 0), ("old.tmp", 100_000)):
        (folder / name).write_bytes(bytes(10))
        os.utime(folder / name, (time.time() - age,) * 2)
    load_file(web("a.bpk", save(MODEL), cache=Cache(folder, max_bytes=0)))
    assert (folder / "fresh.tmp").exists() and not (folder / "old.tmp").exists()


def test_a_negative_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="max_bytes must be at least 0, got -1"):
        Cache("cache", max_bytes=-1)
