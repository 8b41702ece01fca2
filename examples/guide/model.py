"""The model of the guide: a small network of convolutions, and what it does with a batch."""

from data import Batch

import burnpy as bp
from burnpy import Tensor, nn
from burnpy.config import KW_ONLY
from burnpy.nn.loss import CrossEntropyLossConfig
from burnpy.train import ClassificationOutput, TrainOutput


class ModelConfig(bp.Config):
    """What a model is made of; ``init`` makes one."""

    num_classes: int
    image_size: int
    _: KW_ONLY
    channels: int = 32
    hidden_size: int = 128
    dropout: float = 0.25

    def init(self) -> "Model":
        """A model with first values from the seed of the device."""
        return Model(self)


class Model(bp.Module):
    """Two blocks of convolution, normalisation, ReLU and pooling; two linear layers."""

    def __init__(self, config: ModelConfig) -> None:
        wide, same = 2 * config.channels, nn.PaddingConfig2d.Same()
        self.conv1 = nn.conv.Conv2dConfig([1, config.channels], [3, 3], padding=same).init()
        self.norm1 = nn.BatchNormConfig(config.channels).init()
        self.conv2 = nn.conv.Conv2dConfig([config.channels, wide], [3, 3], padding=same).init()
        self.norm2 = nn.BatchNormConfig(wide).init()
        self.pool = nn.pool.MaxPool2dConfig([2, 2]).init()
        self.dropout = nn.DropoutConfig(config.dropout).init()
        self.linear1 = nn.LinearConfig(wide * (config.image_size // 4) ** 2, config.hidden_size).init()
        self.linear2 = nn.LinearConfig(config.hidden_size, config.num_classes).init()
        self.activation = nn.Relu()
        self.loss = CrossEntropyLossConfig().init()

    def forward(self, images: Tensor) -> Tensor:
        """Scores of ``(N, 1, size, size)`` for each class, ``(N, classes)``."""
        x = self.pool(self.activation(self.norm1(self.conv1(images))))
        x = self.pool(self.activation(self.norm2(self.conv2(x))))
        x = self.activation(self.linear1(self.dropout(x.flatten(1, 3))))
        return self.linear2(self.dropout(x))

    def valid_step(self, batch: Batch) -> ClassificationOutput:
        """What the metrics read; called on ``model.valid()``."""
        output = self.forward(batch.images)
        return ClassificationOutput(self.loss(output, batch.targets), output, batch.targets)

    def train_step(self, batch: Batch) -> TrainOutput:
        """The same with gradients."""
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)
