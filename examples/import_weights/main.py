"""Take the weights of a PyTorch checkpoint into a model of burnpy, without PyTorch, and get the same answers.

Run it with ``python examples/import_weights/main.py``.
"""

from pathlib import Path

import numpy as np

import burnpy as bp
from burnpy import Module, Tensor, nn
from burnpy.store import PytorchStore
from burnpy.tensor import PaddingConfig2d

CHECKPOINT = Path(__file__).with_name("fashion.pt")


class Net(Module):
    """The network of ``make_checkpoint.py``, with the same names of its parts."""

    def __init__(self) -> None:
        same = PaddingConfig2d.Same()
        self.conv1 = nn.Conv2dConfig([1, 8], [3, 3], padding=same).init()
        self.norm1 = nn.BatchNormConfig(8).init()
        self.conv2 = nn.Conv2dConfig([8, 12], [3, 3], padding=same).init()
        self.norm2 = nn.BatchNormConfig(12).init()
        self.fc = nn.LinearConfig(12 * 7 * 7, 10).init()
        self.pool = nn.MaxPool2dConfig([2, 2]).init()

    def forward(self, x: Tensor) -> Tensor:
        """Logits of images ``(N, 1, 28, 28)``."""
        x = self.pool(self.norm1(self.conv1(x)).relu())
        x = self.pool(self.norm2(self.conv2(x)).relu())
        return self.fc(x.flatten(1, 3))


def main() -> None:
    """Load the weights, compare the answers with those of PyTorch, and save the model as Burn does."""
    model = Net()
    # The state dict is found; the linear layer is transposed, and the normalisations get Burn's names.
    print(PytorchStore(CHECKPOINT).apply_to(model))
    model = model.valid()
    with bp.open(CHECKPOINT, top_level_key="example") as example:
        images, labels, expected = (example[name].numpy() for name in ("images", "labels", "logits"))
    logits = model(Tensor.from_numpy(images).inner())
    print(f"largest difference from PyTorch: {np.abs(logits.numpy() - expected).max():.1e}")
    print("classes found:", logits.argmax(1).flatten().tolist())
    print("classes true: ", labels.tolist())
    model.save_file("fashion.bpk")
    print("saved as fashion.bpk")


if __name__ == "__main__":
    main()
