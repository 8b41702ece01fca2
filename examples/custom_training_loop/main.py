"""A training loop written out: batches, loss, gradients, steps of the optimizer, and a look at the test set.

Run it with ``python examples/custom_training_loop/main.py [fashion | digits]``. It learns Fashion-MNIST where Debian's
package dataset-fashion-mnist is installed, else the small set of handwritten digits that burnpy carries.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import burnpy as bp
from burnpy import Device, Module, Tensor, nn
from burnpy.data import DataLoader, DataLoaderBuilder, DigitsDataset, FashionMnistDataset
from burnpy.lr_scheduler import CosineAnnealingLrSchedulerConfig
from burnpy.nn.loss import CrossEntropyLoss
from burnpy.optim import AdamWConfig, GradientsParams

BATCH_SIZE = 128
LEARNING_RATE = 3e-3
# The largest value of a pixel, and how many epochs to learn.
SETS: dict[str, Any] = {"fashion": (FashionMnistDataset, 255.0, 3), "digits": (DigitsDataset, 16.0, 30)}


class Net(Module):
    """Two linear layers on the pixels of an image."""

    def __init__(self, num_pixels: int, num_classes: int = 10) -> None:
        self.inner = nn.LinearConfig(num_pixels, 128).init()
        self.dropout = nn.DropoutConfig(0.1).init()
        self.outer = nn.LinearConfig(128, num_classes).init()

    def forward(self, images: Tensor) -> Tensor:
        """Logits of ``(N, height, width)``."""
        hidden = self.inner(images.flatten(1, 2)).relu()
        return self.outer(self.dropout(hidden))


@dataclass
class Batch:
    """Images with values from 0 to 1, and their classes."""

    images: Tensor
    labels: Tensor


@dataclass
class Batcher:
    """Makes a batch of rows, whose largest value is known."""

    largest: float

    def batch(self, items: Sequence[Any], device: Device) -> Batch:
        """The batch on a device."""
        images, labels = items.columns["image"], items.columns["label"]  # type: ignore[attr-defined]
        scaled = images.cast("f32") / self.largest
        return Batch(scaled.to_device(device), labels.cast("i32").to_device(device))


def loaders(name: str) -> tuple[DataLoader, DataLoader, int]:
    """Batches to learn from, to test with, and how many pixels an image has."""
    kind, largest, _ = SETS[name]
    train, test, batcher = kind.train(), kind.test(), Batcher(largest)
    height, width = train.get(0).image.shape
    builder = DataLoaderBuilder(batcher, batch_size=BATCH_SIZE)
    plain = DataLoaderBuilder(batcher, batch_size=BATCH_SIZE, device=Device.cpu())
    return builder.shuffle(42).num_workers(1).build(train), plain.build(test), height * width


def accuracy(model: Net, batches: DataLoader) -> float:
    """The share of images whose class a model finds, in percent."""
    model, hits, count = model.valid(), 0, 0
    for batch in batches:
        found = model(batch.images).argmax(1).squeeze_dim(1)
        hits += found.equal(batch.labels).int().sum().item()
        count += len(batch.labels)
    return 100 * hits / count


def main() -> None:
    """Train for some epochs, and say after each how it goes."""
    bp.manual_seed(1)
    default = "fashion" if FashionMnistDataset.folder("train").exists() else "digits"
    name = sys.argv[1] if len(sys.argv) > 1 else default
    (train, test, num_pixels), num_epochs = loaders(name), SETS[name][2]
    model, optim, loss = Net(num_pixels), AdamWConfig(weight_decay=1e-3).init(), CrossEntropyLoss()
    scheduler = CosineAnnealingLrSchedulerConfig(LEARNING_RATE, num_epochs * len(train)).init()
    print(model)
    for epoch in range(1, num_epochs + 1):
        total = 0.0
        for batch in train:
            value = loss(model(batch.images), batch.labels)
            grads = GradientsParams.from_grads(value.backward(), model)
            model = optim.step(scheduler.step(), model, grads)
            total += value.item()
        print(f"epoch {epoch}: loss {total / len(train):.3f}, accuracy {accuracy(model, test):.1f} %")


if __name__ == "__main__":
    main()
