"""The zip that `burnpy.convert` writes, read by Python's own reader."""

import io
import zipfile

import pytest

from burnpy.store import stored_zip
from burnpy.store.stored_zip import StoredZip


def written(members: dict[str, list[bytes]]) -> zipfile.ZipFile:
    out = io.BytesIO()
    archive = StoredZip(out.write)
    for name, pieces in members.items():
        archive.add(name, pieces)
    archive.finish()
    return zipfile.ZipFile(out)


MEMBERS = {"a": [b"12", b"345"], "ü": [bytes(1 << 17), b"x"], "empty": [], "b/c.npy": [b"6" * 70_000]}


@pytest.mark.parametrize("max_number", [2**32 - 2, 100_000, 4, -1])
def test_what_is_written_is_read_also_where_numbers_do_not_fit(
    max_number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_zip, "_MAX_NUMBER", max_number)
    archive = written(MEMBERS)
    assert archive.testzip() is None
    assert {name: archive.read(name) for name in archive.namelist()} == {
        name: b"".join(pieces) for name, pieces in MEMBERS.items()
    }


@pytest.mark.parametrize("count", [0, 2**16 - 2, 2**16 - 1, 2**16 + 1])
def test_a_zip_has_any_number_of_members(count: int) -> None:
    archive = written({str(number): [] for number in range(count)})
    assert archive.namelist() == [str(number) for number in range(count)]


def test_the_same_members_give_the_same_bytes() -> None:
    first, second = written(MEMBERS).fp, written(MEMBERS).fp
    assert isinstance(first, io.BytesIO) and isinstance(second, io.BytesIO)
    assert first.getvalue() == second.getvalue()
