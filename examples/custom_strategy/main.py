"""A strategy of one's own: it keeps a moving average of the weights, validates with it, and gives it as the result.

python examples/custom_strategy/main.py
python examples/custom_strategy/main.py --resume      goes on, with the average of the epoch before
"""

import argparse
from pathlib import Path
from typing import Any

import burnpy as bp
from burnpy import Device, Tensor, nn
from burnpy.data import DataLoader, DigitsDataset
from burnpy.module import ModuleMapper, Param
from burnpy.nn.loss import CrossEntropyLossConfig
from burnpy.optim import SgdConfig
from burnpy.record import ModuleRecord
from burnpy.train import (
    ClassificationOutput,
    Learner,
    LearnerEvent,
    SupervisedLearningStrategy,
    SupervisedTraining,
    TrainingComponents,
    TrainingItem,
    TrainOutput,
)
from burnpy.train.metric import AccuracyMetric, LossMetric


class Toward(ModuleMapper):
    """Moves every parameter of a module a little toward the one of the same id in another."""

    def __init__(self, other: bp.Module, decay: float) -> None:
        self._others = {param.id: param for _, param in other.named_params()}
        self._decay = decay

    def map_float(self, param: Param) -> Param:
        """The weighted mean of both."""
        other = self._others[param.id].val().inner()
        return param.map(lambda value: value * self._decay + other * (1 - self._decay))


class AveragingStrategy(SupervisedLearningStrategy):
    """Trains as usual; after every step the average moves toward the model.

    Args:
        decay: how much of the average stays in a step, in [0, 1).
        folder: where the average of each epoch is kept, for a run that is resumed.
    """

    def __init__(self, decay: float, folder: Path) -> None:
        self._decay = decay
        self._folder = folder

    def fit(
        self,
        components: TrainingComponents,
        learner: Learner,
        dataloader_train: Any,
        dataloader_valid: Any,
        starting_epoch: int,
    ) -> Any:
        """All epochs; returns the average."""
        average = learner.model.valid()
        if starting_epoch > 1:
            average = average.load_record(ModuleRecord.load(self._folder / f"average-{starting_epoch - 1}"))
        for epoch in range(starting_epoch, components.num_epochs + 1):
            components.state.epoch = epoch
            components.train(LearnerEvent.StartSplit(epoch, dataloader_train.num_items()))
            average = self._train(components, learner, dataloader_train, average)
            components.train(LearnerEvent.EndSplit(epoch))
            if components.interrupter.should_stop():
                break
            components.valid(LearnerEvent.StartSplit(epoch, dataloader_valid.num_items()))
            self._validate(components, average, dataloader_valid)
            components.valid(LearnerEvent.EndSplit(epoch))
            components.train(LearnerEvent.EndEpoch(epoch))
            average.into_record().save(self._folder / f"average-{epoch}")
            if components.end_of_epoch(learner, epoch) or components.interrupter.should_stop():
                break
        return average

    def _train(self, components: TrainingComponents, learner: Learner, loader: Any, average: Any) -> Any:
        for iteration, (batch, progress) in enumerate(batches_of(components, loader), 1):
            output = learner.train_step(batch)
            learner.lr_step()
            learner.optimizer_step(output.grads)
            average = average.map(Toward(learner.model, self._decay))
            item = TrainingItem(output.item, progress, iteration, learner.lr_current())
            components.train(LearnerEvent.ProcessedItem(item))
        return average

    def _validate(self, components: TrainingComponents, average: Any, loader: Any) -> None:
        for iteration, (batch, progress) in enumerate(batches_of(components, loader), 1):
            item = TrainingItem(average.valid_step(batch), progress, iteration, None)
            components.valid(LearnerEvent.ProcessedItem(item))


def batches_of(components: TrainingComponents, loader: Any) -> Any:
    """Batches and how far they are, until the end or a stop."""
    batches = loader.begin()
    try:
        while not components.interrupter.should_stop():
            try:
                batch = components.next_batch(batches)
            except StopIteration:
                return
            yield batch, batches.progress()
    finally:
        batches.close()


class Model(bp.Module):
    """One hidden layer on the pixels of a digit."""

    def __init__(self) -> None:
        self.inner = nn.LinearConfig(64, 64).init()
        self.outer = nn.LinearConfig(64, 10).init()
        self.loss = CrossEntropyLossConfig().init()

    def forward(self, images: Tensor) -> Tensor:
        """Scores ``(N, 10)`` of images ``(N, 8, 8)``."""
        return self.outer(self.inner(images.flatten(1, 2) / 16.0).relu())

    def valid_step(self, batch: Any) -> ClassificationOutput:
        """What the metrics read."""
        targets = batch.label.cast("i32")
        output = self.forward(batch.image)
        return ClassificationOutput(self.loss(output, targets), output, targets)

    def train_step(self, batch: Any) -> TrainOutput:
        """The same with gradients."""
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def main() -> None:
    """Read the command line, train."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--folder", type=Path, default=Path("runs/average"))
    parser.add_argument("--resume", action="store_true")
    args = parser.parse_args()
    bp.manual_seed(3)
    train_loader = DataLoader(DigitsDataset.train(), batch_size=32, shuffle=3)
    valid_loader = DataLoader(DigitsDataset.test(), batch_size=120, device=Device.cpu())
    training = (
        SupervisedTraining(args.folder, train_loader, valid_loader)
        .metrics(AccuracyMetric(), LossMetric())
        .with_default_checkpointers()
        .with_training_strategy(AveragingStrategy(0.95, args.folder))
        .num_epochs(args.epochs)
    )
    if args.resume:
        training.resume("latest")
    result = training.launch(Learner(Model(), SgdConfig().init(), 0.5))
    print(f"accuracy of the average: {result.history['valid']['Accuracy'][args.epochs]:.1f} %")


if __name__ == "__main__":
    main()
