"""One data-parallel run in a process of its own, or in one of several that ``mpirun`` started.

    python -m tests.distributed.run FOLDER EPOCHS [--threads N] [--stop-at BATCH] [--slow S] [--bad RANK:STEP:KIND]

It always goes on from the latest set. At the end the first rank writes what it came to into FOLDER/outcome.json.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from burnpy.train import DataParallelStrategy
from burnpy.train.renderer import QuietMetricsRenderer
from tests.train.run import make_learner, outcome
from tests.train.toy import Toy, training

SHARDS = 4


class Worked(Toy):
    """Takes its time, and does bad things when it is told to."""

    seconds = 0.0
    bad: tuple[int, int, str] | None = None
    steps = 0

    def train_step(self, batch: Any) -> Any:
        time.sleep(self.seconds)
        Worked.steps += 1
        rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", "0"))
        if self.bad is not None and (rank, Worked.steps) == self.bad[:2]:
            if self.bad[2] == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.bad[2] == "signal":
                os.kill(os.getpid(), signal.SIGINT)
            if self.bad[2] == "raise":
                raise ArithmeticError("too hot to compute")
        return super().train_step(batch)


class Stopping(QuietMetricsRenderer):
    """Stops a run after so many batches."""

    def __init__(self, interrupter: Any, stop_at: int | None) -> None:
        super().__init__()
        self._interrupter, self._stop_at, self._batches = interrupter, stop_at, 0

    def update_split(self, items_processed: int) -> None:
        self._batches += 1
        if self._batches == self._stop_at:
            self._interrupter.stop("as asked")


def run(
    folder: Path,
    epochs: int,
    *,
    threads: int | None = None,
    stop_at: int | None = None,
    num_shards: int | None = SHARDS,
    **keywords: Any,
) -> None:
    """Go on from the latest set to the end, or to a stop."""
    of = make_learner()
    of.model.__class__ = Worked
    strategy = DataParallelStrategy(threads, num_shards=num_shards)
    options = {"grads_accumulation": 2, "resume": "latest", "training_strategy": strategy} | keywords
    session = training(folder, epochs=epochs, **options)
    session.renderer(Stopping(session.interrupter(), stop_at))
    rank = strategy.communicator.rank
    if rank == 0:
        print("started", flush=True)
    result = session.launch(of)
    if result.interrupted is None:
        told = json.dumps(outcome(result, of), sort_keys=True)
        (folder / ("outcome.json" if rank == 0 else f"outcome-{rank}.json")).write_text(told)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("epochs", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--stop-at", type=int)
    parser.add_argument("--slow", type=float, default=0.0)
    parser.add_argument("--every", type=int)
    parser.add_argument("--bad")
    args = parser.parse_args(sys.argv[1:])
    Worked.seconds = args.slow
    if args.bad:
        rank, step, kind = args.bad.split(":")
        Worked.bad = (int(rank), int(step), kind)
    run(args.folder, args.epochs, threads=args.threads, stop_at=args.stop_at, checkpoint_every=args.every)


if __name__ == "__main__":
    main()
