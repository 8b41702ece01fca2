"""Options of the benchmarks, the same as those of ``table.py``."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benches.python.suites import CASES, ROWS, SUITES

ROOT = Path(__file__).resolve().parents[2]


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("benchmarks of burnpy")
    group.addoption("--suite", action="append", choices=list(SUITES), help="again for more; default: all")
    group.addoption("--quick", action="store_true", help="small cases, to see that everything runs")
    group.addoption("--case", action="append", choices=CASES, help="again for more; default: all")
    group.addoption("--row", action="append", choices=ROWS, help="again for more; default: all")
    group.addoption("--peers", action="append", help="again for more; default: all that are installed")
    group.addoption(
        "--bench-folder", type=Path, default=ROOT / "target" / "bench", help="on the disk to measure"
    )


@pytest.fixture(scope="session")
def places(request: pytest.FixtureRequest) -> Iterator[dict[str, Path]]:
    """A folder per place, gone afterwards."""
    parent = request.config.getoption("--bench-folder")
    parent.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(dir=parent) as disk,
        tempfile.TemporaryDirectory(dir="/dev/shm", prefix="burnpy-bench-") as tmpfs,
    ):
        yield {"disk": Path(disk), "memory": Path(disk), "tmpfs": Path(tmpfs)}
