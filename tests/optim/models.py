"""Small modules, and gradients given by hand."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy import Tensor
from burnpy.module import Module, Param
from burnpy.optim import GradientsParams, ModuleOptimizer

Array = NDArray[Any]


class Affine(Module):
    """``x @ weight + bias``."""

    def __init__(self, weight: Array, bias: Array) -> None:
        self.weight = Param.from_tensor(Tensor.from_numpy(weight))
        self.bias = Param.from_tensor(Tensor.from_numpy(bias))

    def forward(self, x: Tensor) -> Tensor:
        return x @ self.weight.val() + self.bias.val()


class Pair(Module):
    """Two affine maps, ``layer_a`` and ``layer_b``."""

    def __init__(self, seed: int = 0, size: int = 4) -> None:
        random = np.random.default_rng(seed)
        self.layer_a = affine(random, size)
        self.layer_b = affine(random, size)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.layer_b(self.layer_a(x))
        return out


class Single(Module):
    """One parameter."""

    def __init__(self, values: Array) -> None:
        self.weight = Param.from_tensor(Tensor.from_numpy(values))


def affine(random: np.random.Generator, size: int = 4) -> Affine:
    return Affine(
        random.standard_normal((size, size)).astype(np.float32),
        random.standard_normal(size).astype(np.float32),
    )


def given(module: Module, gradients: Mapping[str, Array]) -> GradientsParams:
    """Gradients by path."""
    params = dict(module.named_params())
    grads = GradientsParams()
    for path, array in gradients.items():
        grads.register(params[path].id, Tensor.from_numpy(array.copy()).inner())
    return grads


def random_gradients(module: Module, seed: int, dtype: Any = None) -> GradientsParams:
    random = np.random.default_rng(seed)
    found = {}
    for path, param in module.named_params():
        if param.kind == "float":
            value = param.val().numpy()
            found[path] = random.standard_normal(value.shape).astype(dtype or value.dtype)
    return given(module, found)


def values(module: Module) -> dict[str, Array]:
    return {path: param.val().to_numpy() for path, param in module.named_params()}


def step_on_loss(optim: ModuleOptimizer, lr: float, model: Any, x: Tensor, scale: float = 1.0) -> Any:
    """One step on ``scale`` times the sum of the output."""
    loss = model(x).sum() * scale
    return optim.step(lr, model, GradientsParams.from_grads(loss.backward(), model))
