"""What fails on the way: repeated where that helps, told clearly where it does not, never a mixture."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from burnpy import safe_open
from burnpy.errors import StorageError
from burnpy.numpy import load_file, save, save_file
from burnpy.pack import Tensor
from burnpy.storage import Location, Transfer, at
from tests.storage.conftest import QUICK, Bucket
from tests.storage.servers import Server, at_random

Web = Callable[..., Location]
MODEL = {f"layer{i}": np.arange(50_000, dtype=np.float32) + i for i in range(40)}
HASTY = Transfer(retries=1, backoff_s=0, first_bytes=8 << 10, gap_bytes=0)


def same(found: dict[str, np.ndarray]) -> bool:
    return list(found) == list(MODEL) and all(np.array_equal(found[name], MODEL[name]) for name in MODEL)


@pytest.mark.parametrize("faults", [(503,), (500, 429, 408), ("drop",), ("cut",), (503, "drop", "cut")])
def test_a_fifth_of_all_requests_failing_gives_the_right_bytes(web: Web, http: Server, faults: tuple) -> None:
    place = web("a.bpk", save(MODEL))
    http.fault = at_random(0.2, *faults)
    with safe_open(place) as model:
        assert same({name: model.get_tensor(name) for name in model})
    assert same(load_file(place))
    assert len(http.asked) > 1.1 * len(MODEL)


@pytest.mark.parametrize("engine", ["obstore", "fsspec"])
def test_a_fifth_of_all_requests_failing_on_s3_gives_the_right_bytes(s3: Bucket, engine: str) -> None:
    save_file(MODEL, s3.at("a.bpk"))
    s3.server.fault = at_random(0.2, 503, 500)
    with safe_open(s3.at("a.bpk", engine=engine)) as model:
        assert same({name: model.get_tensor(name) for name in model})


def test_the_same_over_http_through_fsspec(web: Web, http: Server) -> None:
    pytest.importorskip("aiohttp")
    place = at(str(web("a.bpk", save(MODEL))), engine="fsspec", transfer=QUICK)
    http.fault = at_random(0.2, 503, "drop", "cut")
    with safe_open(place) as model:
        assert same({name: model.get_tensor(name) for name in model})
        http.fault = lambda asked: 403
        with pytest.raises(PermissionError, match="403"):
            model.get_tensor("layer30")
        http.fault, http.tags["/a.bpk"] = lambda asked: None, '"another"'
        with pytest.raises(StorageError, match="has changed since it was opened"):
            model.get_tensor("layer30")


def test_a_fifth_of_all_requests_failing_leaves_a_whole_object_written(s3: Bucket) -> None:
    s3.server.fault = at_random(0.2, 503, "drop")
    save_file(MODEL, s3.at("a.bpk", transfer=Transfer(part_bytes=5 << 20)))
    s3.server.fault = lambda asked: None
    assert bytes(s3.at("a.bpk").read()) == save(MODEL)


@pytest.mark.parametrize("fault", [503, "drop", "cut"])
def test_a_fault_that_stays_is_told_with_name_range_and_attempts(
    web: Web, http: Server, fault: int | str
) -> None:
    place = web("a.bpk", save(MODEL), HASTY)
    with safe_open(place) as model:
        http.fault = lambda asked: fault
        first = model.info("layer3").offsets[0]
        with pytest.raises(StorageError, match=rf"{http.url}/a\.bpk: bytes \d+ to \d+") as caught:
            model.get_tensor("layer3")
    error = caught.value
    assert error.attempts == 2 and "in 2 attempts" in str(error) and error.transient
    assert error.stop - error.start == MODEL["layer3"].nbytes and error.start > first  # type: ignore[operator]
    assert error.status == (fault if isinstance(fault, int) else None)
    assert any("layer3" in note for note in error.__notes__)


@pytest.mark.parametrize(
    ("status", "kind"), [(404, FileNotFoundError), (403, PermissionError), (401, PermissionError)]
)
def test_what_no_attempt_helps_is_told_at_once(
    web: Web, http: Server, status: int, kind: type[OSError]
) -> None:
    place = web("a.bpk", save(MODEL))
    http.fault = lambda asked: status
    with pytest.raises(kind, match=str(status)) as caught:
        load_file(place)
    assert caught.value.filename == str(place) and len(http.of("a.bpk")) == 1


@pytest.mark.parametrize("engine", ["obstore", "fsspec"])
@pytest.mark.parametrize(("status", "kind"), [(404, FileNotFoundError), (403, PermissionError)])
def test_the_same_on_s3(s3: Bucket, engine: str, status: int, kind: type[OSError]) -> None:
    save_file(MODEL, s3.at("a.bpk"))
    s3.server.fault = lambda asked: status
    with pytest.raises(kind) as caught:
        load_file(s3.at("a.bpk", engine=engine))
    assert caught.value.filename == f"s3://{s3.name}/a.bpk"


def test_another_refusal_is_told_with_its_status_and_not_repeated(web: Web, http: Server) -> None:
    place = web("a.bpk", save(MODEL))
    http.fault = lambda asked: 400
    with pytest.raises(StorageError, match="status 400") as caught:
        place.open().read_ranges([(0, 1)])
    assert caught.value.status == 400 and not caught.value.transient


def test_an_object_that_changes_while_it_is_read_is_an_error(web: Web, http: Server) -> None:
    place = web("a.bpk", save(MODEL), HASTY)
    with safe_open(place) as model:
        assert np.array_equal(model.get_tensor("layer1"), MODEL["layer1"])
        http.tags["/a.bpk"] = '"another"'
        with pytest.raises(StorageError, match="has changed since it was opened"):
            model.get_tensor("layer2")


def test_a_weak_tag_is_compared_though_no_server_matches_it(web: Web, http: Server) -> None:
    http.tags["/a.bpk"] = 'W/"one"'
    with safe_open(web("a.bpk", save(MODEL), HASTY)) as model:
        assert np.array_equal(model.get_tensor("layer1"), MODEL["layer1"])
        http.tags["/a.bpk"] = 'W/"two"'
        with pytest.raises(StorageError, match=r'it was W/"one" of .* and is W/"two"'):
            model.get_tensor("layer2")


@pytest.mark.parametrize("engine", ["obstore", "fsspec"])
def test_an_object_on_s3_that_is_replaced_is_an_error_and_not_a_mixture(s3: Bucket, engine: str) -> None:
    save_file(MODEL, s3.at("a.bpk"))
    with safe_open(s3.at("a.bpk", engine=engine, transfer=HASTY)) as model:
        assert np.array_equal(model.get_tensor("layer1"), MODEL["layer1"])
        save_file({name: array + 1 for name, array in MODEL.items()}, s3.at("a.bpk"))
        with pytest.raises(StorageError, match="has changed since it was opened"):
            model.get_tensor("layer2")


@pytest.mark.parametrize("engine", ["obstore", "fsspec"])
def test_a_save_that_fails_leaves_the_old_object_and_no_parts(s3: Bucket, engine: str) -> None:
    save_file(MODEL, s3.at("a.bpk"))
    before = bytes(s3.at("a.bpk").read())

    def broken() -> bytes:
        raise RuntimeError("the disk of the provider")

    zeros = np.zeros(3 << 20, np.float32)
    tensors = {
        "big": zeros,
        "more": zeros,
        "last": Tensor.deferred("last", dtype="u8", shape=(1,), provider=broken),
    }
    with pytest.raises(Exception, match="the disk of the provider"):
        save_file(tensors, s3.at("a.bpk", engine=engine, transfer=Transfer(part_bytes=5 << 20)))
    assert bytes(s3.at("a.bpk").read()) == before
    assert [stat.key for stat in s3.at("").list()] == ["a.bpk"]
    assert "<Upload>" not in pending_uploads(s3)


def pending_uploads(s3: Bucket) -> str:
    import urllib.request

    with urllib.request.urlopen(f"{s3.server.url}/{s3.name}?uploads") as answer:
        return str(answer.read())


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_an_upload_that_is_killed_leaves_the_old_object(s3: Bucket, tmp_path: Path) -> None:
    save_file(MODEL, s3.at("a.bpk"))
    before = bytes(s3.at("a.bpk").read())
    script = textwrap.dedent(f"""
        import time, numpy as np
        from burnpy.numpy import save_file
        from burnpy.pack import Tensor
        from burnpy.storage import Transfer, at

        def slow():
            print("on its way", flush=True)
            time.sleep(60)

        zeros = np.zeros(6 << 20, np.float32)
        last = Tensor.deferred("last", dtype="u8", shape=(1,), provider=slow)
        options = dict(endpoint={s3.server.url!r}, access_key_id="key", secret_access_key="secret",
                       region="us-east-1", virtual_hosted_style_request=False)
        place = at("s3://{s3.name}/a.bpk", options=options, transfer=Transfer(part_bytes=5 << 20))
        save_file({{"a": zeros, "b": zeros, "last": last}}, place)
    """)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=dict(os.environ))
    assert process.stdout is not None and process.stdout.readline() == b"on its way\n"
    deadline = time.monotonic() + 30
    while not any("partNumber" in asked.path for asked in s3.server.asked) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert any("partNumber" in asked.path for asked in s3.server.asked), "a part was sent"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert bytes(s3.at("a.bpk").read()) == before
