"""The models of the training benchmark as a user of burnpy writes them."""

from itertools import pairwise
from typing import Any

import burnpy as bp
from burnpy import nn
from burnpy.nn.loss import CrossEntropyLossConfig, MseLoss


class Mlp(bp.Module):
    """Linear layers with ReLU between them."""

    def __init__(self, *sizes: int) -> None:
        self.layers = [nn.LinearConfig(a, b).init() for a, b in pairwise(sizes)]
        self.activation = nn.Relu()

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


class Cnn(bp.Module):
    """Two convolutions, a pool and two linear layers."""

    def __init__(self) -> None:
        self.conv1 = nn.conv.Conv2dConfig([1, 32], [3, 3]).init()
        self.conv2 = nn.conv.Conv2dConfig([32, 64], [3, 3]).init()
        self.pool = nn.pool.MaxPool2dConfig([2, 2]).init()
        self.fc1 = nn.LinearConfig(9216, 128).init()
        self.fc2 = nn.LinearConfig(128, 10).init()
        self.activation = nn.Relu()

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        x = self.activation(self.conv1(x))
        x = self.pool(self.activation(self.conv2(x)))
        return self.fc2(self.activation(self.fc1(x.flatten(1, 3))))


class Encoder(bp.Module):
    """A transformer encoder without dropout."""

    def __init__(self) -> None:
        self.encoder = nn.transformer.TransformerEncoderConfig(128, 512, 4, 2, dropout=0.0).init()

    def forward(self, x: bp.Tensor) -> bp.Tensor:
        return self.encoder(nn.transformer.TransformerEncoderInput(x))


def model_and_loss(name: str) -> tuple[bp.Module, Any]:
    """Those of a workload."""
    if name == "T1":
        return Encoder(), MseLoss()
    if name == "S1":
        return Mlp(8, 64, 1), MseLoss()
    model: bp.Module = Cnn() if name == "C1" else Mlp(784, 512, 512, 10)
    return model, CrossEntropyLossConfig().init()
