"""The rows of the container's table: for a case and a place, the calls that do the same thing, by name.

``open_row`` is the one list that both the table (``table.py``) and pytest-benchmark (``test_rows.py``) run. It makes
the files that a row reads, checks each library's result against what was saved, and takes all away again.
"""

import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benches.python import burn_pack, limits
from benches.python.cases import Case
from benches.python.peers import PEERS, Arrays, Peer

FILES = ("tmpfs", "disk")
MEMORY = ("memory",)

ROWS: dict[str, tuple[str, ...]] = {
    "open and list": FILES,
    "load all, untouched": FILES,
    "load and touch": FILES,
    "load, private copy": FILES,
    "one tensor": FILES,
    "one tensor, private copy": FILES,
    "save": FILES,
    "save durable": ("disk",),
    "save to bytes": MEMORY,
    "load from bytes": MEMORY,
    "peak memory: load all, untouched": MEMORY,
    "peak memory: load, private copy": MEMORY,
    "peak memory: save": MEMORY,
    "peak memory: save to bytes": MEMORY,
}
"""Every row and the places it is run in. What touches no file, or measures no time, is run once."""

TOUCHING = ("load and touch", "one tensor")
PEAK = "peak memory: "
LIMIT_FILE = "saved-by-limit"


class Measured(float):
    """A figure that the call took itself, in the row's unit; the clock around it is ignored."""


@dataclass(frozen=True)
class Call:
    """One entry of a row. ``before`` is run, untimed, ahead of each ``run``."""

    name: str
    run: Callable[[], Any]
    before: Callable[[], Any] = lambda: None
    kind: str = "peer"


@dataclass
class Row:
    """Calls that do the same thing, and the bytes that each moves."""

    case: Case
    place: str
    name: str
    num_bytes: int
    calls: list[Call] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        return "bytes" if self.name.startswith(PEAK) else "s"


def makes_sense(case: Case, row: str, place: str) -> bool:
    """Touching pages of tensors that are smaller than a page measures nothing."""
    return place in ROWS[row] and not (case.is_tiny and row == "load and touch")


@contextmanager
def open_row(builder: "RowBuilder", names: list[str]) -> Iterator[Row]:
    """The row with a checked call for each of the names; ``"limit"`` among them adds the machine's limits."""
    with ExitStack() as stack:
        stack.callback(builder.remove_files)
        for name in names:
            if name == burn_pack.NAME:
                builder.add_burn_pack(stack)
            elif name == "limit":
                builder.add_limits()
            else:
                builder.add_peer(name)
        yield builder.row


