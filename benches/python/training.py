"""Whole training steps beside torch and jax: M1, M2, C1, T1, S1; and the forward pass of the trained model.

    python benches/python/training.py --threads 2
    python benches/python/training.py --only "M1 train"

M1: MLP 784-512-512-10, batch 64, Adam, cross-entropy. M2: the same, batch 1024. C1: conv 1-32-64 3x3, max-pool, fully
connected 9216-128-10, batch 64, Adam. T1: transformer encoder, width 128, 4 heads, 512, 2 layers, 64 positions, batch
32, Adam. S1: MLP 8-64-1, batch 32, SGD. Fixed synthetic data. burnpy runs its modules, losses and optimizers; torch its
functional operations, without the cost of its modules, and its optimizer; jax one compiled function. Inference is the
forward pass alone: torch as it comes, in its inference mode, and compiled, which takes minutes at first.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import compute
from benches.python.compute import Row
from benches.python.inference import inference_calls
from benches.python.networks import (
    BATCH,
    Params,
    data,
    first_values,
    jax_forward,
    torch_forward,
    torch_inputs,
)

Step = Callable[[], Any]


def main() -> None:
    peers = ["torch", "torch compiled", "jax"]
    compute.table("training", "Training steps and inference", rows, doc=__doc__, rounds=9, peers=peers)


def rows(threads: int, peers: list[str], only: str) -> Iterator[Row]:
    """A row a workload and direction, made when its turn comes."""
    peers = [peer for peer in peers if importlib.util.find_spec(peer.split()[0])]
    kinds = {"train": training_calls, "inference": inference_calls}
    for kind, calls in kinds.items():
        for name, batch in BATCH.items():
            if only in (row := f"{name} {kind}"):
                yield Row(row, "samples/s", batch, calls(name, threads, peers))


def training_calls(name: str, threads: int, peers: list[str]) -> dict[str, Step]:
    """Steps of all that are installed."""
    calls = {"burnpy": burnpy_step(name, threads)}
    if "torch" in peers:
        calls["torch"] = torch_step(name, threads, fused=False)
        calls["torch fused"] = torch_step(name, threads, fused=True)
    if "jax" in peers:
        calls["jax"] = jax_step(name)
    return calls


def burnpy_step(name: str, threads: int) -> Step:
    """Modules, a loss and an optimizer, as in the README."""
    import burnpy as bp
    from benches.python.models import model_and_loss
    from burnpy.optim import AdamConfig, GradientsParams, SgdConfig

    bp.set_num_threads(threads)
    bp.manual_seed(2)
    x, y = (bp.Tensor.from_numpy(array) for array in data(name))
    model, loss_of = model_and_loss(name)
    rate = 0.01 if name == "S1" else 1e-3
    optimizer = SgdConfig().init() if name == "S1" else AdamConfig().init()

    def step() -> Any:
        loss = loss_of(model(x), y)
        grads = GradientsParams.from_grads(loss.backward(), model)
        optimizer.step(rate, model, grads)
        return loss

    return step


def torch_step(name: str, threads: int, *, fused: bool) -> Step:
    """torch's own operations, autograd and optimizer."""
    import torch

    torch.set_num_threads(threads)
    x, y = torch_inputs(name), torch.from_numpy(data(name)[1])
    p = [torch.from_numpy(value).requires_grad_() for value in first_values(name)]
    if name == "S1":
        optimizer: Any = torch.optim.SGD(p, lr=0.01, fused=fused)
    else:
        optimizer = torch.optim.Adam(p, lr=1e-3, fused=fused)
    functional = torch.nn.functional
    loss_of = functional.mse_loss if name in ("S1", "T1") else functional.cross_entropy
    forward = torch_forward(name)

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(forward(p, x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def jax_step(name: str) -> Step:
    """One compiled function of loss, gradients and update, called once a step."""
    import jax
    import jax.numpy as jnp

    x, y = (jnp.asarray(array) for array in data(name))
    params = [jnp.asarray(value) for value in first_values(name)]
    forward = jax_forward(name)

    def loss_of(p: Params) -> Any:
        output = forward(p, x)
        if name in ("S1", "T1"):
            return ((output - y) ** 2).mean()
        return -jnp.take_along_axis(jax.nn.log_softmax(output), y[:, None], 1).mean()

    @jax.jit
    def update(p: Params, m: Params, v: Params, t: Any) -> Any:
        loss, grads = jax.value_and_grad(loss_of)(p)
        if name == "S1":
            return loss, [a - 0.01 * g for a, g in zip(p, grads, strict=True)], m, v
        scale = 1e-3 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
        m = [0.9 * a + 0.1 * g for a, g in zip(m, grads, strict=True)]
        v = [0.999 * a + 0.001 * g * g for a, g in zip(v, grads, strict=True)]
        p = [a - scale * b / (jnp.sqrt(c) + 1e-8) for a, b, c in zip(p, m, v, strict=True)]
        return loss, p, m, v

    zeros = [jnp.zeros_like(p) for p in params]
    state = {"now": (params, zeros, zeros), "t": 0}

    def step() -> Any:
        state["t"] += 1
        loss, *now = update(*state["now"], float(state["t"]))
        state["now"] = tuple(now)
        return loss.block_until_ready()

    return step


if __name__ == "__main__":
    main()
