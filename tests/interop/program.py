"""The program that shows what the published burn-pack reads; the tests and the benchmarks share it."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


@cache
def program() -> Path:
    """Builds the program, once a session; cargo sees by itself when there is nothing to do."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", FOLDER / "Cargo.toml"]
    subprocess.run(command, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", FOLDER / "target"))
    return target.resolve() / "release" / "burnpy-interop"


def dump(*files: Path, from_bytes: bool = False) -> list[dict[str, Any]]:
    """What burn-pack reads from each file: tensors in name order, scalars and metadata, or its error."""
    command = [program(), "dump-bytes" if from_bytes else "dump", *files]
    done = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8")
    # Not splitlines(): names may hold the other line breaks of Unicode.
    return [json.loads(line) for line in done.stdout.split("\n") if line]
