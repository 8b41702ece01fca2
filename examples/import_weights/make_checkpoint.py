"""How ``fashion.pt`` was made: a small network of PyTorch, trained for a minute. Not needed to run the example.

Run it where torch is installed, with the folder of Fashion-MNIST's files as its argument.
"""

import gzip
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional


class Net(nn.Module):
    """Two convolutions, each with a normalisation, and one linear layer."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 12, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(12)
        self.fc = nn.Linear(12 * 7 * 7, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits of images."""
        x = functional.max_pool2d(functional.relu(self.norm1(self.conv1(x))), 2)
        x = functional.max_pool2d(functional.relu(self.norm2(self.conv2(x))), 2)
        return self.fc(x.flatten(1))


def read(path: Path, header: int) -> np.ndarray:
    """The bytes of an IDX file after its header."""
    return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=header)


def images(folder: Path, part: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Images from 0 to 1, and their classes."""
    pixels = read(folder / f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 1, 28, 28)
    labels = read(folder / f"{part}-labels-idx1-ubyte.gz", 8)
    return torch.from_numpy(pixels / np.float32(255)), torch.from_numpy(labels.astype(np.int64))


def main() -> None:
    """Train, then save the state dict with a few images, their classes and the network's answer."""
    torch.manual_seed(1)
    folder = Path(sys.argv[1])
    x, y = images(folder, "train")
    net = Net()
    optim = torch.optim.Adam(net.parameters(), 3e-3)
    for epoch in range(2):
        for rows in torch.randperm(len(x)).split(128):
            loss = functional.cross_entropy(net(x[rows]), y[rows])
            optim.zero_grad()
            loss.backward()
            optim.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")
    net.eval()
    test_x, test_y = images(folder, "t10k")
    with torch.no_grad():
        print(f"accuracy {(net(test_x).argmax(1) == test_y).float().mean().item():.3f}")
        example = {"images": test_x[:12].clone(), "labels": test_y[:12].clone(), "logits": net(test_x[:12])}
    torch.save({"state_dict": net.state_dict(), "example": example}, "fashion.pt")


if __name__ == "__main__":
    main()