class RowBuilder:
    """Fills one row with the calls of the libraries and of the machine."""

    peers: ClassVar[Mapping[str, type[Peer]]] = PEERS

    def __init__(self, case: Case, row: str, place: str, folder: Path, *, quick: bool) -> None:
        one = row.startswith("one tensor")
        self.row = Row(case, place, row, case.byte_len(case.one) if one else case.num_bytes)
        self.case, self.folder, self.quick = case, folder, quick
        self.files: dict[str, Path] = {}

    def remove_files(self) -> None:
        for path in self.files.values():
            path.unlink(missing_ok=True)

    def add_peer(self, name: str) -> None:
        reason = self._reason_against(self.peers[name])
        if reason is not None:
            self.row.left_out[name] = reason
            return
        peer = self.peers[name]()
        for call in self._peer_calls(peer):
            try:
                call.before()
                result = call.run()
            except NotImplementedError:
                self.row.left_out[name] = f"has no verb for {self.row.name!r}"
            else:
                self._check(peer, call, result)
                self.row.calls.append(call)

    def _reason_against(self, peer: type[Peer]) -> str | None:
        if not peer.is_installed():
            return f"is left out: {peer.module} is not installed"
        if self.case.dtype.name == "bfloat16" and not peer.holds_bf16:
            return "has no bf16"
        # One large array read from a file of its own is a fair match for one out of many; a tiny one is not.
        alone = len(self.case.shapes) == 1 or (
            self.row.name.startswith("one tensor") and not self.case.is_tiny
        )
        if not peer.holds_many and not alone:
            return "holds a single array"
        return None

    # What each row calls.

    def _peer_calls(self, peer: Peer) -> list[Call]:
        name, one = self.row.name, self.case.one
        call = partial(Call, peer.name, kind="burnpy" if peer.name == "burnpy" else "peer")
        if name.startswith(PEAK):
            return [call(partial(self._peak, peer, name.removeprefix(PEAK)))]
        if name.startswith("save"):
            return [self._save_call(peer, call)]
        if name == "load from bytes":
            data = peer.to_bytes(self._tensors(peer))
            return [call(lambda: peer.from_bytes(data))]
        path = self._file(peer)
        runs: dict[str, Callable[[], Any]] = {
            "open and list": lambda: peer.names(path),
            "load all, untouched": lambda: peer.load(path),
            "load and touch": lambda: _touched(peer, peer.load(path)),
            "load, private copy": lambda: peer.load_copy(path),
            "one tensor": lambda: _touched(peer, {one: peer.one(path, one)}),
            "one tensor, private copy": lambda: {one: peer.one_copy(path, one)},
        }
        calls = [call(runs[name])]
        if name == "load and touch" and peer.name == "burnpy":
            run = partial(_touched, peer, threads=2)
            calls.append(Call("burnpy, 2 threads", lambda: run(peer.load(path)), kind="burnpy"))
        return calls

    def _save_call(self, peer: Peer, call: Callable[..., Call]) -> Call:
        tensors = self._tensors(peer)
        if self.row.name == "save to bytes":
            return call(lambda: peer.to_bytes(tensors))
        path = self.folder / f"saved-by-{peer.name}{peer.suffix}"
        self.files[f"saved by {peer.name}"] = path
        save = peer.save_durable if self.row.name == "save durable" else peer.save
        return call(lambda: save(tensors, path), partial(self._clear, path))

    def _clear(self, path: Path) -> None:
        """A save makes a fresh file, and no other one takes room or waits to be written back meanwhile."""
        for saved in self.folder.glob("saved-by-*"):
            saved.unlink()
        assert not path.exists()

    def _peak(self, peer: Peer, row: str) -> Measured:
        """In a process of its own: what earlier rows left in pools must not count."""
        child = Path(__file__).with_name("peak.py")
        path = self._file(peer) if row.startswith("load") else self.folder / f"peak{peer.suffix}"
        size = "quick" if self.quick else "full"
        command = [sys.executable, child, peer.name, self.case.key, row, path, size]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        return Measured(int(done.stdout))

    def _tensors(self, peer: Peer) -> Any:
        arrays = self.case.arrays
        return peer.tensors(arrays if peer.holds_many else {self.case.one: arrays[self.case.one]})

    def _file(self, peer: Peer) -> Path:
        """The case in the peer's format, written at the first question for it."""
        if peer.suffix not in self.files:
            path = self.folder / f"case-{self.case.key}{peer.suffix}"
            peer.save(self._tensors(peer), path)
            self.files[peer.suffix] = path
        return self.files[peer.suffix]

    # Results are right before they are timed.

    def _check(self, peer: Peer, call: Call, result: Any) -> None:
        name = self.row.name
        if isinstance(result, Measured):
            return
        if name == "open and list":
            assert sorted(result) == sorted(self.case.shapes), f"{call.name} lists other names"
            return
        if name == "save to bytes":
            result = peer.from_bytes(result)
        elif name.startswith("save"):
            result = peer.load_copy(self.files[f"saved by {peer.name}"])
        self._check_arrays(call.name, peer.arrays(result))

    def _check_arrays(self, name: str, found: Arrays) -> None:
        if list(found) == [""]:  # a .npy has no names
            found = {self.case.one: found[""]}
        expected = [self.case.one] if self.row.name.startswith("one tensor") else list(self.case.shapes)
        assert sorted(found) == sorted(expected), f"{name} gives other names"
        for key in expected:
            assert _checksum(found[key]) == _checksum(self.case.arrays[key]), f"{name}: {key} differs"

    # Burn's own reader and writer, and the machine.

    def add_burn_pack(self, stack: ExitStack) -> None:
        peak, row = self.row.name.startswith(PEAK), self.row.name.removeprefix(PEAK)
        if row == "one tensor, private copy":
            row = "one tensor"  # its one way to read one copies
        elif row == "one tensor":
            self.row.left_out[burn_pack.NAME] = "copies when it reads one tensor"
            return
        program = burn_pack.BurnPack(self._file(PEERS["burnpy"]()), self.folder, self.case.one)
        stack.callback(program.close)
        # Not the row itself before its peak: what it leaves on the heap would not be counted.
        first = "save" if row.startswith("save") else "open and list"
        program.seconds(first if peak else row)
        if row in ("save", "save durable"):
            self._check_arrays(burn_pack.NAME, PEERS["burnpy"]().load_copy(program.saved))
        run = program.peak if peak else program.seconds
        self.row.calls.append(Call(burn_pack.NAME, lambda: Measured(run(row)), self._clear_saved))

    def _clear_saved(self) -> None:
        self._clear(self.folder / burn_pack.SAVED)

    def add_limits(self) -> None:
        for name, run in self._limits().items():
            call = Call(name, run, kind="limit")
            if LIMIT_FILE in self.files:
                call = Call(name, run, partial(self._clear, self.files[LIMIT_FILE]), kind="limit")
            call.before()
            call.run()
            self.row.calls.append(call)

    def _limits(self) -> dict[str, Callable[[], Any]]:
        name = self.row.name
        if name.startswith(("load all", "load and", "load,", "open", "one")):
            return self._reading_limits(name, self._file(PEERS["burnpy"]()))
        pieces = limits.payload(self.case)
        if name in ("save", "save durable"):
            path = self.files[LIMIT_FILE] = self.folder / LIMIT_FILE
            label = "fallocate, write, fsync" if name == "save durable" else "fallocate, write"
            return {label: lambda: limits.write_file(path, pieces, durable=name == "save durable")}
        if name == "save to bytes":
            out = limits.warm_buffer(self.case.num_bytes + 256 * len(pieces))
            return {
                "memcpy into warm memory": lambda: limits.copy_into(out, pieces),
                "memcpy into warm memory, 2 threads": lambda: limits.copy_into(out, pieces, threads=2),
                "first touch of 2 MiB pages": lambda: limits.first_touch(self.case.num_bytes),
            }
        return {}

    def _reading_limits(self, name: str, path: Path) -> dict[str, Callable[[], Any]]:
        size = path.stat().st_size
        start, end = self._one_range(size) if name.startswith("one tensor") else (0, size)
        if name == "open and list":
            return self._listing_limits(path)
        if name == "load all, untouched":
            return {"mmap": lambda: limits.map_file(path)}
        if name in TOUCHING:
            return {
                "mmap and touch": lambda: limits.map_and_touch(path, start, end),
                "mmap and touch, 2 threads": lambda: limits.map_and_touch(path, start, end, threads=2),
            }
        out = limits.warm_buffer(end - start)
        return {
            "pread into warm memory": lambda: limits.read_into(path, out, start),
            "pread into warm memory, 2 threads": lambda: limits.read_into(path, out, start, threads=2),
        }

    def _listing_limits(self, path: Path) -> dict[str, Callable[[], Any]]:
        return {"pread of the header": lambda: limits.read_header(path)}

    def _one_range(self, size: int) -> tuple[int, int]:
        """A stretch as long as the one tensor, from the file's end: where exactly makes no difference."""
        return size - self.row.num_bytes, size


def _touched(peer: Peer, loaded: Any, *, threads: int = 1) -> Any:
    arrays = list(peer.arrays(loaded).values())
    if threads == 1:
        limits.touch(arrays)
    else:
        parts = _halves(arrays)
        limits.on_two_threads(lambda part: limits.touch(parts[part]))
    return loaded


def _halves(arrays: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Two lists that hold half of each array."""
    flat = [array.reshape(-1) for array in arrays]
    return [array[: len(array) // 2] for array in flat], [array[len(array) // 2 :] for array in flat]


def _checksum(array: np.ndarray) -> tuple[int, int]:
    raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return len(raw), zlib.crc32(raw)
