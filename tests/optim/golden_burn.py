"""What real Burn did: a module, its gradients, and optimizers described by the manifest of `golden/burn/optim`."""

import functools
import json
from typing import Any

import numpy as np

import burnpy.optim
from burnpy import Tensor
from burnpy.lr_scheduler import ModuleLearningRate
from burnpy.module import Module, Param, ParamGroup, ParamId
from burnpy.optim import GradientClippingConfig, GradientsParams, ModuleOptimizer
from burnpy.record import ModuleRecord
from burnpy.tensor.activation import relu
from burnpy.tensor.module import layer_norm
from tests.optim.models import Affine, Array
from tests.paths import GOLDEN

FOLDER = GOLDEN / "burn" / "optim"
DTYPES = {"F32": "f32", "F64": "f64", "F16": "f16", "BF16": "bf16"}


@functools.cache
def manifest() -> dict[str, Any]:
    with open(FOLDER / "manifest.json") as file:
        content: dict[str, Any] = json.load(file)
    return content


class Norm(Module):
    def __init__(self, gamma: Array, beta: Array) -> None:
        self.gamma = Param.from_tensor(Tensor.from_numpy(gamma))
        self.beta = Param.from_tensor(Tensor.from_numpy(beta))


class Net(Module):
    """``fc2(relu(norm(fc1(x)))) * frozen``, with a counter and a mask that no optimizer touches."""

    def __init__(self, dtype: str = "f32") -> None:
        found = {entry["path"]: entry for entry in manifest()["parameters"]}

        def array(path: str) -> Array:
            entry = found[path]
            return np.array(entry["values"], np.float32).reshape(entry["shape"])

        self.fc1 = Affine(array("fc1.weight"), array("fc1.bias"))
        self.norm = Norm(array("norm.gamma"), array("norm.beta"))
        self.fc2 = Affine(array("fc2.weight"), array("fc2.bias"))
        self.frozen = Param.from_tensor(Tensor.from_numpy(array("frozen"))).set_require_grad(False)
        self.counter = Param.from_tensor(Tensor(found["counter"]["values"], dtype="i32"))
        self.mask = Param.from_tensor(Tensor(found["mask"]["values"]))
        for path, param in self.named_params():
            param.id = ParamId(found[path]["id"])
            if param.kind == "float":
                param.set_base(param.val().inner().cast(dtype).autodiff().set_require_grad(param.active))

    def forward(self, x: Tensor) -> Tensor:
        hidden = layer_norm(self.fc1(x), self.norm.gamma.val(), self.norm.beta.val(), epsilon=1e-5)
        output: Tensor = self.fc2(relu(hidden)) * self.frozen.val()
        return output


def loaded(file: str, dtype: str = "f32") -> Net:
    """The module of a file."""
    model: Net = Net(dtype).load_record(ModuleRecord.load(FOLDER / file))
    return model


def optimizer_of(case: dict[str, Any]) -> ModuleOptimizer:
    if case["type"] != "groups":
        optim: ModuleOptimizer = _config(case["type"], case["config"]).init()
        return optim
    first, *others = case["config"]
    optim = ModuleOptimizer(_config(first["type"], first["config"]).build(), _clipping(first["clipping"]))
    for entry in others:
        group = ParamGroup.from_json_value(entry["group"])
        optim.with_group(group, _config(entry["type"], entry["config"]).build(), _clipping(entry["clipping"]))
    return optim


def _config(kind: str, fields: dict[str, Any]) -> Any:
    return getattr(burnpy.optim, kind).load_binary(json.dumps(fields).encode())


def _clipping(value: dict[str, float] | None) -> GradientClippingConfig | None:
    if value is None:
        return None
    ((kind, limit),) = value.items()
    clipping: GradientClippingConfig = getattr(GradientClippingConfig, kind)(limit)
    return clipping


def rates_of(case: dict[str, Any], step: int) -> float | ModuleLearningRate:
    lr = case["lr"][step] if isinstance(case["lr"], list) else case["lr"]
    groups = case.get("lr_groups") or []
    if not groups:
        return float(lr)
    special = [(ParamGroup.from_predicate(group["predicate"]), group["lr"]) for group in groups]
    return ModuleLearningRate([(ParamGroup.all(), lr), *special])


def gradients_of(case: dict[str, Any], model: Net, step: int) -> GradientsParams:
    """The gradients of a step, the first being 0."""
    origin = manifest()["cases"].get(case.get("from"), {})
    source = case.get("gradients") or origin.get("gradients", "given")
    if not source.startswith("given"):
        return _of_the_loss(model, halves="halves" in source)
    grads = GradientsParams()
    params = dict(model.named_params())
    for path, flat in manifest()["gradients"][step].items():
        if path == "fc2.bias" and "without" in source and step % 2 == 1:
            continue
        if "only *.weight" in source and not path.endswith(".weight"):
            continue
        value = params[path].val().inner()
        gradient = Tensor.from_numpy(np.array(flat, np.float32).reshape(value.shape)).inner()
        grads.register(params[path].id, gradient.cast(value.dtype))
    return grads


def _of_the_loss(model: Net, *, halves: bool) -> GradientsParams:
    x, y = (Tensor(manifest()["data"][key]) for key in ("x", "y"))
    if not halves:
        return GradientsParams.from_grads((model(x) - y).square().mean().backward(), model)
    sums = burnpy.optim.GradientsAccumulator()
    half = x.shape[0] // 2
    for rows in (slice(0, half), slice(half, None)):
        loss = (model(x[rows]) - y[rows]).square().mean()
        sums.accumulate(model, GradientsParams.from_grads(loss.backward(), model))
    return sums.grads()


def differences(model: Module, expected: dict[str, list[float]], tolerance: float = 0.0) -> list[str]:
    """What is not as expected."""
    found = dict(model.named_params())
    wrong = []
    for path, flat in expected.items():
        array = found[path].val().inner().cast("f64").numpy().ravel()
        wanted = np.array([float(number) for number in flat])
        off = np.abs(array - wanted).max()
        if not off <= tolerance * max(1.0, np.abs(wanted).max()):
            wrong.append(f"{path}: {off}")
    return wrong
