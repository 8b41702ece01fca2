"""Two ranks of one thread each beside one such rank, torch's DDP on the same work, and what the machine allows.

    python benches/python/data_parallel.py --torch-python .venv-peers/bin/python --out target/data-parallel.json
    python benches/python/data_parallel.py --only M2 --rounds 1 --steps 4

M2: MLP 784-512-512-10, batch 1024. C1: conv 1-32-64 3x3, max-pool, fully connected 9216-128-10, batch 64. Both with
Adam and cross-entropy on fixed synthetic data. burnpy runs a whole training, with its data loader and a metric: on one
rank, on two processes under mpirun, on two threads; torch a loop over tensors, alone and with DDP over gloo. Each run
is a process of its own, in turn, another one first each time; a figure is the median over the rounds, a speedup that of
the rounds' own ratios.

The machine: products of matrices that stay in the cache, on one thread, in one process and in two at once that do not
talk. Two cores that are threads of one core do less than twice as much; a speedup is to be read beside that.
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
MACHINE_S = 2.0


# Who runs, and on how many ranks; the first of a library is what its others are compared with.
ENTRIES = {
    "burnpy": ("burnpy", 1),
    "burnpy, mpirun -n 2": ("burnpy", 2),
    "burnpy, 2 threads": ("threads", 2),
    "torch": ("torch", 1),
    "torch, DDP gloo": ("torch", 2),
}


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
    if args.rounds < 1 or args.steps < 2:
        parser.error(f"there must be a round and two steps, got {args.rounds} and {args.steps}")
    if args.child:
        who, name = args.child
        if who == "machine":
            machine_child()
        elif who == "torch":
            torch_child(name, args.ranks, args.steps)
        else:
            burnpy_child(name, who, args.ranks, args.steps)
        return
    rows = [row for name in BATCH if args.only in name for row in compared(name, args)]
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(json.dumps(rows, indent=2) + "\n")


def compared(name: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """A row for the machine and one for each entry, measured in the same rounds."""
    entries = {key: run for key, run in ENTRIES.items() if run[0] != "torch" or args.torch_python}
    rates: dict[str, list[float]] = {key: [] for key in ("machine", "machine, 2 at once", *entries)}
    for turn in range(args.rounds):
        keys = list(rates)
        for key in keys[turn % len(keys) :] + keys[: turn % len(keys)]:
            if key in entries:
                who, ranks = entries[key]
                python = args.torch_python if who == "torch" else sys.executable
                rates[key].append(BATCH[name] / step_seconds(who, python, name, ranks, args.steps))
            else:
                rates[key].append(machine_flops(1 if key == "machine" else 2))
    rows = [row_of(name, key, rates) for key in rates]
    for row in rows:
        beside = (
            f" {row['speedup']:.2f}x (best of each {row['best']:.2f}x), {row['share']:.0%} of the machine's"
        )
        print(
            f"{name} {row['entry']:20} {row['rate']:10.4g} {row['unit']:9}{beside if ',' in row['entry'] else ''}",
            flush=True,
        )
    return rows


def row_of(name: str, key: str, rates: dict[str, list[float]]) -> dict[str, Any]:
    own, one = rates[key], rates[key.split(",")[0]]
    ratios = [a / b for a, b in zip(own, one, strict=True)]
    machine = [a / b for a, b in zip(rates["machine, 2 at once"], rates["machine"], strict=True)]
    allowed = machine if "," in key else [1.0] * len(own)
    return {
        "workload": name,
        "entry": key,
        "unit": "flop/s" if key.startswith("machine") else "samples/s",
        "rate": statistics.median(own),
        "rates": own,
        "speedup": statistics.median(ratios),
        "best": max(own) / max(one),
        "share": statistics.median(a / b for a, b in zip(ratios, allowed, strict=True)),
    }


def machine_flops(processes: int) -> float:
    """Floating-point operations a second of so many processes at once, all together."""
    command = [sys.executable, __file__, "--child", "machine", ""]
    environment = os.environ | {"BURNPY_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen(command, env=environment, cwd=ROOT, **pipes) for _ in range(processes)]
    for process in running:
        if process.stdout.readline() != "ready\n":
            raise SystemExit("a process that measures the machine failed")
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[0] for process in running]
    return sum(float(text) for text in told)


def machine_child() -> None:
    import numpy as np

    from burnpy import Tensor

    # Three matrices of 64 KB: in the second-level cache, also where two threads of a core share it.
    x = Tensor.from_numpy(np.random.default_rng(0).normal(size=(128, 128)).astype(np.float32))
    for _ in range(200):
        x @ x
    print("ready", flush=True)
    sys.stdin.readline()
    began, products = time.perf_counter(), 0
    while time.perf_counter() - began < MACHINE_S:
        for _ in range(20):
            x @ x
        products += 20
    print(products * 2 * 128**3 / (time.perf_counter() - began))


def step_seconds(who: str, python: str, name: str, ranks: int, steps: int) -> float:
    """The median time of a step, as the first rank sees it."""
    own = [__file__, "--child", who, name, "--ranks", str(ranks), "--steps", str(steps)]
    environment = os.environ | {
        # Ranks that are threads share them: one each.
        "BURNPY_NUM_THREADS": str(ranks if who == "threads" else 1),
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
        commands = [[python, *own]] * (1 if who == "threads" else ranks)
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


def burnpy_child(name: str, who: str, ranks: int, steps: int) -> None:
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
    strategy: Any = ExecutionStrategy.single()
    if ranks > 1:
        strategy = ExecutionStrategy.multi(ranks) if who == "threads" else ExecutionStrategy.ddp()
    clock = Clock()
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
