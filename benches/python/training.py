"""Whole training steps, and inference, beside torch and jax: M1, M2, C1, T1, S1.

    python benches/python/training.py --threads 2
    python benches/python/training.py --only M1

M1: MLP 784-512-512-10, batch 64, Adam, cross-entropy. M2: the same, batch 1024. C1: conv 1-32-64 3x3, max-pool, fully
connected 9216-128-10, batch 64, Adam. T1: transformer encoder, width 128, 4 heads, 512, 2 layers, 64 positions, batch
32, Adam. S1: MLP 8-64-1, batch 32, SGD. Fixed synthetic data. burnpy runs its modules, losses and optimizers; torch its
functional operations, without the cost of its modules, and its optimizer; jax one compiled function.
"""

import argparse
import importlib.util
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import compute
from benches.python.compute import Row

Params = list[Any]
Step = Callable[[], Any]

BATCH = {"M1": 64, "M2": 1024, "C1": 64, "T1": 32, "S1": 32}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--peers", nargs="*", default=["torch", "jax"])
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    compute.set_threads(args.threads)
    lines = []
    for name, batch in BATCH.items():
        if args.only not in name:
            continue
        calls: dict[str, Step] = {"burnpy": burnpy_step(name, args.threads)}
        if "torch" in args.peers and importlib.util.find_spec("torch"):
            calls["torch"] = torch_step(name, args.threads, fused=False)
            calls["torch fused"] = torch_step(name, args.threads, fused=True)
        if "jax" in args.peers and importlib.util.find_spec("jax"):
            calls["jax"] = jax_step(name)
        found = compute.measure(
            Row(f"{name} train", "samples/s", batch, calls), threads=args.threads, rounds=args.rounds
        )
        lines += found
        print(name, *(f"{line.peer} {line.value:.4g}" for line in found), "samples/s", flush=True)
    from benches.python import machine

    about = {
        key: value for key, value in machine.description({}).items() if key not in ("places", "burn-pack")
    }
    compute.write(args.out or machine.ROOT / "build" / "training", "Training steps", lines, about)


def shapes(name: str) -> list[tuple[int, ...]]:
    """The parameters of a workload: weights as (in, out)."""
    if name in ("M1", "M2"):
        return [(784, 512), (512,), (512, 512), (512,), (512, 10), (10,)]
    if name == "S1":
        return [(8, 64), (64,), (64, 1), (1,)]
    if name == "C1":
        return [(32, 1, 3, 3), (32,), (64, 32, 3, 3), (64,), (9216, 128), (128,), (128, 10), (10,)]
    layer: list[tuple[int, ...]] = [(128, 128), (128,)] * 4 + [
        (128,),
        (128,),
        (128, 512),
        (512,),
        (512, 128),
        (128,),
    ]
    return [*layer, (128,), (128,)] * 2


def data(name: str) -> tuple[Any, Any]:
    """Inputs and targets."""
    import numpy as np

    rng, batch = np.random.default_rng(1), BATCH[name]
    if name == "S1":
        return rng.standard_normal((batch, 8), np.float32), rng.standard_normal((batch, 1), np.float32)
    if name == "T1":
        return rng.standard_normal((batch, 64, 128), np.float32), rng.standard_normal(
            (batch, 64, 128), np.float32
        )
    size = (batch, 1, 28, 28) if name == "C1" else (batch, 784)
    return rng.standard_normal(size, np.float32), rng.integers(0, 10, batch)


def first_values(name: str) -> list[Any]:
    """Drawn so that activations keep their size; biases 0, scales of norms 1."""
    import numpy as np

    rng = np.random.default_rng(2)
    values = []
    for i, shape in enumerate(shapes(name)):
        fan = math.prod(shape[1:]) if name == "C1" and len(shape) == 4 else shape[0]
        if len(shape) > 1:
            values.append((rng.standard_normal(shape) / math.sqrt(fan)).astype(np.float32))
        else:
            is_scale = name == "T1" and i % 16 in (8, 14)
            values.append(np.full(shape, float(is_scale), np.float32))
    return values


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


def burnpy_inference(name: str) -> Step:
    """The forward pass of the model that is not trained any more."""
    import burnpy as bp
    from benches.python.models import model_and_loss

    x = bp.Tensor.from_numpy(data(name)[0]).inner()
    model = model_and_loss(name)[0].valid()
    return lambda: model(x)


