"""How ``sines/model.bpk`` was made: a small network learns the sine, and its record is saved into the package."""

import math
from pathlib import Path

from sines.model import Sine

import burnpy as bp
from burnpy import Tensor
from burnpy.nn.loss import MseLoss
from burnpy.optim import AdamConfig, GradientsParams

STEPS = 3000


def main() -> None:
    """Train on a grid of one period, with a rate that falls to nothing."""
    bp.manual_seed(1)
    model, optim, loss = Sine.new(), AdamConfig().init(), MseLoss()
    x = Tensor.arange(-128, 129).float().reshape(-1, 1) * (math.pi / 128)
    for step in range(STEPS):
        error = loss(model(x), x.sin())
        grads = GradientsParams.from_grads(error.backward(), model)
        model = optim.step(0.01 * (1 - step / STEPS), model, grads)
    print(f"mean squared error {error.item():.2e}")
    model.save_file(Path(__file__).with_name("sines") / "model.bpk")


if __name__ == "__main__":
    main()
