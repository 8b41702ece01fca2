"""Epochs of the guide's network on Fashion-MNIST, beside the same network in torch.

    python benches/python/fashion_mnist.py --threads 2
    python benches/python/fashion_mnist.py --items 2000 --out /tmp/look      a quick look

An epoch is 60 000 images in batches of 64 and a validation on 10 000, with accuracy and loss of both. burnpy runs
`examples/guide` as it stands: its loader, ``SupervisedTraining``, two metrics, the file logger and checkpoints, without
a display. "torch" is what one writes with torch's own DataLoader, modules and Adam; "torch tuned" has burnpy's loader,
channels-last memory, fused Adam and counts of hits that are read once an epoch. Entries take turns, epoch by epoch.
"""

import argparse
import importlib.util
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "guide"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import compute
from benches.python.compute import Line

EPOCHS, BATCH, RATE, SEED = 3, 64, 2e-3, 42
TRAIN, TEST = 60_000, 10_000
Epochs = Iterator[float]
"""The first item comes when all is ready; each other one runs an epoch and is the accuracy after it, in percent."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--items", type=int, default=TRAIN, help="how many images to learn from")
    parser.add_argument("--peers", nargs="*", default=["torch", "torch tuned"])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    compute.set_threads(args.threads)
    about = compute.about()
    with tempfile.TemporaryDirectory() as folder:
        runs: dict[str, Epochs] = {"burnpy": burnpy_epochs(Path(folder), args.threads, args.items)}
        if importlib.util.find_spec("torch"):
            for peer in args.peers:
                runs[peer] = torch_epochs(args.threads, args.items, tuned=peer == "torch tuned")
        lines = measure(runs, args.threads, args.items)
    out = args.out or compute.place("fashion-mnist", args.threads, is_whole=args.items == TRAIN)
    compute.write(out, "Epochs of Fashion-MNIST", lines, about)


def measure(runs: dict[str, Epochs], threads: int, items: int) -> list[Line]:
    """The time of an epoch, images a second, and the accuracy after each."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    found: dict[str, list[float]] = {name: [] for name in runs}
    names = list(runs)
    for run in runs.values():
        next(run)
    for turn in range(EPOCHS):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            began = time.perf_counter()
            found[name].append(next(runs[name]))
            seconds[name].append(time.perf_counter() - began)
            print(f"{name}, epoch {turn + 1}: {seconds[name][-1]:.2f} s, {found[name][-1]:.2f} %", flush=True)
    lines = []
    for name in names:
        rates = [(items + TEST) / each for each in seconds[name]]
        lines += [
            Line("time of an epoch", name, threads, "s", seconds[name]),
            Line("images", name, threads, "samples/s", rates),
        ]
        lines += [
            Line(f"accuracy after epoch {epoch}", name, threads, "%", [accuracy])
            for epoch, accuracy in enumerate(found[name], 1)
        ]
    return sorted(lines, key=lambda line: ["t", "i", "a"].index(line.row[0]))


def sets(items: int) -> tuple[Any, Any]:
    """Loaders of the guide, of the first images."""
    from data import Batcher

    from burnpy import Device
    from burnpy.data import DataLoaderBuilder, FashionMnistDataset, PartialDataset

    train, test = FashionMnistDataset.train(), FashionMnistDataset.test()
    builder = DataLoaderBuilder(Batcher(255.0)).batch_size(BATCH).num_workers(1)
    valid_loader = builder.set_device(Device.cpu()).build(test)
    part = train if items >= TRAIN else PartialDataset(train, 0, items)
    return builder.set_device(Device()).shuffle(SEED).build(part), valid_loader


def burnpy_epochs(folder: Path, threads: int, items: int) -> Epochs:
    """The guide's training, resumed for each epoch."""
    from main import config_of

    import burnpy as bp
    from burnpy.lr_scheduler import CosineAnnealingLrSchedulerConfig
    from burnpy.train.metric import AccuracyMetric, LossMetric
    from burnpy.train.renderer import QuietMetricsRenderer

    bp.set_num_threads(threads)
    bp.manual_seed(SEED)
    config = config_of("fashion")
    train_loader, valid_loader = sets(items)
    schedule = CosineAnnealingLrSchedulerConfig(RATE, EPOCHS * len(train_loader)).init()
    learner = bp.train.Learner(config.model.init(), config.optimizer.init(), schedule)
    yield math.nan
    for epoch in range(1, EPOCHS + 1):
        training = bp.train.SupervisedTraining(folder, train_loader, valid_loader, num_epochs=epoch)
        training.metrics(AccuracyMetric(), LossMetric()).with_default_checkpointers().resume("latest")
        history = training.renderer(QuietMetricsRenderer()).launch(learner).history
        yield history["valid"]["Accuracy"][epoch]


def torch_epochs(threads: int, items: int, *, tuned: bool) -> Epochs:
    """The same network, rule, schedule and metrics in torch."""
    import torch

    torch.set_num_threads(threads)
    torch.manual_seed(SEED)
    model = _torch_model(torch)
    if tuned:
        model = model.to(memory_format=torch.channels_last)
    train_batches, test_batches, count = (_shared_batches if tuned else _own_batches)(torch, items)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE, fused=tuned, eps=1e-5)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS * count)
    yield math.nan
    for _ in range(EPOCHS):
        model.train()

        def learn(loss: Any) -> None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()

        _pass(torch, model, train_batches(), tuned, learn)
        model.eval()
        with torch.no_grad():
            accuracy = _pass(torch, model, test_batches(), tuned, lambda loss: None)
        yield accuracy


def _torch_model(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.25), nn.Linear(64 * 7 * 7, 128), nn.ReLU(), nn.Dropout(0.25), nn.Linear(128, 10),
    )  # fmt: skip


def _pass(torch: Any, model: Any, batches: Any, tuned: bool, learn: Callable[[Any], None]) -> float:
    """One pass; the accuracy in percent, which is looked at as often as a metric would, or at the end."""
    hits: Any = 0
    total, count = 0.0, 0
    for images, targets in batches:
        output = model(images)
        loss = torch.nn.functional.cross_entropy(output, targets)
        learn(loss)
        right = (output.argmax(1) == targets).sum()
        if tuned:
            hits = hits + right
        else:
            hits += right.item()
            total += loss.item()
        count += len(targets)
    return 100 * float(hits) / count


def _own_batches(torch: Any, items: int) -> tuple[Any, Any, int]:
    from burnpy.data import FashionMnistDataset

    def loader(dataset: Any, count: int, shuffle: bool) -> Any:
        images, labels = (torch.from_numpy(array.to_numpy()[:count]) for array in dataset.arrays)
        pairs = torch.utils.data.TensorDataset(images.unsqueeze(1).float() / 255, labels.long())
        return torch.utils.data.DataLoader(
            pairs, batch_size=BATCH, shuffle=shuffle, num_workers=1, persistent_workers=True
        )

    train = loader(FashionMnistDataset.train(), items, True)
    test = loader(FashionMnistDataset.test(), TEST, False)
    return lambda: train, lambda: test, len(train)


def _shared_batches(torch: Any, items: int) -> tuple[Any, Any, int]:
    train, test = sets(items)

    def batches(loader: Any) -> Any:
        for batch in loader:
            images = torch.from_numpy(batch.images.inner().to_numpy())
            targets = torch.from_numpy(batch.targets.inner().to_numpy()).long()
            yield images.contiguous(memory_format=torch.channels_last), targets

    return lambda: batches(train), lambda: batches(test), len(train)


if __name__ == "__main__":
    main()
