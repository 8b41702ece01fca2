"""The trainings of ``golden/burn/training``: models, data, choices, and what Burn made of them."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import burnpy as bp
from burnpy import lr_scheduler, nn, optim
from burnpy.data import DataLoader
from burnpy.module import RunningState
from burnpy.nn.loss import CrossEntropyLossConfig, MseLoss
from burnpy.train import (
    ClassificationOutput,
    Learner,
    MetricEarlyStoppingStrategy,
    RegressionOutput,
    StoppingCondition,
    SupervisedTraining,
    TrainOutput,
)
from burnpy.train.checkpoint import KeepLastNCheckpoints
from burnpy.train.metric import (
    AccuracyMetric,
    AucPrMetric,
    AurocMetric,
    ClassReduction,
    FBetaScoreMetric,
    LearningRateMetric,
    LossMetric,
    PerplexityMetric,
    PrecisionMetric,
    RecallMetric,
    TopKAccuracyMetric,
)
from burnpy.train.metric.store import Aggregate, Direction, Split
from burnpy.train.renderer import QuietMetricsRenderer
from tests.paths import GOLDEN

FOLDER = GOLDEN / "burn" / "training"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
TRAININGS: dict[str, dict[str, Any]] = MANIFEST["trainings"]
SIZES: dict[str, int] = MANIFEST["sizes"]
PARTS = ("model", "optim", "scheduler")

Row = tuple[list[float], list[float], int]
Batch = tuple[bp.Tensor, bp.Tensor, bp.Tensor]


class Regression(bp.Module):
    """fc2(tanh(fc1(x))), mean squared error."""

    def __init__(self) -> None:
        self.fc1 = nn.LinearConfig(SIZES["d_in"], SIZES["hidden"]).init()
        self.act = nn.Tanh()
        self.fc2 = nn.LinearConfig(SIZES["hidden"], SIZES["d_out"]).init()

    def valid_step(self, batch: Batch) -> RegressionOutput:
        x, y, _ = batch
        output = self.fc2(self.act(self.fc1(x)))
        return RegressionOutput(MseLoss().forward(output, y, "Mean"), output, y)

    def train_step(self, batch: Batch) -> TrainOutput:
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


class Classification(bp.Module):
    """fc2(relu(norm(fc1(x)))), cross entropy; the norm is over a layer or over a batch."""

    def __init__(self, batch_norm: bool) -> None:
        hidden = SIZES["hidden"]
        self.fc1 = nn.LinearConfig(SIZES["d_in"], hidden).init()
        self.layer_norm = None if batch_norm else nn.LayerNormConfig(hidden).init()
        self.batch_norm = nn.BatchNormConfig(hidden).init() if batch_norm else None
        self.act = nn.Relu()
        self.fc2 = nn.LinearConfig(hidden, SIZES["classes"]).init()

    def valid_step(self, batch: Batch) -> ClassificationOutput:
        x, _, classes = batch
        norm = self.layer_norm or self.batch_norm
        assert norm is not None
        output = self.fc2(self.act(norm(self.fc1(x))))
        return ClassificationOutput(CrossEntropyLossConfig().init().forward(output, classes), output, classes)

    def train_step(self, batch: Batch) -> TrainOutput:
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def rows(split: str) -> list[Row]:
    given = MANIFEST[split]
    return list(zip(given["x"], given["y"], given["class"], strict=True))


def batch(some: list[Row], device: bp.Device) -> Batch:
    x, y = (np.array([row[i] for row in some], np.float32) for i in (0, 1))
    classes = np.array([row[2] for row in some], np.int64)
    return bp.Tensor.from_numpy(x), bp.Tensor.from_numpy(y), bp.Tensor.from_numpy(classes)


def loader(split: str, kind: str = "regression", *, dataset: Any = None, batcher: Any = batch) -> DataLoader:
    size = TRAININGS[kind]["batch_size" if split == "train" else "valid_batch_size"]
    return DataLoader(rows(split) if dataset is None else dataset, batcher, batch_size=size)


def model_of(kind: str, *, fresh: bool) -> bp.Module:
    """The model of a training: with the values and ids that Burn's began with, or others, to be loaded into."""
    bp.manual_seed(11)
    if kind.startswith("regression"):
        model: bp.Module = Regression()
    else:
        model = Classification(kind.endswith("batchnorm"))
    if not fresh:
        fill(model, TRAININGS[kind]["parameters"])
    return model


