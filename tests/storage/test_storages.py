"""What every storage does, whatever is behind it."""

import io
import pickle
from pathlib import Path
from typing import Any

import pytest

from burnpy.errors import AlreadyExists
from burnpy.storage import Location, Storage, at
from tests.storage.conftest import Bucket

KINDS = ["local", "fsspec memory", "fsspec local", "obstore memory", "obstore s3", "fsspec s3"]
PART = 5 << 20


@pytest.fixture(params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    kind = request.param
    if kind == "local":
        return at(tmp_path / "folder")
    if kind.endswith("s3"):
        bucket: Bucket = request.getfixturevalue("s3")
        return bucket.at("folder", engine=kind.split()[0])
    if kind == "obstore memory":
        return at(pytest.importorskip("obstore.store").MemoryStore(), "folder")
    fsspec = pytest.importorskip("fsspec")
    if kind == "fsspec local":
        return at(fsspec.filesystem("file", auto_mkdir=True), str(tmp_path / "folder"))
    return at(f"memory://{tmp_path.name}/folder")


def put(place: Location, data: bytes) -> None:
    with place.create() as upload:
        upload.write(data)
        upload.commit()


def names(folder: Location) -> list[str]:
    return sorted(stat.key.rpartition("/")[2] for stat in folder.list())


def test_what_is_written_is_read_listed_and_deleted(folder: Location) -> None:
    place = folder.child("a.bin")
    assert isinstance(place.storage, Storage)
    assert not place.exists() and names(folder) == []
    put(place, b"0123456789")
    put(folder.child("sub/b.bin"), b"b")
    assert place.stat().size == 10 and bytes(place.read()) == b"0123456789"
    assert bytes(place.storage.read(place.key, 2, 5).data) == b"234"
    assert names(folder) == ["a.bin", "b.bin"]
    place.delete()
    place.delete()
    assert not place.exists() and names(folder) == ["b.bin"]


@pytest.mark.parametrize("name", ["with space.bpk", "ü+€.bpk", "a%20b.bpk", "a#b=c&d.bpk"])
def test_a_name_is_what_it_is(folder: Location, name: str) -> None:
    put(folder.child(name), b"here")
    assert bytes(folder.child(name).read()) == b"here"
    assert names(folder) == [name]


def test_an_empty_object_is_one(folder: Location) -> None:
    put(folder.child("empty"), b"")
    assert bytes(folder.child("empty").read()) == b""


def test_an_object_in_several_parts_is_whole(folder: Location) -> None:
    data = bytes(range(256)) * (PART // 128)
    place = folder.child("large.bin")
    with place.create() as upload:
        for start in range(0, len(data), PART):
            assert upload.write(data[start : start + PART]) == len(data[start : start + PART])
        upload.commit()
    assert bytes(place.read()) == data


def test_nothing_is_visible_before_the_commit_and_an_abort_leaves_the_old_object(folder: Location) -> None:
    place = folder.child("a.bin")
    put(place, b"old")
    with place.create() as upload:
        upload.write(bytes(PART) + b"new")
        assert bytes(place.read()) == b"old"
    assert bytes(place.read()) == b"old" and names(folder) == ["a.bin"]


def test_an_error_in_the_block_aborts(folder: Location) -> None:
    place = folder.child("a.bin")
    with pytest.raises(RuntimeError, match="halfway"), place.create() as upload:
        upload.write(b"half")
        raise RuntimeError("halfway")
    assert not place.exists()


def test_a_commit_without_overwriting_refuses_what_is_there(folder: Location) -> None:
    place = folder.child("a.bin")
    put(place, b"old")
    with place.create() as upload, pytest.raises(AlreadyExists, match=r"a\.bin"):
        upload.write(b"new")
        upload.commit(overwrite=False)
    assert bytes(place.read()) == b"old"


def test_a_new_version_has_another_tag(folder: Location) -> None:
    place = folder.child("a.bin")
    put(place, b"old")
    first = place.stat()
    put(place, b"new")
    assert first.etag is not None and place.stat().etag != first.etag


def test_what_is_missing_is_told_by_pythons_own_error(folder: Location) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        folder.child("none.bin").open()
    assert str(caught.value.filename).endswith("folder/none.bin")


def test_a_location_and_an_open_object_can_be_pickled(folder: Location) -> None:
    if "MemoryStore" in str(folder):
        pytest.skip("memory of a process cannot be pickled")
    place = folder.child("a.bin")
    put(place, b"0123")
    file = pickle.loads(pickle.dumps(place.open()))
    assert bytes(file.read_ranges([(1, 3)])[0]) == b"12"


def test_a_file_object_is_read_and_written_where_it_is(tmp_path: Path) -> None:
    file = io.BytesIO()
    put(at(file), b"0123456789")
    assert file.getvalue() == b"0123456789"
    assert [bytes(part) for part in at(file).open().read_ranges([(8, 10), (0, 2)])] == [b"89", b"01"]
    with at(file).create() as upload:
        upload.write(b"more that is given up")
    assert file.getvalue() == b"0123456789"


class OneByteAtATime(io.RawIOBase):
    """A file that never gives or takes more than it must."""

    def __init__(self) -> None:
        self.inner = io.BytesIO()

    def read(self, size: int = -1) -> bytes:
        return self.inner.read(min(size, 1))

    def write(self, data: Any) -> int:
        return self.inner.write(bytes(data)[:1])

    def seek(self, to: int, whence: int = 0) -> int:
        return self.inner.seek(to, whence)


def test_a_file_object_that_does_things_by_halves_is_asked_again() -> None:
    file = OneByteAtATime()
    put(at(file), b"0123")
    assert bytes(at(file).read()) == b"0123"


def test_a_file_in_text_mode_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    with (tmp_path / "a.txt").open() as file, pytest.raises(TypeError, match="binary mode"):
        at(file).read()


@pytest.mark.parametrize(
    ("place", "key", "says"),
    [(3, None, "place must be a URL, a path, a file object or a storage, got int")],
)
def test_what_is_no_place_is_refused(place: Any, key: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        at(place, key)


def test_a_store_without_a_key_is_refused() -> None:
    fsspec = pytest.importorskip("fsspec")
    with pytest.raises(TypeError, match="key is missing"):
        at(fsspec.filesystem("memory"))


def test_an_engine_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="engine must be one of auto, obstore, fsspec, got 'curl'"):
        at("s3://bucket/key", engine="curl")
