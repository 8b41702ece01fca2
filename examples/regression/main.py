"""Regression: learns a function of ten numbers, of which five count, from noisy examples.

The function is that of Friedman (1991): y = 10 sin(pi x1 x2) + 20 (x3 - 1/2)^2 + 10 x4 + 5 x5, plus noise of size 1.

python examples/regression/main.py
python examples/regression/main.py --plot regression.png      needs matplotlib: pip install 'burnpy[plot]'
"""

import argparse
from pathlib import Path

import numpy as np

import burnpy as bp
from burnpy import Tensor, nn
from burnpy.data import DataLoader, TensorDataset
from burnpy.lr_scheduler import CosineAnnealingLrSchedulerConfig
from burnpy.nn.loss import MseLoss
from burnpy.optim import AdamWConfig
from burnpy.train import (
    Learner,
    MetricEarlyStoppingStrategy,
    RegressionOutput,
    StoppingCondition,
    SupervisedTraining,
    TrainOutput,
)
from burnpy.train.metric import LearningRateMetric, LossMetric
from burnpy.train.metric.store import Aggregate, Direction, Split

BATCH_SIZE = 64


class Model(bp.Module):
    """Two hidden layers."""

    def __init__(self, inputs: int = 10, hidden: int = 64) -> None:
        self.layer1 = nn.LinearConfig(inputs, hidden).init()
        self.layer2 = nn.LinearConfig(hidden, hidden).init()
        self.output = nn.LinearConfig(hidden, 1).init()
        self.activation = nn.Gelu()
        self.loss = MseLoss()

    def forward(self, x: Tensor) -> Tensor:
        """Predictions, ``(N, 1)``, for ``(N, inputs)``."""
        x = self.activation(self.layer1(x))
        return self.output(self.activation(self.layer2(x)))

    def valid_step(self, batch: tuple[Tensor, Tensor]) -> RegressionOutput:
        """What the metrics read."""
        x, y = batch
        output = self.forward(x)
        return RegressionOutput(self.loss(output, y), output, y)

    def train_step(self, batch: tuple[Tensor, Tensor]) -> TrainOutput:
        """The same with gradients."""
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def friedman(count: int, seed: int) -> TensorDataset:
    """Inputs ``(count, 10)`` and noisy values ``(count, 1)``."""
    rng = np.random.default_rng(seed)
    x = rng.random((count, 10))
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    y = (y + rng.normal(size=count))[:, None]
    return TensorDataset(x.astype(np.float32), y.astype(np.float32))


def train(folder: Path, *, items: int, num_epochs: int) -> Model:
    """Train until the validation loss has not fallen for five epochs."""
    bp.manual_seed(7)
    train_loader = DataLoader(friedman(items, 0), batch_size=BATCH_SIZE, shuffle=7)
    valid_loader = DataLoader(friedman(1000, 1), batch_size=250)
    schedule = CosineAnnealingLrSchedulerConfig(1e-2, num_epochs * len(train_loader)).init()
    patience = MetricEarlyStoppingStrategy(
        "Loss",
        Aggregate.Mean,
        Direction.Lowest,
        Split.Valid,
        StoppingCondition.NoImprovementSince(n_epochs=5),
    )
    training = (
        SupervisedTraining(folder, train_loader, valid_loader)
        .metrics(LossMetric(weight_by="items"))
        .metric_train_numeric(LearningRateMetric())
        .early_stopping(patience)
        .num_epochs(num_epochs)
        .summary()
    )
    model: Model = training.launch(Learner(Model(), AdamWConfig().init(), schedule)).model
    return model


def plot(path: Path, predicted: np.ndarray, truth: np.ndarray) -> None:
    """Draw what was predicted over what was true."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 5))
    axes.scatter(truth, predicted, s=6)
    axes.axline((0, 0), slope=1, color="grey", linewidth=1)
    axes.set(xlabel="true value", ylabel="prediction", title="1000 values that were not learned from")
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    """Read the command line, train, compare with what can be reached."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=4000, help="how many examples to learn from")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--folder", type=Path, default=Path("runs/regression"))
    parser.add_argument("--plot", type=Path, metavar="PNG")
    args = parser.parse_args()
    model = train(args.folder, items=args.items, num_epochs=args.epochs)
    x, y = friedman(1000, 2).arrays
    predicted, truth = model(x).numpy(), y.numpy()
    error = float(((predicted - truth) ** 2).mean())
    print(f"mean squared error {error:.2f}: the noise is 1.00, and a constant has {truth.var():.2f}")
    if args.plot is not None:
        plot(args.plot, predicted, truth)


if __name__ == "__main__":
    main()
