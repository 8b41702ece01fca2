"""One training on several ranks: threads of this process, or processes that mpirun started.

python examples/data_parallel/main.py                       one rank, four shards
python examples/data_parallel/main.py --threads 2           two threads: the same numbers
mpirun -n 4 python examples/data_parallel/main.py           four processes: the same numbers (pip install 'burnpy[mpi]')
mpirun -n 2 python examples/data_parallel/main.py --resume  goes on where any of these was stopped
"""

import argparse
import hashlib
from pathlib import Path
from typing import Any

import burnpy as bp
from burnpy import nn, optim
from burnpy.data import DataLoader, DigitsDataset
from burnpy.nn.loss import CrossEntropyLossConfig
from burnpy.train import (
    ClassificationOutput,
    DataParallelStrategy,
    Learner,
    SupervisedTraining,
    TrainOutput,
)
from burnpy.train.metric import AccuracyMetric, LossMetric

SHARDS = 4


class Digits(bp.Module):
    """Two layers with dropout between them."""

    def __init__(self, num_inputs: int) -> None:
        self.fc1 = nn.LinearConfig(num_inputs, 64).init()
        self.fc2 = nn.LinearConfig(64, 10).init()
        self.dropout = nn.DropoutConfig(0.2).init()
        self.activation = nn.Relu()
        self.loss = CrossEntropyLossConfig().init()

    def valid_step(self, batch: Any) -> ClassificationOutput:
        """Loss and scores."""
        output = self.fc2(self.dropout(self.activation(self.fc1(batch["x"]))))
        return ClassificationOutput(self.loss(output, batch["y"]), output, batch["y"])

    def train_step(self, batch: Any) -> TrainOutput:
        """Scores and gradients."""
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def batcher(items: Any, device: bp.Device) -> dict[str, bp.Tensor]:
    """Images as rows, in [0, 1]."""
    rows = [bp.Tensor.from_numpy(item.image, device=device).float().reshape(-1) for item in items]
    return {
        "x": bp.Tensor.stack(rows) / 16.0,
        "y": bp.Tensor.from_ints([item.label for item in items], device),
    }


def main() -> None:
    """Train, and tell what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path("data-parallel-run"))
    parser.add_argument("--threads", type=int, help="ranks that are threads")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()

    bp.manual_seed(42)
    train = DataLoader(DigitsDataset.train(), batcher, batch_size=64, shuffle=42)
    valid = DataLoader(DigitsDataset.test(), batcher, batch_size=64)
    strategy = DataParallelStrategy(args.threads, num_shards=SHARDS)
    training = (
        SupervisedTraining(args.folder, train, valid)
        .metrics(AccuracyMetric(), LossMetric())
        .with_default_checkpointers()
        .with_training_strategy(strategy)
        .num_epochs(args.epochs)
    )
    if args.resume:
        training.resume("latest")
    model = Digits(64)
    result = training.launch(Learner(model, optim.AdamConfig().init(), 2e-3))
    if strategy.communicator.rank == 0:
        accuracy = result.history["valid"]["Accuracy"][args.epochs]
        digest = hashlib.sha256()
        for _, param in result.model.named_params():
            digest.update(param.val().numpy().tobytes())
        print(
            f"{strategy.communicator.size} ranks: accuracy {accuracy:.2f} %, weights {digest.hexdigest()[:16]}"
        )


if __name__ == "__main__":
    main()
