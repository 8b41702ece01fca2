"""Kernels beside NumPy, torch and jax: matrix products, convolution, element-wise mathematics, norms, one small call.

    python benches/python/kernels.py --threads 2
    python benches/python/kernels.py --threads 1 --only gemm --rounds 21

On one thread matrix products stand beside the fused multiply-adds that the core can do (``fma``, no peer).
Writes OUT.csv and OUT.md. A peer that is not installed is left out.
"""

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import compute
from benches.python.compute import Row
from benches.python.fma_peak import fma_peak

Calls = dict[str, Callable[[], Any]]

GEMM = [(n, n, n) for n in (64, 128, 256, 512, 1024, 2048)] + [
    (64, 784, 512), (64, 512, 512), (64, 512, 10), (1024, 784, 512), (1024, 512, 512),
    (2048, 128, 128), (2048, 128, 512), (2048, 512, 128),
]  # fmt: skip
"""m, k, n: squares, the layers of an MLP 784-512-512-10 at batch 64 and 1024, and of a transformer of width 128."""


def main() -> None:
    compute.table("kernels", "Kernels", rows, doc=__doc__, rounds=11, peers=["numpy", "torch", "jax"])


def _peers(names: list[str], threads: int) -> dict[str, Any]:
    import numpy as np

    import burnpy as bp

    bp.set_num_threads(threads)
    found: dict[str, Any] = {"burnpy": bp, "numpy": np}
    if threads == 1 and (peak := fma_peak()):
        found["fma"] = peak
    if "torch" in names and importlib.util.find_spec("torch"):
        import torch

        torch.set_num_threads(threads)
        found["torch"] = torch
    if "jax" in names and importlib.util.find_spec("jax") and threads > 1:
        import jax

        found["jax"] = jax
    return found


def rows(threads: int, peers: list[str], only: str) -> Iterator[Row]:
    """Every row with the peers that can do it."""
    return (row for row in _all(_peers(peers, threads)) if only in row.name)


def _all(peers: dict[str, Any]) -> Iterator[Row]:
    for m, k, n in GEMM:
        yield Row(f"gemm {m} x {k} x {n}", "GFLOP/s", 2 * m * k * n, _gemm(peers, m, k, n))
    for size in (10**6, 10**7):
        for name in ("add", "exp"):
            yield Row(
                f"{name} {size:.0e}", "GB/s", 4 * size * (3 if name == "add" else 2), _map(peers, name, size)
            )
        for name in ("softmax", "layer norm"):
            yield Row(f"{name} {size:.0e}, rows of 1000", "GB/s", 8 * size, _rows(peers, name, size))
    flops = 2 * 16 * 56 * 56 * 64 * 64 * 9
    yield Row("conv 3x3 64-64 56x56 b16 forward", "GFLOP/s", flops, _conv(peers, backward=False))
    yield Row("conv 3x3 64-64 56x56 b16 with backward", "GFLOP/s", 3 * flops, _conv(peers, backward=True))
    yield Row("a + b, one element", "us", 1, _small(peers))


def _gemm(peers: dict[str, Any], m: int, k: int, n: int) -> Calls:
    np = peers["numpy"]
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n)))
    x, y = _tensors(peers, a, b)
    calls: Calls = {"burnpy": lambda: x.matmul(y), "numpy": lambda: a @ b}
    if torch := peers.get("torch"):
        s, t = torch.from_numpy(a), torch.from_numpy(b)
        calls["torch"] = lambda: s @ t
    if jax := peers.get("jax"):
        product, u, v = jax.jit(lambda u, v: u @ v), jax.device_put(a), jax.device_put(b)
        calls["jax"] = lambda: product(u, v).block_until_ready()
    if peak := peers.get("fma"):
        calls["fma"] = lambda: peak(2 * m * k * n)
    return calls


