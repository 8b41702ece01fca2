"""How many fused multiply-adds one core can do: the ceiling over a matrix product, in turns with it."""

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[1] / "rust" / "fma_peak.rs"


@functools.cache
def fma_peak() -> Callable[[int], Any] | None:
    """A function that does so many floating-point operations on one thread; None where there is no Rust compiler."""
    if shutil.which("rustc") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "fma_peak.so"
        options = ["--edition=2024", "--crate-type=cdylib", "-Copt-level=3", "-Ctarget-cpu=native"]
        subprocess.run(["rustc", *options, "-o", library, SOURCE], check=True)
        function = ctypes.CDLL(str(library)).fma
    function.argtypes, function.restype = [ctypes.c_uint64], None
    return function
