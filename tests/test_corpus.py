"""Hostile files, and what fuzzing found: each is read or gives the error that it must, through every door."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import burnpy
from burnpy import errors
from burnpy.numpy import load, load_file
from burnpy.pack import Reader
from tests.paths import CORPUS

MANIFEST = CORPUS / "manifest.json"


def _cases() -> list[dict[str, Any]]:
    # A corpus that is not there fails its own test below, not the collection of all tests.
    cases: list[dict[str, Any]] = json.loads(MANIFEST.read_text())["files"] if MANIFEST.is_file() else []
    return cases


def _read(reader: Reader) -> None:
    with reader:
        for name in reader.tensor_names():
            assert len(reader.tensor_data(name)) == reader.info(name).nbytes


def _look_at_all(path: Path, backend: Any) -> None:
    with burnpy.safe_open(path, backend=backend) as handle:
        for name in handle:
            handle.get_tensor(name)


DOORS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "mapped": ("tolerant", lambda path: _read(Reader.from_file(path, backend="mmap"))),
    "read": ("tolerant", lambda path: _read(Reader.from_file(path, backend="pread"))),
    "bytes": ("tolerant", lambda path: _read(Reader.from_bytes(path.read_bytes()))),
    "mapped, strict": ("strict", lambda path: _read(Reader.from_file(path, strict=True, backend="mmap"))),
    "read, strict": ("strict", lambda path: _read(Reader.from_file(path, strict=True, backend="pread"))),
    "bytes, strict": ("strict", lambda path: _read(Reader.from_bytes(path.read_bytes(), strict=True))),
    "load_file": ("tolerant", load_file),
    "load_file, copied": ("tolerant", lambda path: load_file(path, copy=True)),
    "load": ("tolerant", lambda path: load(path.read_bytes())),
    "safe_open, mapped": ("tolerant", lambda path: _look_at_all(path, "mmap")),
    "safe_open, read": ("tolerant", lambda path: _look_at_all(path, "pread")),
}


ARRAY_DOORS = {door for door in DOORS if door.startswith(("load", "safe_open"))}


def _is_beyond_numpy(path: Path) -> bool:
    """Whether a tensor of a good container is more than an array can be: 64 dimensions, 2⁶³ bytes."""
    reader = Reader.from_file(path)
    shapes = [reader.info(name).shape for name in reader.tensor_names()]
    return any(len(shape) > 64 or math.prod(side or 1 for side in shape) >= 2**60 for shape in shapes)


def test_the_manifest_lists_every_file() -> None:
    assert MANIFEST.is_file()
    listed = [case["file"] for case in _cases()]
    assert sorted(listed) == sorted(path.name for path in CORPUS.glob("*.bpk"))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["file"].removesuffix(".bpk"))
def test_a_hostile_file_gives_the_error_that_it_must(case: dict[str, Any], door: str) -> None:
    mode, act = DOORS[door]
    path, kind = CORPUS / case["file"], case[mode]
    if kind is None and door in ARRAY_DOORS and _is_beyond_numpy(path):
        with pytest.raises(errors.ValidationError, match="no array can be made of it") as refused:
            act(path)
        assert refused.value.tensor in Reader.from_file(path).tensor_names()
        assert refused.value.path == (None if door == "load" else str(path))
        assert isinstance(refused.value.__cause__, ValueError | OverflowError)
        return
    if kind is None:
        act(path)
        return
    with pytest.raises(getattr(errors, kind)) as caught:
        act(path)
    # Exactly this kind: a subclass would be another one to whoever catches it.
    assert caught.type is getattr(errors, kind)
