"""A small model and small data with everything that could make a resumed run differ."""

import random
from pathlib import Path
from typing import Any

import numpy as np

import burnpy as bp
from burnpy import nn, optim
from burnpy.data import DataLoader
from burnpy.nn.loss import CrossEntropyLossConfig
from burnpy.train import ClassificationOutput, Learner, SupervisedTraining, TrainOutput
from burnpy.train.metric import AccuracyMetric, LossMetric

Item = tuple[list[float], int]


class Toy(bp.Module):
    """Linear, batch norm, dropout, linear."""

    def __init__(self, dropout: float = 0.3) -> None:
        self.fc1 = nn.LinearConfig(4, 8).init()
        self.norm = nn.BatchNormConfig(8).init()
        self.dropout = nn.DropoutConfig(dropout).init()
        self.fc2 = nn.LinearConfig(8, 3).init()
        self.activation = nn.Relu()
        self.loss = CrossEntropyLossConfig().init()

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        hidden = self.norm(self.activation(self.fc1(x)))
        return self.fc2(self.dropout(hidden))

    def valid_step(self, batch: Any) -> ClassificationOutput:
        x, y = batch
        output = self.forward(x)
        return ClassificationOutput(self.loss(output, y), output, y)

    def train_step(self, batch: Any) -> TrainOutput:
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def items(count: int, seed: int = 0) -> list[Item]:
    draw = random.Random(seed)
    return [([draw.gauss(0, 1) for _ in range(4)], draw.randrange(3)) for _ in range(count)]


def batch(some: list[Item], device: bp.Device) -> tuple[bp.Tensor, bp.Tensor]:
    x = np.array([x for x, _ in some], np.float32)
    return bp.Tensor.from_numpy(x), bp.Tensor.from_numpy(np.array([y for _, y in some], np.int64))


def batches(count: int) -> list[tuple[bp.Tensor, bp.Tensor]]:
    some = items(count)
    return [batch(some[i : i + 4], bp.Device.cpu()) for i in range(0, count, 4)]


def learner(dropout: float = 0.3, rate: Any = 0.05) -> Learner:
    bp.manual_seed(5)
    return Learner(Toy(dropout), optim.AdamConfig().init(), rate)


def training(folder: Path, *, epochs: int, items: int = 14, **keywords: Any) -> SupervisedTraining:
    """Shuffled, with a worker, two metrics and checkpoints."""
    from tests.train.toy import items as some

    options: dict[str, Any] = {
        "metrics": [LossMetric(), AccuracyMetric()],
        "default_checkpointers": True,
    } | keywords
    train = DataLoader(some(items), batch, batch_size=4, shuffle=7, num_workers=1)
    valid = DataLoader(some(6, 1), batch, batch_size=4)
    return SupervisedTraining(folder, train, valid, num_epochs=epochs, **options)
