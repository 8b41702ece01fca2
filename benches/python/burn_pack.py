"""Burn's own burn-pack as a peer: the program of ``tests/interop``, asked row by row."""

import json
import subprocess
from pathlib import Path

from benches.python.memory import peak_of
from tests.interop.program import program

NAME = "burn-pack"
SAVED = "saved-by-burn-pack.bpk"
ROWS = frozenset(
    {
        "open and list",
        "load all, untouched",
        "load and touch",
        "load, private copy",
        "one tensor",
        "save",
        "save durable",
        "save to bytes",
        "load from bytes",
    }
)


class BurnPack:
    """A running program with one file; a row's time is taken in there, so the pipe costs nothing."""

    def __init__(self, file: Path, folder: Path, one: str) -> None:
        self.saved = folder / SAVED
        command = [program(), "bench", file, folder, one]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def seconds(self, row: str) -> float:
        """Runs the row once."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{row}\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"burn-pack, {row}: {answer['error']}")
        return float(answer["seconds"])

    def peak(self, row: str) -> int:
        """Bytes that the row needs at most beyond what the process holds before it."""
        return peak_of(lambda: self.seconds(row), self.process.pid)

    def close(self) -> None:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.saved.unlink(missing_ok=True)
