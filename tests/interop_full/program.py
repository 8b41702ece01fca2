"""The program that lets the published Burn work with burnpy's files.

python -m tests.interop_full.program    builds it: minutes the first time, seconds later
"""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy.config.codec import encode

FOLDER = Path(__file__).resolve().parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
TARGET = CACHE / "burnpy" / "interop-full"
"""Outside the checkout, so that a fresh one does not compile Burn again."""

Array = NDArray[Any]


@cache
def program() -> Path:
    """Builds the program, once a session; cargo sees by itself when there is nothing to do."""
    command = ["nice", "-n", "15", "cargo", "build", "--release", "--locked", "-j1", "--quiet"]
    subprocess.run([*command, "--manifest-path", FOLDER / "Cargo.toml", "--target-dir", TARGET], check=True)
    return TARGET / "release" / "burnpy-interop-full"


def ask(verb: str, work: Path, **request: Any) -> Any:
    """Burn's answer; what it refuses is an error with its words.

    A request may hold arrays, paths, configurations and groups of parameters; it is laid down in a folder.
    """
    (work / "request.json").write_text(json.dumps(request, default=told))
    done = subprocess.run([program(), verb, work / "request.json"], capture_output=True, text=True)
    assert done.returncode == 0, f"Burn refuses: {done.stderr}"
    return json.loads(done.stdout)


def told(value: Any) -> Any:
    """What JSON has no form of, as the program reads it."""
    if isinstance(value, np.ndarray):
        return {"shape": value.shape, "values": value.ravel().astype(np.float64).tolist()}
    if isinstance(value, Path):
        return str(value)
    return json.loads(encode(value, type(value)))


def array(told: dict[str, Any]) -> Array:
    """A tensor of an answer."""
    return np.array(told["values"], np.float64).reshape(told["shape"])


if __name__ == "__main__":
    print(f"building {TARGET}: the first time, some minutes", flush=True)
    program()
