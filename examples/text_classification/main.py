"""Text classification: a small transformer learns whether a guest is pleased.

python examples/text_classification/main.py
python examples/text_classification/main.py --items 400 --epochs 2      a quick look
"""

import argparse
from pathlib import Path

from data import PAD, Batch, Batcher, Tokenizer, sentences

import burnpy as bp
from burnpy import Device, Tensor, nn
from burnpy.data import DataLoaderBuilder
from burnpy.lr_scheduler import NoamLrSchedulerConfig
from burnpy.nn.loss import CrossEntropyLossConfig
from burnpy.nn.transformer import TransformerEncoderConfig, TransformerEncoderInput
from burnpy.optim import AdamWConfig
from burnpy.train import ClassificationOutput, Learner, SupervisedTraining, TrainOutput
from burnpy.train.metric import AccuracyMetric, LearningRateMetric, LossMetric

WIDTH, LONGEST = 32, 16
EXAMPLES = [
    "the soup was not bad",
    "never was the garden lovely and the price was there too",
    "what a rude waiter that was says my sister",
    "nobody would call the coffee sour today",
]


class Classifier(bp.Module):
    """Tokens and places to vectors, an encoder, the mean over the words, and a score for each answer."""

    def __init__(self, num_tokens: int) -> None:
        self.token = nn.EmbeddingConfig(num_tokens, WIDTH).init()
        self.place = nn.EmbeddingConfig(LONGEST, WIDTH).init()
        self.encoder = TransformerEncoderConfig(WIDTH, 4 * WIDTH, 4, 2, norm_first=True).init()
        self.output = nn.LinearConfig(WIDTH, 2).init()
        self.loss = CrossEntropyLossConfig().init()

    def forward(self, tokens: Tensor, padding: Tensor) -> Tensor:
        """Scores ``(N, 2)`` of tokens ``(N, words)``."""
        places = Tensor.arange(0, tokens.shape[1], device=tokens.device).unsqueeze_dim(0)
        x = self.token(tokens) + self.place(places)
        x = self.encoder(TransformerEncoderInput(x).mask_pad(padding))
        words = padding.bool_not().float().unsqueeze_dim(2)
        mean = (x * words).sum_dim(1) / words.sum_dim(1)
        return self.output(mean.squeeze_dim(1))

    def valid_step(self, batch: Batch) -> ClassificationOutput:
        """What the metrics read."""
        output = self.forward(batch.tokens, batch.padding)
        return ClassificationOutput(self.loss(output, batch.labels), output, batch.labels)

    def train_step(self, batch: Batch) -> TrainOutput:
        """The same with gradients."""
        item = self.valid_step(batch)
        return TrainOutput(self, item.loss.backward(), item)


def train(folder: Path, items: int, num_epochs: int) -> tuple[Classifier, Batcher]:
    """Train, with weight decay and a schedule that rises first."""
    bp.manual_seed(1)
    learned, unseen = sentences(items, 0), sentences(400, 1)
    batcher = Batcher(Tokenizer([text for text, _ in learned]), LONGEST)
    builder = DataLoaderBuilder(batcher).batch_size(32)
    valid_loader = builder.set_device(Device.cpu()).build(unseen)
    train_loader = builder.set_device(Device()).shuffle(1).build(learned)
    steps = num_epochs * len(train_loader)
    schedule = NoamLrSchedulerConfig(0.2, warmup_steps=max(1, steps // 5), model_size=WIDTH).init()
    training = (
        SupervisedTraining(folder, train_loader, valid_loader)
        .metrics(AccuracyMetric(), LossMetric())
        .metric_train_numeric(LearningRateMetric())
        .with_default_checkpointers()
        .num_epochs(num_epochs)
        .summary()
    )
    learner = Learner(Classifier(len(batcher.tokenizer)), AdamWConfig(weight_decay=1e-2).init(), schedule)
    return training.launch(learner).model, batcher


def main() -> None:
    """Read the command line, train, judge some sentences."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--items", type=int, default=2000, help="how many sentences to learn from")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=Path("runs/text"))
    args = parser.parse_args()
    model, batcher = train(args.folder, args.items, args.epochs)
    batch = batcher.batch([(text, PAD) for text in EXAMPLES], Device.cpu())
    answers = model(batch.tokens, batch.padding).argmax(1).squeeze_dim(1).tolist()
    for text, pleased in zip(EXAMPLES, answers, strict=True):
        print(f"    {'pleased' if pleased else 'not pleased':12} {text}")


if __name__ == "__main__":
    main()
