"""Steps of Sgd with momentum, Adam and AdamW beside torch's fused and foreach optimizers, and what memory gives.

    python benches/python/optimizers.py --threads 2
    python benches/python/optimizers.py --only AdamW --rounds 5

Ten million parameters in one tensor wait for memory: their row counts the bytes that a step must read and write (the
gradient once; parameter and moments twice). Beside it stand a memcpy, and in NumPy a triad ``a = b + s·c`` and
``a = s·a`` in place, over as many bytes, on as many threads, in memory on 2 MiB pages. Writing elsewhere than one reads
is slower than changing memory in place, as optimizers do, so ``scale`` is nearer to the limit than memcpy; a rule reads
more than it writes and may surpass both. 200 tensors of 1,000 lie in the caches: their row is the time of a step.
Inside the clock is the step alone: gradients are there before it. All sides' parameters are compared after three steps,
before anything is timed.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import compute
from benches.python.compute import Row

RULES = {"Sgd, momentum": 2, "Adam": 3, "AdamW": 3}
"""How many arrays a step reads and writes, beside the gradient that it reads."""
SIZES = {"1 tensor of 10,000,000": (1, 10_000_000), "200 tensors of 1,000": (200, 1000)}
RATE = 1e-3
BLOCK = 1 << 15  # of the triad: what lies between its two passes stays in the cache


def main() -> None:
    peers = ["torch fused", "torch foreach"]
    compute.table("optimizers", "Steps of optimizers", rows, doc=__doc__, rounds=21, peers=peers)


def rows(threads: int, peers: list[str], only: str) -> Iterator[Row]:
    """A row a rule and size, made when its turn comes: one takes a gigabyte."""
    for size, (count, length) in SIZES.items():
        for rule, arrays in RULES.items():
            if only in (name := f"{rule}, {size}"):
                yield _row(name, rule, arrays, (count, length), threads, peers)


def _row(name: str, rule: str, arrays: int, shape: tuple[int, int], threads: int, peers: list[str]) -> Row:
    own = OwnSteps(rule, *shape, threads)
    sides: dict[str, Any] = {"burnpy": own}
    if importlib.util.find_spec("torch"):
        sides |= {peer: TorchSteps(rule, *shape, threads, peer.removeprefix("torch ")) for peer in peers}
    _compare(sides)
    num_bytes = 4 * (2 * arrays + 1) * shape[0] * shape[1]
    is_of_memory = shape[0] == 1
    calls: dict[str, Callable[[], Any]] = {peer: side.step for peer, side in sides.items()}
    if is_of_memory:
        calls |= memory(num_bytes, threads)
    unit, work = ("GB/s", num_bytes) if is_of_memory else ("us", 1)
    return Row(name, unit, work, calls, {"burnpy": own.prepare})


def _compare(sides: dict[str, Any]) -> None:
    import numpy as np

    sides["burnpy"].prepare(3)
    for side in sides.values():
        for _ in range(3):
            side.step()
    for peer, side in sides.items():
        for own, other in zip(sides["burnpy"].values(), side.values(), strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-6, err_msg=peer)


def drawn(count: int, length: int, seed: int) -> list[Any]:
    """Parameters or gradients."""
    import numpy as np

    random = np.random.default_rng(seed)
    return [random.standard_normal(length, np.float32) for _ in range(count)]


class OwnSteps:
    """burnpy's optimizer of a module, with torch's settings."""

    def __init__(self, rule: str, count: int, length: int, threads: int) -> None:
        import burnpy as bp
        from burnpy.module import Module, Param
        from burnpy.optim import AdamConfig, AdamWConfig, SgdConfig

        class Parameters(Module):
            def __init__(self) -> None:
                self.all = [Param.from_tensor(bp.Tensor.from_numpy(v)) for v in drawn(count, length, 1)]

        bp.set_num_threads(threads)
        self.module = Parameters()
        self.gradients = [bp.Tensor.from_numpy(value).inner() for value in drawn(count, length, 2)]
        config = {
            "Sgd, momentum": SgdConfig.pytorch(momentum=0.9),
            "Adam": AdamConfig.pytorch(),
            "AdamW": AdamWConfig.pytorch(),
        }[rule]
        self.optimizer = config.init()
        self.ready: list[Any] = []

    def prepare(self, steps: int) -> None:
        """The gradients of so many steps: a step takes them away, as in a training."""
        from burnpy.optim import GradientsParams

        for _ in range(steps):
            grads = GradientsParams()
            for param, gradient in zip(self.module.all, self.gradients, strict=True):
                grads.register(param.id, gradient)
            self.ready.append(grads)

    def step(self) -> None:
        self.optimizer.step(RATE, self.module, self.ready.pop())

    def values(self) -> list[Any]:
        return [param.val().numpy() for param in self.module.all]


class TorchSteps:
    """torch's optimizer; ``kind`` is fused or foreach."""

    def __init__(self, rule: str, count: int, length: int, threads: int, kind: str) -> None:
        import torch

        torch.set_num_threads(threads)
        self.parameters = [torch.from_numpy(value).requires_grad_() for value in drawn(count, length, 1)]
        for parameter, gradient in zip(self.parameters, drawn(count, length, 2), strict=True):
            parameter.grad = torch.from_numpy(gradient)
        kinds, extra = {"Sgd, momentum": "SGD"}, {"Sgd, momentum": {"momentum": 0.9}}
        make = getattr(torch.optim, kinds.get(rule, rule))
        self.step = make(self.parameters, lr=RATE, **extra.get(rule, {}), **{kind: True}).step

    def values(self) -> list[Any]:
        return [parameter.detach().numpy() for parameter in self.parameters]


def memory(num_bytes: int, threads: int) -> dict[str, Callable[[], Any]]:
    """A memcpy, a triad and a scaling in place that read and write as many bytes."""
    import numpy as np

    from benches.python.limits import warm_buffer

    pool = ThreadPoolExecutor(threads)

    def arrays(number: int, passes: int) -> list[list[Any]]:
        """So many arrays, in a part for each thread; so often one is read or written."""
        made = [warm_buffer(num_bytes // passes // 4 * 4).view(np.float32) for _ in range(number)]
        return [list(parts) for parts in zip(*(np.array_split(a, threads) for a in made), strict=True)]

    copies, triads, scaled = arrays(2, 2), arrays(3, 3), arrays(1, 2)

    one, three = np.float32(1), np.float32(3)

    def triad(out: Any, first: Any, second: Any) -> None:
        for start in range(0, len(out), BLOCK):
            part = slice(start, start + BLOCK)
            np.multiply(second[part], three, out=out[part])
            np.add(out[part], first[part], out=out[part])

    return {
        "memcpy": lambda: list(pool.map(lambda parts: np.copyto(*parts), copies)),
        "triad": lambda: list(pool.map(lambda parts: triad(*parts), triads)),
        "scale": lambda: list(pool.map(lambda parts: np.multiply(parts[0], one, out=parts[0]), scaled)),
    }


if __name__ == "__main__":
    main()
