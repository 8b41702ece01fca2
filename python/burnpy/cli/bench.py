"""``burnpy bench``: how fast files are read and written on the user's own disk, beside memcpy."""

from __future__ import annotations

import argparse
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from burnpy.cli.arguments import Subparsers, at_least
from burnpy.cli.container import opened, opened_file
from burnpy.cli.table import lines, terminal_width
from burnpy.cli.text import escape, size_text
from burnpy.errors import BurnpyError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["add_to"]

_PAGE = 4096
_TENSOR_BYTES = 16 << 20
_MAX_COPY_BYTES = 256 << 20


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "measure reading and writing on this disk, beside memcpy"
    about = (
        f"{text}. A FILE is read where it is and saved to a temporary file beside it; in a FOLDER a temporary file is "
        "made first. The file is in the page cache, so these are figures of the software, not of a cold disk."
    )
    parser = commands.add_parser("bench", help=text, description=about)
    parser.add_argument("path", metavar="FILE|FOLDER")
    parser.add_argument("--mb", type=at_least(1), default=256, help="size of the file made in a FOLDER (256)")
    parser.add_argument(
        "--repeat", type=at_least(1), default=5, help="the median of so many runs is shown (5)"
    )
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=run)


class _Row(NamedTuple):
    what: str
    seconds: float
    num_bytes: int | None  # none: what takes the same time for large tensors as for small ones

    @property
    def gb_per_s(self) -> float | None:
        return None if self.num_bytes is None else self.num_bytes / self.seconds / 1e9


def run(options: argparse.Namespace) -> int:
    """Measure, then print a table or JSON."""
    from pathlib import Path
    from tempfile import TemporaryDirectory

    with ExitStack() as stack:
        path = Path(options.path)
        if path.is_dir():
            folder = stack.enter_context(TemporaryDirectory(prefix="burnpy-bench-", dir=path))
            path = _made_in(Path(folder), options.mb * 1_000_000)
        with opened_file(os.fspath(path)) as reader:
            path = reader.path or path
            num_bytes = sum(reader.info(name).nbytes for name in reader.keys())  # noqa: SIM118 (not a mapping)
            count = len(reader)
        if num_bytes == 0:
            raise BurnpyError(f"{path}: its tensors have no bytes, so there is nothing to measure")
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="burnpy-bench-", dir=path.parent)))
        rows = [_measure(*row, options.repeat) for row in _rows(path, scratch, num_bytes)]
    if options.json:
        import json

        print(json.dumps(_as_json(options.path, count, num_bytes, rows), indent=2))
    else:
        print(f"{escape(options.path)}: {count:,} tensors, {size_text(num_bytes)}\n")
        texts = [_row_text(row, rows[0]) for row in rows]
        for line in lines(
            ("what", "time", "GB/s", "of memcpy"), texts, right=(1, 2, 3), width=terminal_width()
        ):
            print(line)
    return 0


def _made_in(folder: Path, num_bytes: int) -> Path:
    from burnpy.pack import Tensor, Writer

    # Not zeros: some file systems store those as a hole, and some disks as nothing.
    block = os.urandom(min(num_bytes, _TENSOR_BYTES))
    sizes = [min(_TENSOR_BYTES, num_bytes - start) for start in range(0, num_bytes, _TENSOR_BYTES)]
    tensors = [
        Tensor(f"layers.{index}", "u8", (size,), data=block[:size]) for index, size in enumerate(sizes)
    ]
    path = folder / "made.bpk"
    Writer(tensors).write_to_file(path, durable=False)
    return path


def _rows(
    path: Path, scratch: Path, num_bytes: int
) -> Iterator[tuple[str, Callable[[], object], int | None]]:
    from burnpy.numpy import load_file, save_file

    copied = min(num_bytes, _MAX_COPY_BYTES)
    # Filled, not fresh: fresh pages are all the same page of zeros, which stays in the cache.
    source, target = bytearray(b"\1") * copied, bytearray(copied)
    yield "memcpy", functools.partial(_copy, source, target), copied
    del source, target
    yield "open and list", lambda: _list(path), None
    yield "load, views", lambda: load_file(path), None
    yield "load, touch every page", lambda: _touch(load_file(path)), num_bytes
    yield "load, private copy", lambda: load_file(path, copy=True), num_bytes
    arrays = load_file(path)
    yield "save", lambda: save_file(arrays, scratch / "saved.bpk"), num_bytes
    yield "save, synced", lambda: save_file(arrays, scratch / "saved.bpk", durable=True), num_bytes


def _copy(source: bytearray, target: bytearray) -> None:
    memoryview(target)[:] = source


def _list(path: Path) -> list[Any]:
    with opened(os.fspath(path)) as reader:
        return [reader.info(name) for name in reader.keys()]  # noqa: SIM118 (not a mapping)


def _touch(arrays: dict[str, Any]) -> None:
    for array in arrays.values():
        if array.size:
            array.reshape(-1).view("u1")[::_PAGE].tobytes()


def _measure(what: str, work: Callable[[], object], num_bytes: int | None, repeat: int) -> _Row:
    print(f"{what} ...", end="\r", file=sys.stderr, flush=True) if _shows_progress() else None
    work()  # once to warm up: pages are faulted in, modules imported
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
        del result  # freed outside of the measured time
    return _Row(what, sorted(seconds)[len(seconds) // 2], num_bytes)


def _shows_progress() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _row_text(row: _Row, memcpy: _Row) -> tuple[str, str, str, str]:
    rate, best = row.gb_per_s, memcpy.gb_per_s
    if rate is None or best is None:
        return row.what, f"{row.seconds * 1e3:.3f} ms", "-", "-"
    return row.what, f"{row.seconds * 1e3:.3f} ms", f"{rate:.2f}", f"{rate / best:.2f}"


def _as_json(path: str, count: int, num_bytes: int, rows: list[_Row]) -> dict[str, Any]:
    best = rows[0].gb_per_s
    told = [
        {
            "what": row.what,
            "seconds": row.seconds,
            "gb_per_s": row.gb_per_s,
            "of_memcpy": row.gb_per_s / best if row.gb_per_s and best else None,
        }
        for row in rows
    ]
    return {"path": path, "tensors": count, "bytes": num_bytes, "rows": told}
