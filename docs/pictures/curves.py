"""Loss and accuracy of a short training."""

import tempfile

from matplotlib import pyplot

import burnpy as bp
from burnpy import nn, optim
from burnpy.data import DataLoader, DigitsDataset
from burnpy.train import ClassificationOutput, Learner, SupervisedTraining, TrainOutput
from burnpy.train.metric import AccuracyMetric, LossMetric


class Network(bp.Module):
    def __init__(self):
        self.hidden = nn.LinearConfig(64, 64).init()
        self.output = nn.LinearConfig(64, 10).init()
        self.loss = nn.loss.CrossEntropyLossConfig().init()

    def valid_step(self, batch):
        scores = self.output(self.hidden(batch.image.flatten(1, 2) / 16.0).relu())
        targets = batch.label.cast("i32")
        return ClassificationOutput(self.loss(scores, targets), scores, targets)

    def train_step(self, batch):
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


bp.manual_seed(1)
run = SupervisedTraining(
    tempfile.mkdtemp(),
    DataLoader(DigitsDataset.train(), batch_size=64, shuffle=1),
    DataLoader(DigitsDataset.test(), batch_size=120),
    num_epochs=12,
    metrics=[LossMetric(), AccuracyMetric()],
)
history = run.launch(Learner(Network(), optim.AdamConfig().init(), 2e-3)).history
figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3))
for split, of_split in history.items():
    left.plot(*zip(*of_split["Loss"].items(), strict=True), label=split)
    right.plot(*zip(*of_split["Accuracy"].items(), strict=True), label=split)
left.set(xlabel="epoch", ylabel="loss")
right.set(xlabel="epoch", ylabel="accuracy in %")
left.legend()
figure.tight_layout()
