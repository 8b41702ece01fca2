"""What the training loop costs a step: metrics, events, loggers and renderer, beside a bare loop of the same model.

    python benches/python/loop_overhead.py
    python benches/python/loop_overhead.py --profile

A small model (8-16-3, batch 32, SGD), so that the difference is not lost in the step: the loop runs two metrics (loss,
accuracy), the file logger and plain lines; the bare loop runs forward, backward and optimizer over the same batches.
One thread, and the clock of its own CPU time; of the steps of a run the first decile is taken, which neighbours on the
machine disturb least. Lines of files are made of 64 batches at once, which such a step does not show: a 64th of what
the steps that make them take more, by the first decile of these too, is added for them. The share is that of both, of a
step of M1 (MLP 784-512-512-10, batch 64, Adam), measured in the same way.
"""

import argparse
import cProfile
import gc
import io
import itertools
import pstats
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import compute
from benches.python.compute import Line

STEPS = 2000
TICKS: list[float] = []
"""When each training step began."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--profile", action="store_true", help="where the loop's time goes, and no record")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    compute.set_threads(1)
    if args.profile:
        profile()
        return
    about = compute.about()
    rows = {
        "bare loop": bare,
        "loop, no metrics": lambda steps: loop(steps, metrics=0),
        "loop, two metrics, quiet": lambda steps: loop(steps, quiet=True),
        "loop, two metrics": loop,
    }
    found: dict[str, list[float]] = {name: [] for name in rows}
    lines_of_files = []
    for turn in range(args.rounds):
        names = list(rows)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            steps = steps_s(rows[name])
            found[name].append(least(steps) * 1e6)
            if rows[name] is loop:
                lines_of_files.append(of_lines_s(steps) * 1e6)
    lines = [_line(name, values) for name, values in found.items()]
    over = [one - other for one, other in zip(found["loop, two metrics"], found["bare loop"], strict=True)]
    lines.append(_line("overhead of the loop", over))
    whole = [one + other for one, other in zip(over, lines_of_files, strict=True)]
    lines.append(_line("overhead, with lines of files", whole))
    lines.append(_line("processing an item, caches warm", [processing_us() for _ in range(args.rounds)]))
    m1 = m1_step_us()
    lines.append(_line("step of M1", [m1]))
    for line in lines:
        print(f"{line.row:32s} {line.value:8.1f} us")
    share = f"{100 * statistics.median(whole) / m1:.2f} % of a step of M1"
    print(share)
    out = args.out or compute.place("loop-overhead", 1, is_whole=True)
    compute.write(out, "Cost of the training loop", lines, about | {"overhead": share})


def _line(row: str, values: list[float]) -> Line:
    return Line(row, "burnpy", 1, "us", values)


def steps_s(run: Callable[[int], Any]) -> list[float]:
    """Steps, each from its start to that of the next."""
    gc.collect()
    gc.disable()
    TICKS.clear()
    run(STEPS)
    gc.enable()
    return [after - before for before, after in itertools.pairwise(TICKS)]


def of_lines_s(steps: list[float]) -> float:
    """What lines cost a step: a share of what every 64th step takes more, whichever of them it is."""
    from burnpy.train.logger.file_metric_logger import _BATCHES as batches

    return (max(least(steps[first::batches]) for first in range(batches)) - least(steps)) / batches


def batches(steps: int) -> list[Any]:
    """The same few batches again and again."""
    import numpy as np

    import burnpy as bp

    rng = np.random.default_rng(1)
    made = [
        (
            bp.Tensor.from_numpy(rng.standard_normal((32, 8), np.float32)),
            bp.Tensor.from_numpy(rng.integers(0, 3, 32)),
        )
        for _ in range(8)
    ]
    return [made[i % 8] for i in range(steps)]


def trained() -> Any:
    """A model with its steps, as a user writes them."""
    import burnpy as bp
    from benches.python.models import Mlp
    from burnpy.nn.loss import CrossEntropyLossConfig
    from burnpy.train import ClassificationOutput, TrainOutput

    bp.manual_seed(2)

    class Trained(Mlp):
        def __init__(self) -> None:
            super().__init__(8, 16, 3)
            self.loss = CrossEntropyLossConfig().init()

        def valid_step(self, batch: Any) -> ClassificationOutput:
            TICKS.append(time.thread_time())
            x, y = batch
            output = self.forward(x)
            return ClassificationOutput(self.loss.forward(output, y), output, y)

        def train_step(self, batch: Any) -> TrainOutput:
            item = self.valid_step(batch)
            return TrainOutput(self, item.loss.backward(), item)

    return Trained()


def bare(steps: int) -> None:
    """What a user writes without the loop."""
    from burnpy.optim import GradientsParams, SgdConfig

    model, optimizer = trained(), SgdConfig().init()
    for x, y in batches(steps):
        TICKS.append(time.thread_time())
        loss = model.loss.forward(model.forward(x), y)
        grads = GradientsParams.from_grads(loss.backward(), model)
        model = optimizer.step(1e-3, model, grads)


def loop(steps: int, *, metrics: int = 2, quiet: bool = False) -> None:
    """The same by ``SupervisedTraining``."""
    from burnpy.optim import SgdConfig
    from burnpy.train import Learner, SupervisedTraining
    from burnpy.train.metric import AccuracyMetric, LossMetric
    from burnpy.train.renderer import CliMetricsRenderer, QuietMetricsRenderer

    with tempfile.TemporaryDirectory() as folder:
        renderer = QuietMetricsRenderer() if quiet else CliMetricsRenderer(file=io.StringIO())
        training = SupervisedTraining(
            folder, batches(steps), [], metrics=[LossMetric(), AccuracyMetric()][:metrics], renderer=renderer
        )
        training.launch(Learner(trained(), SgdConfig().init(), 1e-3))


def processing_us() -> float:
    """What is done with the item of a batch, again and again."""
    from burnpy.data import Progress
    from burnpy.train import LearnerEvent, TrainingItem, TrainingProcessor
    from burnpy.train.logger import FileMetricLogger
    from burnpy.train.metric import AccuracyMetric, LossMetric
    from burnpy.train.metric.store import EventStore, Split
    from burnpy.train.metrics_of_split import MetricsOfSplit
    from burnpy.train.renderer import CliMetricsRenderer

    train = MetricsOfSplit(Split.Train)
    for metric in (LossMetric(), AccuracyMetric()):
        train.register(metric, numeric=True)
    item = TrainingItem(trained().valid_step(batches(1)[0]), Progress(32, 64), 1, 1e-3)
    with tempfile.TemporaryDirectory() as folder:
        store = EventStore([FileMetricLogger(folder)])
        renderer = CliMetricsRenderer(file=io.StringIO())
        processor = TrainingProcessor(train, MetricsOfSplit(Split.Valid), store, renderer)
        processor.process_train(LearnerEvent.StartSplit(1, 64))
        ticks = []
        for _ in range(STEPS):
            ticks.append(time.thread_time())
            processor.process_train(LearnerEvent.ProcessedItem(item))
        store.close()
    return least(after - before for before, after in itertools.pairwise(ticks)) * 1e6


def m1_step_us() -> float:
    from benches.python.training import burnpy_step

    step = burnpy_step("M1", 1)
    for _ in range(5):
        step()
    ticks = []
    for _ in range(100):
        ticks.append(time.thread_time())
        step()
    return least(after - before for before, after in itertools.pairwise(ticks)) * 1e6


def least(seconds: Iterable[float]) -> float:
    """The first decile."""
    return statistics.quantiles(seconds, n=10)[0]


def profile() -> None:
    loop(50)
    profiler = cProfile.Profile()
    profiler.enable()
    loop(STEPS)
    profiler.disable()
    pstats.Stats(profiler).sort_stats("tottime").print_stats(45)


if __name__ == "__main__":
    main()
