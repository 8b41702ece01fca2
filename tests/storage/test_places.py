"""Everything that takes a path takes a URL, a file object and a store as well."""

import io
import json
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy import ModuleRecord, _core, safe_open
from burnpy.errors import AlreadyExists, RecordIoError
from burnpy.nn import LinearConfig
from burnpy.numpy import load_file, save, save_file
from burnpy.storage import Transfer, at
from tests.storage.conftest import Bucket

MODEL = {"a": np.arange(6.0).reshape(2, 3), "b": np.ones(1000, np.float32)}


@pytest.fixture
def root(tmp_path: Path) -> str:
    pytest.importorskip("fsspec")
    return f"memory://{tmp_path.name}"


def same(found: Any, wanted: dict[str, np.ndarray] = MODEL) -> bool:
    return list(found) == list(wanted) and all(np.array_equal(found[name], wanted[name]) for name in wanted)


def test_a_url_is_saved_and_loaded(root: str) -> None:
    save_file(MODEL, f"{root}/a.bpk", {"by": "me"}, scalars={"step": 3})
    assert bytes(at(f"{root}/a.bpk").read()) == save(MODEL, {"by": "me"}, scalars={"step": 3})
    assert same(load_file(f"{root}/a.bpk"))
    with safe_open(f"{root}/a") as model:
        assert same(model) and model.scalars() == {"step": 3}
    with burnpy.open(f"{root}/a.bpk") as model:
        assert same(model) and model.path == f"{root.replace('//', '///')}/a.bpk"


def test_a_file_url_is_a_file(tmp_path: Path) -> None:
    save_file(MODEL, f"file://{tmp_path}/a.bpk")
    assert same(load_file(f"file://{tmp_path}/a.bpk"))
    with safe_open(f"file://{tmp_path}/a.bpk") as model:
        assert model._reader.path == tmp_path / "a.bpk"


def test_a_file_object_is_saved_and_loaded(tmp_path: Path) -> None:
    memory = io.BytesIO()
    save_file(MODEL, memory)
    assert memory.getvalue() == save(MODEL) and same(load_file(memory))
    with (tmp_path / "a.bpk").open("wb") as file:
        save_file(MODEL, file)
    with (tmp_path / "a.bpk").open("rb") as file, burnpy.open(file) as model:
        assert same(model)


def test_what_fsspec_opens_is_a_place(root: str) -> None:
    import fsspec

    save_file(MODEL, fsspec.open(f"{root}/a.bpk", "wb"))
    assert same(load_file(fsspec.open(f"{root}/a.bpk")))
    with fsspec.open(f"{root}/a.bpk", "rb") as file:
        assert same(load_file(file))


def test_a_store_of_obstore_is_a_place() -> None:
    store = pytest.importorskip("obstore.store").MemoryStore()
    save_file(MODEL, at(store, "models/a.bpk"))
    assert same(load_file(at(store, "models/a.bpk")))


def test_a_sharded_set_lives_below_a_url(root: str) -> None:
    index = burnpy.save_sharded(MODEL, f"{root}/set", 100, metadata={"by": "me"})
    assert str(index).endswith("set/model.bpk.index.json")
    for opened in (safe_open(index), burnpy.open(f"{root}/set/model.bpk.index.json")):
        with opened as model:
            assert same(model) and model.metadata()["by"] == "me"
    assert same(load_file(index))
    burnpy.save_sharded({"c": MODEL["a"]}, f"{root}/set")
    names = sorted(stat.key.rpartition("/")[2] for stat in at(f"{root}/set").list())
    assert names == ["model-00001-of-00001.bpk", "model.bpk.index.json"]


def test_a_set_that_fails_halfway_leaves_the_old_one(s3: Bucket) -> None:
    burnpy.save_sharded(MODEL, s3.at("set"), 100)

    def broken() -> bytes:
        raise RuntimeError("no more")

    last = burnpy.pack.Tensor.deferred("z", dtype="u8", shape=(200,), provider=broken)
    with pytest.raises(Exception, match="no more"):
        burnpy.save_sharded({"a": MODEL["a"] + 1, "z": last}, s3.at("set"), 100)
    with safe_open(s3.at("set/model.bpk.index.json")) as model:
        assert same(model)


def test_a_handle_reads_a_set_in_the_order_of_names(root: str) -> None:
    index = burnpy.save_sharded(MODEL, f"{root}/set", 100)
    with safe_open(index) as model:
        assert list(model.get_tensors(["b", "a"])) == ["b", "a"]
        with pytest.raises(KeyError, match="no tensor is named 'c'"):
            model.get_tensors(["a", "c"])
        again = pickle.loads(pickle.dumps(model))
        assert same(again)


