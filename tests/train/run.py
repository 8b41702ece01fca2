"""One run in a process of its own, for the tests that end it in bad ways.

    python -m tests.train.run FOLDER EPOCHS [--stop-at BATCH] [--every STEPS] [--slow SECONDS]

It always goes on from the latest set. At the end it writes what it came to into FOLDER/outcome.json.
"""

import argparse
import hashlib
import json
import sys
import time
from pathlib import Path
from typing import Any

import burnpy.numpy
from burnpy import lr_scheduler, optim
from burnpy.train import Learner, LearningResult
from tests.train.toy import Toy, learner, training


def outcome(result: LearningResult, of: Learner) -> dict[str, Any]:
    """Everything that must be equal, as text."""
    digest = hashlib.sha256()
    for _, leaf in result.model.named_params():
        value = leaf.val() if hasattr(leaf, "val") else leaf.value()
        digest.update(value.numpy().tobytes())
    for name, tensor in sorted(_states(of).items()):
        digest.update(name.encode() + tensor)
    return {"digest": digest.hexdigest(), "history": result.history}


def _states(of: Learner) -> dict[str, bytes]:
    # Ids are random: the order of the parameters stands for them.
    arrays = burnpy.numpy.load(of.optim.to_record().into_bytes())
    order = {str(leaf.id.val()): str(i) for i, (_, leaf) in enumerate(of.model.named_params())}
    return {f"{order[n.split('.')[0]]}.{n.split('.', 1)[1]}": a.tobytes() for n, a in arrays.items()}


def make_learner() -> Learner:
    """Dropout, a schedule and an optimizer with a state."""
    base = learner()
    schedule = lr_scheduler.CosineAnnealingLrSchedulerConfig(0.05, 12).init()
    return Learner(base.model, optim.AdamWConfig(amsgrad=True).init(), schedule)


class Slow(Toy):
    """Takes its time, so that signals find it at work."""

    seconds = 0.0
    stop_at: int | None = None
    batches = 0
    interrupter: Any = None

    def train_step(self, batch: Any) -> Any:
        time.sleep(self.seconds)
        Slow.batches += 1
        if Slow.batches == self.stop_at:
            self.interrupter.stop("as asked")
        return super().train_step(batch)

    def valid_step(self, batch: Any) -> Any:
        item = super().valid_step(batch)
        if not item.output.is_tracked():
            Slow.batches += 1
            if Slow.batches == self.stop_at:
                self.interrupter.stop("as asked")
        return item


def run(folder: Path, epochs: int, *, every: int | None, slow: float, stop_at: int | None) -> None:
    """Go on from the latest set to the end, or to a stop."""
    of = make_learner()
    of.model.__class__ = Slow
    session = training(folder, epochs=epochs, grads_accumulation=2, checkpoint_every=every, resume="latest")
    Slow.seconds, Slow.stop_at, Slow.interrupter, Slow.batches = slow, stop_at, session.interrupter(), 0
    print("started", flush=True)
    result = session.launch(of)
    if result.interrupted is None:
        (folder / "outcome.json").write_text(json.dumps(outcome(result, of), sort_keys=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("epochs", type=int)
    parser.add_argument("--stop-at", type=int)
    parser.add_argument("--every", type=int)
    parser.add_argument("--slow", type=float, default=0.0)
    args = parser.parse_args(sys.argv[1:])
    run(args.folder, args.epochs, every=args.every, slow=args.slow, stop_at=args.stop_at)


if __name__ == "__main__":
    main()
