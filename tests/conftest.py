"""What all tests share: the golden folders as fixtures, and how long Hypothesis searches."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.paths import CORPUS, GOLDEN, GOLDEN_EXTRA

# A process that was started in the background ignores Ctrl-C, and hands that down to its children.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# `fast` tries the same examples every time, so that a red run is the change's doing; `thorough` searches.
settings.register_profile("fast", max_examples=60, deadline=None, derandomize=True, database=None)
settings.register_profile(
    "thorough", max_examples=3000, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile(os.environ.get("BURNPY_TEST_PROFILE", "fast"))


@pytest.fixture(scope="session")
def golden() -> Path:
    """The folder of the golden data; a missing one is a broken checkout, not a reason to skip."""
    assert (GOLDEN / "README.md").is_file(), f"no golden data at {GOLDEN}"
    return GOLDEN


@pytest.fixture(scope="session")
def golden_extra() -> Path:
    """The checkpoint files that the project does not carry."""
    if GOLDEN_EXTRA is None:
        pytest.skip("BURNPY_GOLDEN_EXTRA is not set: burn-pt files are not part of the project")
    assert GOLDEN_EXTRA.is_dir(), f"BURNPY_GOLDEN_EXTRA names {GOLDEN_EXTRA}, which is no folder"
    return GOLDEN_EXTRA


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of hostile files."""
    return CORPUS