def test_convert_reads_and_writes_urls(root: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **MODEL)
    report = burnpy.convert(tmp_path / "a.npz", f"{root}/a.bpk")
    assert report.destination.endswith("/a.bpk") and report.files == [report.destination]
    assert same(load_file(f"{root}/a.bpk"))
    back = burnpy.convert(f"{root}/a.bpk", tmp_path / "b.npz")
    assert back.source == f"{root}/a.bpk" and same(dict(np.load(tmp_path / "b.npz")))
    sharded = burnpy.convert(f"{root}/a.bpk", f"{root}/set/m.bpk", shard=100)
    assert len(sharded.files) == 3 and same(load_file(sharded.destination))
    with pytest.raises(AlreadyExists, match=r"a\.bpk"):
        burnpy.convert(tmp_path / "a.npz", f"{root}/a.bpk", overwrite=False)
    burnpy.convert(tmp_path / "a.npz", f"{root}/dry.bpk", dry_run=True)
    assert not at(f"{root}/dry.bpk").exists()


def test_a_record_is_saved_and_loaded(root: str, s3: Bucket) -> None:
    model = LinearConfig(3, 2).init()
    for place in (f"{root}/m", s3.at("m")):
        model.into_record().save(place)
        record = ModuleRecord.load(place)
        assert record.into_bytes() == model.into_record().into_bytes()
        with pytest.raises(RecordIoError, match="something is there already"):
            model.into_record().save(place, overwrite=False)
    assert at(f"{root}/m.bpk").exists() and s3.at("m.bpk").exists()
    memory = io.BytesIO()
    model.into_record().save(memory)
    assert ModuleRecord.load(memory).into_bytes() == memory.getvalue()
    with pytest.raises(FileNotFoundError) as caught:
        ModuleRecord.load(f"{root}/none")
    assert str(caught.value.filename).endswith("/none")


def test_a_save_tells_its_progress(root: str) -> None:
    told: list[tuple[str, int, int]] = []
    transfer = Transfer(part_bytes=1000, progress=lambda *step: told.append(step))
    save_file(MODEL, at(f"{root}/a.bpk", transfer=transfer))
    total = len(save(MODEL))
    assert [step[1] for step in told] == [*range(1000, total, 1000), total, total] and told[-1][0] == ""


@pytest.mark.parametrize("part_bytes", [1, 7, 256, 4096, 1 << 20])
def test_the_parts_of_a_container_are_the_container(part_bytes: int) -> None:
    parts: list[bytes] = []
    writer = _core.plan_file(MODEL, {"by": "me"}, scalars={"step": 3})
    writer._write_parts(parts.append, part_bytes)
    assert b"".join(parts) == save(MODEL, {"by": "me"}, scalars={"step": 3})
    assert {len(part) for part in parts[:-1]} <= {part_bytes} and 0 < len(parts[-1]) <= part_bytes


def test_what_a_sink_raises_comes_out_unchanged() -> None:
    class Full(Exception):
        pass

    def full(part: bytes) -> None:
        raise Full

    with pytest.raises(Full):
        _core.plan_file(MODEL)._write_parts(full, 100)


def test_an_index_of_another_library_is_opened_over_a_network(root: str) -> None:
    save_file({"a": MODEL["a"]}, f"{root}/x/one.bpk")
    save_file({"b": MODEL["b"]}, f"{root}/x/two.bpk")
    index = json.dumps({"weight_map": {"a": "one.bpk", "b": "two.bpk"}}).encode()
    with at(f"{root}/x/model.index.json").create() as upload:
        upload.write(index)
        upload.commit()
    with burnpy.open(f"{root}/x/model.index.json") as model:
        assert same(model)


def run(script: str) -> str:
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_of_the_engines_is_imported_unless_it_is_used(tmp_path: Path) -> None:
    loaded = run(f"""
        import io, sys
        import burnpy, burnpy.numpy, burnpy.storage, burnpy.store, burnpy.record
        burnpy.numpy.save_file({{}}, {str(tmp_path / "a.bpk")!r})
        burnpy.numpy.load_file("file://" + {str(tmp_path / "a.bpk")!r})
        file = io.BytesIO()
        burnpy.numpy.save_file({{}}, file)
        burnpy.numpy.load_file(file)
        print([name for name in sys.modules if name.split(".")[0] in ("fsspec", "obstore", "s3fs", "aiohttp")])
    """)
    assert loaded == "[]\n"


def test_a_plain_path_does_not_import_the_storage(tmp_path: Path) -> None:
    loaded = run(f"""
        import sys, pathlib
        from burnpy.numpy import load_file, save_file
        save_file({{}}, {str(tmp_path / "a.bpk")!r})
        load_file(pathlib.Path({str(tmp_path / "a.bpk")!r}))
        print([name for name in sys.modules if name.startswith("burnpy.storage")])
    """)
    assert loaded == "[]\n"


@pytest.mark.parametrize("url", ["s3://bucket/a.bpk", "https://host/a.bpk", "memory://a.bpk"])
def test_without_the_extra_the_error_says_what_to_install(url: str) -> None:
    said = run(f"""
        import sys
        sys.modules["obstore"] = sys.modules["fsspec"] = None
        import burnpy
        try:
            burnpy.open({url!r})
        except ImportError as error:
            print(error)
    """)
    assert said == f"{url} needs fsspec: pip install 'burnpy[remote]'\n"
