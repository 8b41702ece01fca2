"""Two ranks of one thread each beside one such rank, and torch's DDP with gloo on the same work.

    python benches/python/data_parallel.py
    python benches/python/data_parallel.py --torch-python .venv-peers/bin/python --only M2 --out scaling.json

M2: MLP 784-512-512-10, batch 1024. C1: conv 1-32-64 3x3, max-pool, fully connected 9216-128-10, batch 64. Both with
Adam and cross-entropy on fixed synthetic data. burnpy runs a whole training, with its data loader and a metric; torch a
loop over tensors, and DDP. Each run is a process of its own, in turn; a figure is the median over the rounds.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

BATCH = {"M2": 1024, "C1": 64}
WARM = 3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--torch-python", default="")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--child", nargs=2, metavar=("WHO", "NAME"))
    parser.add_argument("--ranks", type=int, default=1)
    args = parser.parse_args()
    if args.child:
        child = burnpy_child if args.child[0] == "burnpy" else torch_child
        child(args.child[1], args.ranks, args.steps)
        return
    rows = []
    for name in BATCH:
        if args.only in name:
            rows += compared(name, args.rounds, args.steps, args.torch_python)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=2) + "\n")


def compared(name: str, rounds: int, steps: int, torch_python: str) -> list[dict[str, Any]]:
    peers = {"burnpy": sys.executable} | ({"torch": torch_python} if torch_python else {})
    rows = []
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(rounds):
        for who, python in peers.items():
            for ranks in (1, 2):
                found.setdefault((who, ranks), []).append(step_seconds(who, python, name, ranks, steps))
    for who in peers:
        one, two = found[who, 1], found[who, 2]
        ratios = [a / b for a, b in zip(one, two, strict=True)]
        row = {
            "workload": name,
            "who": who,
            "samples_per_s_1": BATCH[name] / statistics.median(one),
            "samples_per_s_2": BATCH[name] / statistics.median(two),
            "speedup": statistics.median(ratios),
            "best": min(one) / min(two),
        }
        rows.append(row)
        numbers = f"{row['samples_per_s_1']:.4g} -> {row['samples_per_s_2']:.4g} samples/s"
        print(
            f"{name} {who:6} {numbers}, {row['speedup']:.2f}x (best of each {row['best']:.2f}x)", flush=True
        )
    return rows


def step_seconds(who: str, python: str, name: str, ranks: int, steps: int) -> float:
    """The median time of a step, as the first rank sees it."""
    own = [__file__, "--child", who, name, "--ranks", str(ranks), "--steps", str(steps)]
    environment = os.environ | {
        "BURNPY_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
        "WORLD_SIZE": str(ranks),
    }
    if who == "burnpy" and ranks > 1:
        mpirun = Path(sys.executable).with_name("mpirun")
        launcher = [str(mpirun) if mpirun.exists() else "mpirun", "--oversubscribe", "-n", str(ranks)]
        commands = [[*launcher, python, *own]]
    else:
        commands = [[python, *own]] * ranks
    processes = [
        subprocess.Popen(
            command, env=environment | {"RANK": str(rank)}, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        for rank, command in enumerate(commands)
    ]
    told = [process.communicate(timeout=600)[0] for process in processes]
    if any(process.returncode for process in processes):
        raise SystemExit(f"{who} on {ranks} ranks failed")
    return float(told[0].strip().splitlines()[-1])


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def data(name: str) -> tuple[Any, Any]:
    import numpy as np

    draw, items = np.random.default_rng(0), 4 * BATCH[name]
    shape = (items, 1, 28, 28) if name == "C1" else (items, 784)
    return draw.normal(size=shape).astype(np.float32), draw.integers(0, 10, items)


def burnpy_child(name: str, ranks: int, steps: int) -> None:
    from benches.python.models import model_and_loss
    from burnpy import Module, manual_seed, optim
    from burnpy.data import DataLoader, TensorDataset
    from burnpy.train import ClassificationOutput, ExecutionStrategy, Learner, SupervisedTraining, TrainOutput
    from burnpy.train.metric import LossMetric
    from burnpy.train.renderer import QuietMetricsRenderer

    class Classifier(Module):
        def __init__(self) -> None:
            self.model, self.loss = model_and_loss(name)

        def valid_step(self, batch: Any) -> ClassificationOutput:
            output = self.model(batch["x"])
            return ClassificationOutput(self.loss(output, batch["y"]), output, batch["y"])

        def train_step(self, batch: Any) -> TrainOutput:
            item = self.valid_step(batch)
            return TrainOutput(self, item.loss.backward(), item)

    class Clock(QuietMetricsRenderer):
        def __init__(self) -> None:
            super().__init__()
            self.times: list[float] = []

        def update_split(self, items_processed: int) -> None:
            self.times.append(time.perf_counter())

    manual_seed(0)
    x, y = data(name)
    loader = DataLoader(TensorDataset(x=x, y=y), batch_size=BATCH[name])
    clock, strategy = Clock(), ExecutionStrategy.ddp() if ranks > 1 else ExecutionStrategy.single()
    learner = Learner(Classifier(), optim.AdamConfig().init(), 1e-3)
    with tempfile.TemporaryDirectory() as folder:
        session = SupervisedTraining(
            folder, loader, [], num_epochs=-(-(steps + WARM) // 4), metrics=[LossMetric()]
        )
        session.with_training_strategy(strategy).renderer(clock).launch(learner)
    if clock.times:
        report(clock.times)


def torch_child(name: str, ranks: int, steps: int) -> None:
    import torch
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(0)
    flat = [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    deep = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()]
    head = [nn.Linear(9216, 128), nn.ReLU(), nn.Linear(128, 10)]
    model: Any = nn.Sequential(*(flat if name == "M2" else [*deep, *head]))
    rank = int(os.environ["RANK"])
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optim = torch.optim.Adam(model.parameters(), 1e-3, fused=True)
    x, y = (torch.from_numpy(each) for each in data(name))
    size, times = BATCH[name] // ranks, []
    for step in range(steps + WARM):
        at = (step % 4) * BATCH[name] + rank * size
        optim.zero_grad()
        nn.functional.cross_entropy(model(x[at : at + size]), y[at : at + size]).backward()
        optim.step()
        times.append(time.perf_counter())
    if ranks > 1:
        torch.distributed.destroy_process_group()
    report(times)


def report(times: list[float]) -> None:
    print(statistics.median(b - a for a, b in zip(times[WARM:], times[WARM + 1 :], strict=False)))


if __name__ == "__main__":
    main()
