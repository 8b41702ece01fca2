"""The rows of the checkpoints' table: opening, loading and converting files that other libraries made."""

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from benches.python import limits
from benches.python.cases import Case, one_tensor
from benches.python.checkpoint_peers import ANY, CHECKPOINT_PEERS, BurnpyOpen
from benches.python.checkpoints import Checkpoint
from benches.python.peers import Peer
from benches.python.rows import FILES, LIMIT_FILE, MEMORY, PEAK, Call, Measured, RowBuilder

CONVERT = "convert to "

CHECKPOINT_ROWS: dict[str, tuple[str, ...]] = {
    "open and list": FILES,
    "load all, untouched": FILES,
    "load and touch": FILES,
    "load, private copy": FILES,
    "one tensor": FILES,
    "one tensor, private copy": FILES,
    f"{CONVERT}.bpk": FILES,
    f"{CONVERT}.safetensors": FILES,
    f"{PEAK}{CONVERT}.bpk": MEMORY,
    f"{PEAK}{CONVERT}.safetensors": MEMORY,
}
"""Every row and the places it is run in."""

TARGETS = {
    ".pt": (".bpk", ".safetensors"),
    ".safetensors": (".bpk",),
    ".npz": (".bpk",),
    ".bpk": (".safetensors",),
}


def makes_sense(case: Case, row: str, place: str) -> bool:
    """Reading is measured on one model in foreign formats; a burnpack has rows enough in the container's table."""
    assert isinstance(case, Checkpoint)
    if CONVERT in row:
        return place in CHECKPOINT_ROWS[row] and row.endswith(TARGETS[case.suffix])
    return place in CHECKPOINT_ROWS[row] and case.key in ("pt", "safetensors", "npz")


class CheckpointRowBuilder(RowBuilder):
    """Fills one row about a checkpoint."""

    peers: ClassVar[Mapping[str, type[Peer]]] = CHECKPOINT_PEERS
    case: Checkpoint

    def add_peer(self, name: str) -> None:
        if self.peers[name].suffix in (ANY, self.case.suffix):  # the others are not asked
            super().add_peer(name)

    def add_limits(self) -> None:
        if self.case.maker.is_installed():
            super().add_limits()

    def _reason_against(self, peer: type[Peer]) -> str | None:
        if not self.case.maker.is_installed():
            return f"cannot be measured: only {self.case.maker.module} makes the file, and is not installed"
        return super()._reason_against(peer)

    def _file(self, peer: Peer | None = None) -> Path:
        """The one file that all read, written at the first question for it."""
        if "checkpoint" not in self.files:
            path = self.files["checkpoint"] = self.folder / f"checkpoint-{self.case.key}{self.case.suffix}"
            _write(self.case.maker(), self.case, path)
        return self.files["checkpoint"]

    # Conversions.

    def _peer_calls(self, peer: Peer) -> list[Call]:
        if not self.row.name.startswith(CONVERT):
            return super()._peer_calls(peer)
        source, target = self._file(), self._target(peer)
        kind = "burnpy" if peer.name == "burnpy" else "peer"
        return [Call(peer.name, lambda: peer.convert(source, target), partial(self._clear, target), kind)]

    def _target(self, peer: Peer) -> Path:
        suffix = self.row.name.rpartition(" ")[2]
        path = self.files[f"saved by {peer.name}"] = self.folder / f"saved-by-{peer.name}{suffix}"
        return path

    def _check(self, peer: Peer, call: Call, result: Any) -> None:
        if not self.row.name.startswith(CONVERT):
            super()._check(peer, call, result)
            return
        self._check_arrays(call.name, BurnpyOpen().load(self._target(peer)))

    def _peak(self, peer: Peer, row: str) -> Measured:
        """In a process of its own, as the container's; a small checkpoint of the format warms it up."""
        if type(peer).convert is Peer.convert:
            raise NotImplementedError
        target, small = self._target(peer), self.folder / f"small{self.case.suffix}"
        _write(self.case.maker(), one_tensor(1 << 16), small)
        command = [
            sys.executable,
            Path(__file__).with_name("convert_peak.py"),
            peer.name,
            self._file(),
            target,
            small,
        ]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        target.unlink(missing_ok=True)
        small.unlink()
        if done.returncode == 2:
            raise NotImplementedError
        done.check_returncode()
        return Measured(int(done.stdout))

    # The machine.

    def _limits(self) -> dict[str, Callable[[], Any]]:
        if self.row.name.startswith(PEAK):
            return {"the largest tensor": lambda: Measured(self.case.largest)}
        if not self.row.name.startswith(CONVERT):
            return super()._reading_limits(self.row.name, self._file())
        source = self._file()
        copy = self.files[LIMIT_FILE] = self.folder / LIMIT_FILE
        return {
            "copy: shutil.copyfile": lambda: shutil.copyfile(source, copy),
            "copy: read, write": lambda: limits.copy_file(source, copy),
            "copy: mmap, fallocate, write": lambda: limits.write_file(copy, [limits.map_file(source)]),
        }

    def _listing_limits(self, path: Path) -> dict[str, Callable[[], Any]]:
        """What lists the names lies in one stretch; where it begins is looked up outside the clock."""
        if self.case.suffix == ".safetensors":
            start, end = 0, 8 + int.from_bytes(limits.read_range(path, 0, 8), "little")
        else:
            with zipfile.ZipFile(path) as archive:
                start, end = archive.start_dir, path.stat().st_size
        return {"pread of the directory": lambda: limits.read_range(path, start, end)}


def _write(maker: Peer, case: Case, path: Path) -> None:
    maker.save(maker.tensors(case.arrays), path)
