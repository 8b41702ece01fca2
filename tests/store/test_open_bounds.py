"""Hostile checkpoints end fast and with bounded memory."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.golden_containers import manifest
from tests.paths import GOLDEN

pytestmark = [
    pytest.mark.golden,
    pytest.mark.skipif(sys.platform != "linux", reason="counts the memory of forked children as Linux does"),
]

# The manifests say 1 second; a busy machine that runs other tests beside is given more.
WATCHDOG_S = 20

# Opens each file in a child of its own and reads all that can be read; prints seconds and bytes beyond an idle child.
CHILD = r"""
import json, os, sys, time
import ml_dtypes, numpy, burnpy
from burnpy.errors import BurnpyError

def read(path):
    try:
        with burnpy.open(path) as checkpoint:
            checkpoint.scalars(), checkpoint.metadata(), checkpoint.skipped(), checkpoint.ties(), checkpoint.overlaps()
            for view in checkpoint.values():
                try:
                    view.numpy(), bytes(view)
                except BurnpyError:
                    pass
    except BurnpyError:
        pass

def measured(path):
    start = time.monotonic()
    child = os.fork()
    if child == 0:
        if path is not None:
            read(path)
        os._exit(0)
    _, status, usage = os.wait4(child, 0)
    return status, time.monotonic() - start, usage.ru_maxrss * 1024

read(sys.argv[1])
idle = measured(None)[2]
for path in sys.argv[1:]:
    status, seconds, peak = measured(path)
    print(json.dumps({"path": path, "status": status, "seconds": seconds, "bytes": peak - idle}))
"""


def _limited() -> list[tuple[Path, dict[str, Any]]]:
    folders = [GOLDEN / "pytorch", GOLDEN / "safetensors"]
    files = [(folder / name, told) for folder in folders for name, told in _files(folder)]
    return [(path, told["limits"]) for path, told in files if "limits" in told]


def _files(folder: Path) -> list[tuple[str, Any]]:
    return list(manifest(folder / "manifest.json")["files"].items())


def test_hostile_files_end_within_the_memory_and_the_time_that_the_manifest_gives_them() -> None:
    limited = _limited()
    assert len(limited) > 30
    paths = [str(path) for path, _ in limited]
    timeout = WATCHDOG_S * 5
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *paths], capture_output=True, text=True, timeout=timeout, check=False
    )
    assert done.returncode == 0, done.stderr
    measured = [json.loads(line) for line in done.stdout.splitlines()]
    assert [found["path"] for found in measured] == paths
    for found, (_, limits) in zip(measured, limited, strict=True):
        assert found["status"] == 0, found
        assert found["seconds"] < WATCHDOG_S, found
        assert found["bytes"] < limits["bytes"], found
