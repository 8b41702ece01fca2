"""Open a model that Burn wrote: list it, map it without a copy, check it, write the same bytes again.

Run it with ``make demo``, or with a ``.bpk`` of your own: ``python examples/open_burn_model.py MODEL.bpk``.
"""

import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import burnpy
from burnpy.numpy import load_file, save_file

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "burn"
MODELS = [GOLDEN / "modules" / "user_language_model.bpk", GOLDEN / "containers" / "big.bpk"]
MAX_ROWS = 40


def main() -> None:
    """Show every model named on the command line, or two that Burn 0.22.1 wrote."""
    for path in [Path(argument) for argument in sys.argv[1:]] or MODELS:
        show(path)


def show(path: Path) -> None:
    """Go once around: open, list, map, check, write, compare."""
    print(f"\n{path.name}: {size(path.stat().st_size)}")
    with timed("opened, header and metadata read"):
        model = burnpy.safe_open(path)
    with model:
        list_tensors(model)
        with timed("mapped into NumPy"):
            arrays = load_file(path)
        check_zero_copy(arrays)
        print(f"    {check_values(path, arrays)}")
        write_again(path, model)


def list_tensors(model: burnpy.safe_open) -> None:
    """Print the table of tensors, then what the file says about itself."""
    names = list(model.keys())
    width = max((len(name) for name in names), default=4)
    print(f"    {'tensor':{width}}  {'dtype':6} {'shape':14} {'bytes':>9}  parameter id")
    for name in names[:MAX_ROWS]:
        info = model.info(name)
        shape = "x".join(map(str, info.shape)) or "scalar"
        param_id = f"{info.param_id:016x}" if info.param_id is not None else "-"
        start, end = info.offsets
        print(f"    {name:{width}}  {info.dtype!s:6} {shape:14} {end - start:>9,}  {param_id}")
    if len(names) > MAX_ROWS:
        print(f"    ... and {len(names) - MAX_ROWS} more")
    print(f"    {len(names)} tensors; metadata {model.metadata()}; scalars {model.scalars()}")


def check_zero_copy(arrays: dict[str, np.ndarray]) -> None:
    """Every array is a read-only window into the map of the file: none owns its memory."""
    shared = sum(not array.flags.owndata and not array.flags.writeable for array in arrays.values())
    assert shared == len(arrays), f"{len(arrays) - shared} of {len(arrays)} arrays were copied"
    print(f"    {shared} of {len(arrays)} arrays are read-only windows into the file, nothing was copied")


def check_values(path: Path, arrays: dict[str, np.ndarray]) -> str:
    """Compare each payload's sha256 with what Burn wrote down beside the file."""
    manifest = path.with_name("manifest.json")
    if not manifest.is_file():
        return "no manifest beside this file, so there is nothing to compare the values with"
    (entry,) = (file for file in json.loads(manifest.read_text())["files"] if file["file"] == path.name)
    with timed("hashed"):
        found = {name: hashlib.sha256(array.tobytes()).hexdigest() for name, array in arrays.items()}
    for tensor in entry["tensors"]:
        assert found[tensor["name"]] == tensor["sha256"], f"{tensor['name']} differs from what Burn wrote"
    return f"the values of all {len(entry['tensors'])} tensors are Burn's, by sha256"


def write_again(path: Path, model: burnpy.safe_open) -> None:
    """Write what was opened, with its ids, metadata and scalars, and compare the two files."""
    param_ids = {name: info.param_id for name in model if (info := model.info(name)).param_id is not None}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with timed("written again"):
            save_file(model, copy, model.metadata(), scalars=model.scalars(), param_ids=param_ids)
        ours, theirs = copy.read_bytes(), path.read_bytes()
    assert ours == theirs, f"the copy differs from the original of {len(theirs)} bytes"
    print(f"    the copy is the same, byte for byte: sha256 {hashlib.sha256(ours).hexdigest()[:16]}...")


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long the block took."""
    start = time.perf_counter()
    yield
    print(f"  {what} in {(time.perf_counter() - start) * 1e3:.2f} ms")


def size(num_bytes: int) -> str:
    """Bytes in words that a person reads."""
    return f"{num_bytes / 1e6:.2f} MB" if num_bytes >= 1e6 else f"{num_bytes / 1e3:.1f} kB"


if __name__ == "__main__":
    main()