def torch_step(name: str, threads: int, *, fused: bool) -> Step:
    """torch's own operations, autograd and optimizer."""
    import torch

    torch.set_num_threads(threads)
    functional = torch.nn.functional
    x, y = (torch.from_numpy(array) for array in data(name))
    if name == "C1":
        x = x.to(memory_format=torch.channels_last)
    p = [torch.from_numpy(value).requires_grad_() for value in first_values(name)]
    if name == "S1":
        optimizer: Any = torch.optim.SGD(p, lr=0.01, fused=fused)
    else:
        optimizer = torch.optim.Adam(p, lr=1e-3, fused=fused)

    def linear(h: Any, i: int) -> Any:
        return torch.addmm(p[i + 1], h, p[i]) if h.dim() == 2 else h @ p[i] + p[i + 1]

    def forward() -> Any:
        if name in ("M1", "M2"):
            return functional.cross_entropy(linear(linear(linear(x, 0).relu(), 2).relu(), 4), y)
        if name == "S1":
            return functional.mse_loss(linear(linear(x, 0).relu(), 2), y)
        if name == "C1":
            h = functional.conv2d(functional.conv2d(x, p[0], p[1]).relu(), p[2], p[3]).relu()
            h = functional.max_pool2d(h, 2).flatten(1)
            return functional.cross_entropy(linear(linear(h, 4).relu(), 6), y)
        h = x
        for layer in range(2):
            h = _torch_layer(torch, h, p[layer * 16 : layer * 16 + 16])
        return functional.mse_loss(h, y)

    def step() -> Any:
        optimizer.zero_grad()
        loss = forward()
        loss.backward()
        optimizer.step()
        return loss

    return step


def _torch_layer(torch: Any, x: Any, p: Params) -> Any:
    functional = torch.nn.functional
    q, k, v = ((x @ p[2 * i] + p[2 * i + 1]).reshape(32, 64, 4, 32).transpose(1, 2) for i in range(3))
    context = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(32, 64, 128)
    x = functional.layer_norm(x + context @ p[6] + p[7], (128,), p[8], p[9])
    h = functional.gelu(x @ p[10] + p[11]) @ p[12] + p[13]
    return functional.layer_norm(x + h, (128,), p[14], p[15])


def jax_step(name: str) -> Step:
    """One compiled function of loss, gradients and update, called once a step."""
    import jax
    import jax.numpy as jnp

    x, y = (jnp.asarray(array) for array in data(name))
    params = [jnp.asarray(value) for value in first_values(name)]

    def entropy(logits: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()

    def norm(h: Any, g: Any, b: Any) -> Any:
        c = h - h.mean(-1, keepdims=True)
        return c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5) * g + b

    def layer(h: Any, p: Params) -> Any:
        q, k, v = (
            (h @ p[2 * i] + p[2 * i + 1]).reshape(32, 64, 4, 32).transpose(0, 2, 1, 3) for i in range(3)
        )
        scores = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(32))
        context = (scores @ v).transpose(0, 2, 1, 3).reshape(32, 64, 128)
        h = norm(h + context @ p[6] + p[7], p[8], p[9])
        return norm(h + jax.nn.gelu(h @ p[10] + p[11], approximate=False) @ p[12] + p[13], p[14], p[15])

    def loss_of(p: Params) -> Any:
        if name in ("M1", "M2"):
            return entropy(jax.nn.relu(jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3]) @ p[4] + p[5])
        if name == "S1":
            return ((jax.nn.relu(x @ p[0] + p[1]) @ p[2] + p[3] - y) ** 2).mean()
        if name == "C1":
            h = jax.nn.relu(jax.lax.conv(x, p[0], (1, 1), "VALID") + p[1][:, None, None])
            h = jax.nn.relu(jax.lax.conv(h, p[2], (1, 1), "VALID") + p[3][:, None, None])
            h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID").reshape(
                64, -1
            )
            return entropy(jax.nn.relu(h @ p[4] + p[5]) @ p[6] + p[7])
        return ((layer(layer(x, p[:16]), p[16:]) - y) ** 2).mean()

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
