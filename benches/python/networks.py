"""The networks of the training benchmark in operations of torch and jax, their first values and their data."""

import math
from collections.abc import Callable
from typing import Any

Params = list[Any]
Forward = Callable[[Params, Any], Any]

BATCH = {"M1": 64, "M2": 1024, "C1": 64, "T1": 32, "S1": 32}


def shapes(name: str) -> list[tuple[int, ...]]:
    """The parameters of a workload: weights as (in, out), in the order in which burnpy visits them."""
    if name in ("M1", "M2"):
        return [(784, 512), (512,), (512, 512), (512,), (512, 10), (10,)]
    if name == "S1":
        return [(8, 64), (64,), (64, 1), (1,)]
    if name == "C1":
        return [(32, 1, 3, 3), (32,), (64, 32, 3, 3), (64,), (9216, 128), (128,), (128, 10), (10,)]
    attention: list[tuple[int, ...]] = [(128, 128), (128,)] * 4
    return [*attention, (128, 512), (512,), (512, 128), (128,), *[(128,)] * 4] * 2


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
            is_scale = name == "T1" and i % 16 in (12, 14)
            values.append(np.full(shape, float(is_scale), np.float32))
    return values


def torch_forward(name: str) -> Forward:
    """From parameters and inputs to outputs."""
    import torch

    functional = torch.nn.functional

    def linear(h: Any, p: Params, i: int) -> Any:
        return torch.addmm(p[i + 1], h, p[i])

    def mlp(p: Params, h: Any) -> Any:
        for i in range(0, len(p) - 2, 2):
            h = linear(h, p, i).relu()
        return linear(h, p, len(p) - 2)

    def cnn(p: Params, x: Any) -> Any:
        h = functional.conv2d(functional.conv2d(x, p[0], p[1]).relu(), p[2], p[3]).relu()
        return mlp(p[4:], functional.max_pool2d(h, 2).flatten(1))

    def encoder(p: Params, x: Any) -> Any:
        return _torch_layer(functional, _torch_layer(functional, x, p[:16]), p[16:])

    return {"C1": cnn, "T1": encoder}.get(name, mlp)


def torch_inputs(name: str) -> Any:
    """As torch computes fastest with them."""
    import torch

    x = torch.from_numpy(data(name)[0])
    return x.to(memory_format=torch.channels_last) if name == "C1" else x


def _torch_layer(functional: Any, x: Any, p: Params) -> Any:
    q, k, v = ((x @ p[2 * i] + p[2 * i + 1]).reshape(32, 64, 4, 32).transpose(1, 2) for i in range(3))
    context = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(32, 64, 128)
    x = functional.layer_norm(x + context @ p[6] + p[7], (128,), p[12], p[13])
    h = functional.gelu(x @ p[8] + p[9]) @ p[10] + p[11]
    return functional.layer_norm(x + h, (128,), p[14], p[15])


def jax_forward(name: str) -> Forward:
    """From parameters and inputs to outputs."""
    import jax
    import jax.numpy as jnp

    def mlp(p: Params, h: Any) -> Any:
        for i in range(0, len(p) - 2, 2):
            h = jax.nn.relu(h @ p[i] + p[i + 1])
        return h @ p[-2] + p[-1]

    def cnn(p: Params, x: Any) -> Any:
        h = jax.nn.relu(jax.lax.conv(x, p[0], (1, 1), "VALID") + p[1][:, None, None])
        h = jax.nn.relu(jax.lax.conv(h, p[2], (1, 1), "VALID") + p[3][:, None, None])
        h = jax.lax.reduce_window(h, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        return mlp(p[4:], h.reshape(64, -1))

    def encoder(p: Params, x: Any) -> Any:
        return _jax_layer(jax, _jax_layer(jax, x, p[:16]), p[16:])

    return {"C1": cnn, "T1": encoder}.get(name, mlp)


def _jax_layer(jax: Any, h: Any, p: Params) -> Any:
    def norm(h: Any, g: Any, b: Any) -> Any:
        c = h - h.mean(-1, keepdims=True)
        return c * jax.lax.rsqrt((c * c).mean(-1, keepdims=True) + 1e-5) * g + b

    q, k, v = ((h @ p[2 * i] + p[2 * i + 1]).reshape(32, 64, 4, 32).transpose(0, 2, 1, 3) for i in range(3))
    scores = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / math.sqrt(32))
    context = (scores @ v).transpose(0, 2, 1, 3).reshape(32, 64, 128)
    h = norm(h + context @ p[6] + p[7], p[12], p[13])
    return norm(h + jax.nn.gelu(h @ p[8] + p[9], approximate=False) @ p[10] + p[11], p[14], p[15])
