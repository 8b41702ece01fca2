"""A small model, and the program run on it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from burnpy.cli import main
from burnpy.numpy import save_file
from burnpy.pack import Scalar


@dataclass(frozen=True)
class Outcome:
    status: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the program in this process; what it printed and its status."""

    def run(*arguments: object) -> Outcome:
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as exit_:  # argparse leaves this way
            status = int(exit_.code or 0)
        return Outcome(status, *capfd.readouterr())

    return run


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.bpk"
    tensors = {
        "encoder.weight": np.arange(12, dtype=np.float32).reshape(3, 4),
        "encoder.bias": np.zeros(3, np.float16),
        "mask": np.array([True, False]),
    }
    save_file(
        tensors,
        path,
        {"author": "me", "note": "two words"},
        scalars={"lr": 0.001, "step": Scalar.uint(3), "done": True},
        param_ids={"encoder.weight": 2**64 - 1},
    )
    return path