def fill(model: bp.Module, parameters: list[dict[str, Any]]) -> None:
    """Give a model the parameters of a manifest, and their ids, by which the optimizer's record knows them."""
    leaves = dict(model.named_params())
    assert leaves.keys() == {told["path"] for told in parameters}
    for told in parameters:
        value = bp.Tensor.from_numpy(np.array(told["values"], np.float32).reshape(told["shape"]))
        leaf = leaves[told["path"]]
        if isinstance(leaf, RunningState):
            leaf.set_value(value)
            continue
        leaf.set_base(value.require_grad())
        leaf.id = bp.ParamId(told["id"])


def learner_of(kind: str, *, fresh: bool = False) -> Learner:
    told = TRAININGS[kind]
    made = _config(optim, told["optimizer"]).init()
    rate = told["scheduler"]
    schedule = rate["config"] if rate["type"] == "number" else _config(lr_scheduler, rate).init()
    return Learner(model_of(kind, fresh=fresh), made, schedule)


def _config(package: Any, told: dict[str, Any]) -> Any:
    return getattr(package, told["type"]).load_binary(json.dumps(told["config"]).encode())


def training_of(kind: str, folder: Path, **keywords: Any) -> SupervisedTraining:
    """As the generator configures it."""
    options: dict[str, Any] = {
        "num_epochs": TRAININGS[kind]["num_epochs"],
        "default_checkpointers": True,
        "renderer": QuietMetricsRenderer(),
        "application_logger": None,
    }
    if kind != "regression_default_strategy":
        options["checkpointing_strategy"] = KeepLastNCheckpoints(100)
    if kind == "regression_early_stop":
        patience = StoppingCondition.NoImprovementSince(n_epochs=2)
        options["early_stopping"] = MetricEarlyStoppingStrategy(
            "Loss", Aggregate.Mean, Direction.Lowest, Split.Valid, patience
        )
    loaders = keywords.pop("loaders", None) or (loader("train", kind), loader("valid", kind))
    return _measured(SupervisedTraining(folder, *loaders, **options | keywords), kind)


def _measured(run: SupervisedTraining, kind: str) -> SupervisedTraining:
    if kind.startswith("regression"):
        return run.metrics(LossMetric(), LearningRateMetric())
    macro, micro = ClassReduction.Macro, ClassReduction.Micro
    run.metrics(AccuracyMetric(), LossMetric(), TopKAccuracyMetric(2), PerplexityMetric())
    run.metric_train_numeric(LearningRateMetric())
    run.metric_train_numeric(PrecisionMetric.multiclass(1, macro))
    run.metric_valid_numeric(PrecisionMetric.multiclass(1, macro))
    run.metric_valid_numeric(RecallMetric.multiclass(1, micro))
    run.metric_valid_numeric(FBetaScoreMetric.multiclass(1.0, 1, macro))
    run.metric_train_numeric(AurocMetric.multiclass(macro))
    run.metric_valid_numeric(AucPrMetric.multiclass(micro))
    return (
        run if kind.endswith("batchnorm") else run.grads_accumulation(TRAININGS[kind]["grads_accumulation"])
    )


def copy_set(kind: str, folder: Path, epoch: int) -> None:
    """The set of an epoch that Burn wrote, and nothing else."""
    (folder / "checkpoint").mkdir(parents=True)
    for part in PARTS:
        shutil.copy(FOLDER / kind / "checkpoint" / f"{part}-{epoch}.bpk", folder / "checkpoint")


def logs(folder: Path) -> dict[str, str]:
    """The metric files of a folder, by ``split/epoch/name``."""
    found = (p for split in ("train", "valid", "test") for p in folder.glob(f"{split}/*/*.log"))
    return {path.relative_to(folder).as_posix(): path.read_text() for path in sorted(found)}


def parameters(model: bp.Module) -> dict[str, Any]:
    """The values of a model by path, running states included."""
    return {
        path: (leaf.value_sync() if isinstance(leaf, RunningState) else leaf.val())
        .to_numpy()
        .ravel()
        .tolist()
        for path, leaf in model.named_params()
    }