def _map(peers: dict[str, Any], name: str, size: int) -> Calls:
    np = peers["numpy"]
    a, b = (np.random.default_rng(seed).standard_normal(size, dtype=np.float32) for seed in (1, 2))
    x, y = _tensors(peers, a, b)
    is_add = name == "add"
    calls: Calls = {
        "burnpy": (lambda: x + y) if is_add else x.exp,
        "numpy": (lambda: a + b) if is_add else (lambda: np.exp(a)),
    }
    if torch := peers.get("torch"):
        s, t = torch.from_numpy(a), torch.from_numpy(b)
        calls["torch"] = (lambda: s + t) if is_add else s.exp
    if jax := peers.get("jax"):
        function = jax.jit((lambda u, v: u + v) if is_add else (lambda u, v: jax.numpy.exp(u)))
        u, v = jax.device_put(a), jax.device_put(b)
        calls["jax"] = lambda: function(u, v).block_until_ready()
    return calls


def _rows(peers: dict[str, Any], name: str, size: int) -> Calls:
    from burnpy.tensor import activation, module

    np = peers["numpy"]
    a = np.random.default_rng(1).standard_normal((size // 1000, 1000), dtype=np.float32)
    g, b = np.ones(1000, np.float32), np.zeros(1000, np.float32)
    x, gamma, beta = _tensors(peers, a, g, b)
    is_softmax = name == "softmax"
    calls: Calls = {
        "burnpy": (lambda: activation.softmax(x, 1))
        if is_softmax
        else (lambda: module.layer_norm(x, gamma, beta))
    }
    if torch := peers.get("torch"):
        functional = torch.nn.functional
        s, t, u = torch.from_numpy(a), torch.from_numpy(g), torch.from_numpy(b)
        calls["torch"] = (
            (lambda: functional.softmax(s, 1))
            if is_softmax
            else (lambda: functional.layer_norm(s, (1000,), t, u, 1e-5))
        )
    if jax := peers.get("jax"):
        jnp = jax.numpy

        def norm(v: Any) -> Any:
            centred = v - v.mean(1, keepdims=True)
            return centred / jnp.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5) * g + b

        function, v = jax.jit(jax.nn.softmax if is_softmax else norm), jax.device_put(a)
        calls["jax"] = lambda: function(v).block_until_ready()
    return calls


def _conv(peers: dict[str, Any], *, backward: bool) -> Calls:
    from burnpy.tensor import module

    np = peers["numpy"]
    rng = np.random.default_rng(1)
    a = rng.standard_normal((16, 64, 56, 56), dtype=np.float32)
    w = rng.standard_normal((64, 64, 3, 3), dtype=np.float32)
    x, weight = _tensors(peers, np.ascontiguousarray(a.transpose(0, 2, 3, 1)), w)
    # Channels last in memory, as torch's below.
    x = x.permute([0, 3, 1, 2])
    if backward:
        x, weight = x.autodiff().require_grad(), weight.autodiff().require_grad()

    def own() -> Any:
        y = module.conv2d(x, weight, None, padding=1)
        return y.backward() if backward else y

    calls: Calls = {"burnpy": own}
    if torch := peers.get("torch"):
        for name, layout in (("torch NHWC", torch.channels_last), ("torch NCHW", torch.contiguous_format)):
            s = torch.from_numpy(a).to(memory_format=layout).requires_grad_(backward)
            t = torch.from_numpy(w).to(memory_format=layout).requires_grad_(backward)
            calls[name] = _torch_conv(torch, s, t, backward=backward)
    return calls


def _torch_conv(torch: Any, s: Any, t: Any, *, backward: bool) -> Callable[[], Any]:
    def run() -> Any:
        y = torch.nn.functional.conv2d(s, t, padding=1)
        if backward:
            s.grad = t.grad = None
            y.backward(torch.ones_like(y))
        return y

    return run


def _small(peers: dict[str, Any]) -> Calls:
    np = peers["numpy"]
    a = np.ones(1, np.float32)
    x, y = _tensors(peers, a, a)
    calls: Calls = {"burnpy": lambda: x + y, "numpy": lambda: a + a}
    if torch := peers.get("torch"):
        s = torch.ones(1)
        calls["torch"] = lambda: s + s
    return calls


def _tensors(peers: dict[str, Any], *arrays: Any) -> list[Any]:
    # Plain: what the peers measure records no gradients either.
    return [peers["burnpy"].Tensor.from_numpy(array).inner() for array in arrays]


if __name__ == "__main__":
    main()
