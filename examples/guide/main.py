"""The guide's program: trains a small network on images, keeps checkpoints, exports the model, and uses it.

python examples/guide/main.py                      Fashion-MNIST, from Debian's package dataset-fashion-mnist
python examples/guide/main.py --data digits        the digits that burnpy carries: seconds
python examples/guide/main.py --resume             goes on where a run was stopped or killed
"""

import argparse
from pathlib import Path

from data import SETS, loaders
from model import Model, ModelConfig

import burnpy as bp
from burnpy.config import KW_ONLY
from burnpy.lr_scheduler import CosineAnnealingLrSchedulerConfig
from burnpy.optim import AdamConfig
from burnpy.record import ModuleRecord
from burnpy.train import Learner, SupervisedTraining
from burnpy.train.metric import AccuracyMetric, LossMetric


class TrainingConfig(bp.Config):
    """All that a run depends on; it is kept beside the model."""

    model: ModelConfig
    optimizer: AdamConfig
    _: KW_ONLY
    data: str = "fashion"
    num_epochs: int = 3
    batch_size: int = 64
    num_workers: int = 1
    seed: int = 42
    learning_rate: float = 2e-3


def train(folder: Path, config: TrainingConfig, *, resume: bool = False) -> Model:
    """Train, and leave ``config.json`` and ``model.bpk`` in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    config.save(folder / "config.json")
    bp.manual_seed(config.seed)
    train_loader, valid_loader = loaders(config.data, config.batch_size, config.seed, config.num_workers)
    training = (
        SupervisedTraining(folder, train_loader, valid_loader)
        .metrics(AccuracyMetric(), LossMetric())
        .with_default_checkpointers()
        .checkpoint_every(100)
        .num_epochs(config.num_epochs)
        .summary()
    )
    if resume:
        training.resume("latest")
    num_steps = config.num_epochs * len(train_loader)
    schedule = CosineAnnealingLrSchedulerConfig(config.learning_rate, num_steps).init()
    learner = Learner(config.model.init(), config.optimizer.init(), schedule)
    model: Model = training.launch(learner).model
    model.into_record().save(folder / "model")
    return model


def load(folder: Path) -> Model:
    """The model of a folder, ready to be asked; its weights stay in the mapped file."""
    config = TrainingConfig.load(folder / "config.json")
    record = ModuleRecord.load(folder / "model")
    return config.model.init().load_record(record).valid()


def predict(folder: Path, count: int = 10) -> float:
    """Ask the model of a folder for some images it never saw; the share that it knows."""
    config = TrainingConfig.load(folder / "config.json")
    _, test = loaders(config.data, count, config.seed)
    batch = next(iter(test))
    found = load(folder)(batch.images).argmax(1).squeeze_dim(1)
    names = getattr(SETS[config.data][0], "classes", [str(digit) for digit in range(10)])
    for guess, truth in zip(found.tolist(), batch.targets.tolist(), strict=True):
        print(f"    {names[guess]:12} is {names[truth]}")
    return float(found.equal(batch.targets).float().mean().item())


def config_of(data: str, **changes: int) -> TrainingConfig:
    """A configuration that suits a set of images."""
    small = data == "digits"
    model = ModelConfig(10, 8 if small else 28, channels=16 if small else 32)
    return TrainingConfig(model, AdamConfig(), **{"data": data, "num_epochs": 8 if small else 3} | changes)


def main() -> None:
    """Read the command line, train, predict."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", choices=SETS, default="fashion")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--folder", type=Path, default=Path("runs/guide"))
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    config = config_of(args.data, **({} if args.epochs is None else {"num_epochs": args.epochs}))
    train(args.folder, config, resume=args.resume)
    print("ten images that it never saw:")
    print(f"    {predict(args.folder):.0%} right")


if __name__ == "__main__":
    main()
