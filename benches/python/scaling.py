"""What a step would take on 64 and 1024 ranks, computed from what it takes on one, and from a network that is assumed.

    BURNPY_NUM_THREADS=1 python benches/python/scaling.py --page docs/scaling.md

Measured here, the fastest of several: forward and backward of a rank's part, the optimizer's step, putting gradients
into buckets, and adding two buckets. Everything else is assumed; the page says what.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

RANKS = (1, 2, 4, 8, 16, 64, 256, 1024)
PART = {"M2": 1024, "C1": 64}


@dataclass(frozen=True)
class Network:
    """What is between two ranks.

    Attributes:
        name: for the page.
        latency_s: of a message.
        bytes_per_s: in and out of a rank, each.
    """

    name: str
    latency_s: float
    bytes_per_s: float


NETWORKS = (
    Network("10 Gbit/s Ethernet", 30e-6, 1.1e9),
    Network("100 Gbit/s RDMA", 3e-6, 11e9),
)


@dataclass(frozen=True)
class Measured:
    """What a rank does in a step, in seconds, and the sizes of what it sends."""

    compute_s: float
    optimizer_s: float
    flatten_s: float
    add_bytes_per_s: float
    buckets: list[int]
    item_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    found = {name: measured(name, args.rounds) for name in PART}
    page = text(found)
    print(page)
    if args.page:
        args.page.write_text(page)


def measured(name: str, rounds: int) -> Measured:
    import numpy as np

    import burnpy as bp
    from benches.python.models import model_and_loss
    from burnpy import optim
    from burnpy.distributed import Buckets
    from burnpy.optim import GradientsParams

    bp.manual_seed(0)
    model, loss = model_and_loss(name)
    draw, size = np.random.default_rng(0), PART[name]
    shape = (size, 1, 28, 28) if name == "C1" else (size, 784)
    x = bp.Tensor.from_numpy(draw.normal(size=shape).astype(np.float32))
    y = bp.Tensor.from_numpy(draw.integers(0, 10, size))
    adam = optim.AdamConfig().init()
    params = [leaf for _, leaf in model.named_params()]

    def gradients() -> GradientsParams:
        return GradientsParams.from_grads(loss(model(x), y).backward(), model)

    compute = fastest(gradients, rounds)
    given = gradients()
    tensors = [given.get(param.id) for param in params]
    buckets = Buckets([param.base().inner() for param in params])
    flat = buckets.flatten(tensors)

    def update() -> Any:
        grads = GradientsParams()
        for param, tensor in zip(params, tensors, strict=True):
            grads.register(param.id, tensor)
        return adam.step(1e-3, model, grads)

    optimizer = fastest(update, rounds)
    flatten = fastest(lambda: [bucket * 0.5 for bucket in buckets.flatten(tensors)], rounds)
    large = max(flat, key=lambda bucket: bucket.nbytes)
    add = fastest(lambda: large + large, rounds)
    item = 4 * size * 10 + 8 * size
    return Measured(compute, optimizer, flatten, large.nbytes / add, [each.nbytes for each in flat], item)


def fastest(call: Callable[[], Any], rounds: int) -> float:
    times = []
    for _ in range(rounds + 2):
        # With one thread it is what the wall clock shows on a machine that does nothing else.
        began = time.process_time()
        call()
        times.append(time.process_time() - began)
    return min(times[2:])


def step_s(m: Measured, ranks: int, network: Network) -> dict[str, float]:
    """The parts of a step on so many ranks, one shard each."""
    alone = {"compute": m.compute_s, "optimizer": m.optimizer_s, "buckets": m.flatten_s}
    if ranks == 1:
        return alone
    depth = ceil(log2(ranks))
    # Owners take turns. Each gets its buckets from all others through one link, and adds them up as a tree.
    owned = [sum(m.buckets[owner::ranks]) for owner in range(min(ranks, len(m.buckets)))]
    turns = ceil(len(m.buckets) / ranks)
    gather = max(owned) * (ranks - 1) / network.bytes_per_s + turns * (ranks - 1) * network.latency_s
    add = max(owned) * (ranks - 1) / m.add_bytes_per_s
    # One after another, each along a tree.
    spread = sum(depth * (network.latency_s + each / network.bytes_per_s) for each in m.buckets)
    # Two commands along a tree, and a report of each rank with its outputs at the first rank.
    talk = 2 * depth * network.latency_s
    reports = (ranks - 1) * (network.latency_s + m.item_bytes / network.bytes_per_s)
    return alone | {"gather": gather, "add": add, "broadcast": spread, "commands and outputs": talk + reports}


def text(found: dict[str, Measured]) -> str:
    lines = [
        "# Scaling, simulated",
        "",
        "What `benches/python/scaling.py` computes; nothing here was run on more than one machine. Each rank has one"
        " thread and one shard, and as many samples on any number of ranks (weak scaling): M2 1024, C1 64. Efficiency"
        " is the time of a step on one rank divided by that on so many.",
        "",
        "Measured on the machine that made this page, as time of its processor, the fastest of several: forward and"
        " backward, the optimizer's step, filling buckets, and the rate at which two buckets are added.",
        "",
        "Assumed:",
        "",
        *(f"- {n.name}: {n.latency_s * 1e6:.0f} µs a message, {n.bytes_per_s / 1e9:.1f} GB/s in and out of a rank"
          for n in NETWORKS),
        "- all that is sent to one rank goes through its link, one after another; what different ranks get, at once",
        "- a broadcast is a binary tree, one bucket after another; nothing is sent while a rank computes",
        "- all ranks are equally fast and none waits for its data, its disk or another program",
        "",
    ]  # fmt: skip
    for name, m in found.items():
        sizes = ", ".join(f"{size / 2**20:.2f}" for size in m.buckets)
        lines += [
            f"## {name}",
            "",
            f"Forward and backward {m.compute_s * 1e3:.1f} ms, optimizer {m.optimizer_s * 1e3:.2f} ms, filling buckets"
            f" {m.flatten_s * 1e3:.2f} ms, adding {m.add_bytes_per_s / 1e9:.1f} GB/s. Buckets of {sizes} MiB.",
            "",
            "| ranks | "
            + " | ".join(f"{n.name}: step, efficiency, most of the rest" for n in NETWORKS)
            + " |",
            "|---" * (1 + len(NETWORKS)) + "|",
        ]
        alone = sum(step_s(m, 1, NETWORKS[0]).values())
        for ranks in RANKS:
            cells = []
            for network in NETWORKS:
                parts = step_s(m, ranks, network)
                total = sum(parts.values())
                rest = {
                    key: value
                    for key, value in parts.items()
                    if key not in ("compute", "optimizer", "buckets")
                }
                most = max(rest, key=lambda key: rest[key]) if rest else "none"
                cells.append(f"{total * 1e3:.1f} ms, {alone / total:.0%}, {most}")
            lines.append(f"| {ranks} | " + " | ".join(cells) + " |")
        lines.append("")
    lines += [
        "What limits: the owner of a bucket takes in one copy from every rank, since the order of the sum is that of"
        " the shards and not that of a ring; that, and the outputs that the first rank gathers for the metrics, grow"
        " with the number of ranks. Hundreds of ranks need larger parts, smaller buckets so that more ranks own one, or"
        " owners in two stages, one in each machine: halves of the sum that a machine has whole can be formed there"
        " without another bit changing.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
