"""Whole trainings of the golden folder `numerics`, run by the loop, in double and in single precision."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy import lr_scheduler, nn, optim
from burnpy.data import DataLoader
from burnpy.lr_scheduler import ModuleLearningRate
from burnpy.module import RunningState
from burnpy.nn.attention import generate_autoregressive_mask
from burnpy.nn.loss import CrossEntropyLossConfig, MseLoss
from burnpy.tensor import activation
from burnpy.train import Learner, RegressionOutput, SupervisedTraining, TrainOutput
from burnpy.train.metric import LossMetric
from burnpy.train.renderer import QuietMetricsRenderer
from tests.nn.golden_modules import config_of, fill
from tests.tensor.golden_numerics import Case, case_names, manifest

CASES = manifest()["families"]["training"]["cases"]

SCHEDULES = {
    "Constant": None,
    "Cosine": "CosineAnnealingLrSchedulerConfig",
    "Exponential": "ExponentialLrSchedulerConfig",
    "Linear": "LinearLrSchedulerConfig",
    "Noam": "NoamLrSchedulerConfig",
    "Step": "StepLrSchedulerConfig",
}

pytestmark = pytest.mark.golden


class Net(bp.Module):
    """Layers by name, as in the paths of a case, what is computed of them, and what is observed."""

    def __init__(
        self, layers: dict[str, Any], run: Callable[[Any, bp.Tensor], bp.Tensor], classes: bool
    ) -> None:
        for name, layer in layers.items():
            setattr(self, name, layer)
        self._run = run
        self._classes = classes
        self._seen: dict[str, list[Any]] = {"loss": [], "step_after": []}

    def valid_step(self, batch: tuple[bp.Tensor, bp.Tensor]) -> RegressionOutput:
        x, targets = batch
        output = self._run(self, x)
        if self._classes:
            loss = CrossEntropyLossConfig().init().forward(output, targets.reshape([-1]))
        else:
            loss = MseLoss().forward(output, targets, "Mean")
        return RegressionOutput(loss, output, targets)

    def train_step(self, batch: tuple[bp.Tensor, bp.Tensor]) -> TrainOutput:
        item = self.valid_step(batch)
        self._seen["loss"].append(item.loss.to_numpy()[0])
        return TrainOutput(self, item.loss.backward(), item)

    def optimize(self, optimizer: Any, rate: Any, grads: Any) -> Any:
        self._seen["step_after"].append(len(self._seen["loss"]) - 1)
        return optimizer.step(rate, self, grads)


def mlp(case: Case, act: Callable[[bp.Tensor], bp.Tensor], *, bias: bool = True, norm: bool = False) -> Net:
    width, hidden = case.arrays["param.fc1.weight"].shape
    layers: dict[str, Any] = {"fc1": nn.LinearConfig(width, hidden, bias=bias).init()}
    if norm:
        layers["norm"] = nn.LayerNormConfig(hidden).init()
    layers["fc2"] = nn.LinearConfig(*case.arrays["param.fc2.weight"].shape, bias=bias).init()

    def run(net: Any, x: bp.Tensor) -> bp.Tensor:
        x = net.fc1(x)
        return net.fc2(act(net.norm(x) if norm else x))

    return Net(layers, run, case.arrays["in.targets"].dtype.kind == "i")


def convnet(case: Case) -> Net:
    layers = {
        "conv": nn.Conv2dConfig([1, 3], [3, 3], padding=nn.PaddingConfig2d.Explicit(1, 1, 1, 1)).init(),
        "norm": nn.BatchNormConfig(3).init(),
        "fc": nn.LinearConfig(*case.arrays["param.fc.weight"].shape).init(),
    }
    pool = nn.MaxPool2dConfig([2, 2], strides=[2, 2]).init()

    def run(net: Any, x: bp.Tensor) -> bp.Tensor:
        x = pool(activation.relu(net.norm(net.conv(x))))
        return net.fc(x.flatten(1, 3))

    return Net(layers, run, classes=True)


def lstm(case: Case) -> Net:
    hidden = case.arrays["param.fc.weight"].shape[0]
    layers = {"lstm": nn.LstmConfig(2, hidden, True).init(), "fc": nn.LinearConfig(hidden, 1).init()}

    def run(net: Any, x: bp.Tensor) -> bp.Tensor:
        output, _ = net.lstm(x, None)
        batch, length, width = output.shape
        return net.fc(output.slice([(0, batch), (length - 1, length), (0, width)]).reshape([batch, width]))

    return Net(layers, run, classes=False)


def encoder(case: Case) -> Net:
    vocabulary, width = case.arrays["param.embedding.weight"].shape
    inner = case.arrays["param.encoder.layers.0.pwff.linear_inner.weight"].shape[1]
    layers = {
        "embedding": nn.EmbeddingConfig(vocabulary, width).init(),
        "encoder": nn.TransformerEncoderConfig(width, inner, 2, 1, dropout=0.0).init(),
        "out": nn.LinearConfig(width, vocabulary).init(),
    }

    def run(net: Any, tokens: bp.Tensor) -> bp.Tensor:
        batch, length = tokens.shape
        hidden = nn.TransformerEncoderInput(net.embedding(tokens)).mask_attn(
            generate_autoregressive_mask(batch, length)
        )
        return net.out(net.encoder(hidden)).reshape([batch * length, vocabulary])

    return Net(layers, run, classes=True)


def model_of(case: Case) -> Net:
    model = CASES[case.name]["config"]["model"]
    if model.startswith("fc2(relu"):
        net = mlp(case, activation.relu)
    elif model.startswith("fc2(gelu"):
        net = mlp(case, activation.gelu, norm=True)
    elif model.startswith("fc2(tanh"):
        net = mlp(case, activation.tanh, bias="no biases" not in model)
    elif "Conv2d" in model:
        net = convnet(case)
    elif "Lstm" in model:
        net = lstm(case)
    else:
        assert "TransformerEncoder" in model
        net = encoder(case)
    net = net.cast("f64") if case.dtype == "float64" else net
    fill(net, {path: case.tensor(array).require_grad() for path, array in case.group("param.").items()})
    return net


def learner_of(case: Case) -> Learner:
    config = CASES[case.name]["config"]
    ((rule, values),) = config["optimizer"].items()
    made = getattr(optim, f"{rule}Config").load_binary(json.dumps(values).encode()).init()
    ((kind, given),) = config["scheduler"].items()
    name = SCHEDULES[kind]
    rate = given if name is None else config_of(getattr(lr_scheduler, name), given).init()
    return Learner(model_of(case), made, rate)


class Rates(LossMetric):
    """Notes the rates that items report."""

    seen: list[float]

    def update(self, input: Any, metadata: Any = None, **_: Any) -> Any:
        rate = metadata.lr
        self.seen.append(rate.base() if isinstance(rate, ModuleLearningRate) else rate)
        return super().update(input, metadata)

    def clone(self) -> "Rates":
        other: Rates = super().clone()
        other.seen = self.seen
        return other


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", case_names("training"))
def test_losses_rates_and_final_parameters_are_the_golden_ones(tmp_path: Path, name: str, dtype: str) -> None:
    case = Case.load("training", name, dtype)
    config = CASES[name]["config"]
    inputs = [case.tensor(array) for array in case.group("in.").values()]
    rows = inputs[0].shape[0]
    size = config.get("batch_size", rows)

    def batch(some: list[int], device: bp.Device) -> tuple[bp.Tensor, ...]:
        return tuple(bp.Tensor.from_numpy(t.numpy()[some]) for t in inputs)

    loader = DataLoader(list(range(rows)), batch, batch_size=size)
    made, rates = learner_of(case), Rates()
    rates.seen = []
    seen = made.model._seen
    run = SupervisedTraining(
        tmp_path,
        loader,
        [],
        num_epochs=config.get("num_epochs", config.get("steps")),
        grads_accumulation=config.get("grads_accumulation"),
        renderer=QuietMetricsRenderer(),
        application_logger=None,
    ).metric_train_numeric(rates)
    result = run.launch(made)

    def check(what: str, found: Any) -> None:
        case.assert_close(bp.Tensor.from_numpy(np.array(found)), case.arrays[f"out.{what}"], what)

    check("loss", seen["loss"])
    if "out.item_lr" in case.arrays:
        check("item_lr", rates.seen)
        check("step_after", seen["step_after"])
        check("lr", [rates.seen[batch] for batch in seen["step_after"]])
    else:
        check("lr", rates.seen)
    leaves = dict(result.model.named_params())
    for path, expected in case.group("out.param.").items():
        case.assert_close(leaves[path].val(), expected, path)
    for path, expected in case.group("out.running.").items():
        leaf = leaves[path]
        assert isinstance(leaf, RunningState)
        case.assert_close(leaf.value_sync(), expected, path)
