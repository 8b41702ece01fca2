"""Checkpoints in a bucket, or under any other URL: kept, listed, looked at, and gone on from.

Run it with ``python examples/remote_checkpoint/main.py [URL]``; without one, all of it happens in memory.
"""

import re
import sys

import burnpy as bp
from burnpy import ModuleRecord, OptimizerRecord, Tensor, nn
from burnpy.nn.loss import MseLoss
from burnpy.optim import AdamWConfig, GradientsParams, Optimizer
from burnpy.storage import Location, Transfer, at
from burnpy.tensor import Distribution
from burnpy.train.checkpoint import FileCheckpointer

NUM_EPOCHS = 6
STOPPED_AFTER = 3
LEARNING_RATE = 0.05


def start() -> tuple[nn.Linear, Optimizer]:
    """A model and its optimizer, the same every time."""
    bp.manual_seed(1)
    return nn.LinearConfig(8, 1).init(), AdamWConfig().init()


def data() -> tuple[Tensor, Tensor]:
    """Inputs, and what is to be learned from them."""
    bp.manual_seed(2)
    inputs = Tensor.random((256, 8), Distribution.normal(0.0, 1.0))
    return inputs, inputs.sum_dim(1)


def train(model: nn.Linear, optim: Optimizer, place: Location, epochs: range) -> nn.Linear:
    """Learn for some epochs, and keep the records of each."""
    models, optims = FileCheckpointer(place, "model"), FileCheckpointer(place, "optim")
    inputs, targets = data()
    for epoch in epochs:
        for _ in range(20):
            loss = MseLoss().forward(model(inputs), targets)
            grads = GradientsParams.from_grads(loss.backward(), model)
            model = optim.step(LEARNING_RATE, model, grads)
        models.save(epoch, model.into_record())
        optims.save(epoch, optim.to_record())
        print(f"epoch {epoch}: loss {loss.item():.6f}, kept at {models.path(epoch)}")
    return model


def newest(place: Location) -> int:
    """The last epoch of which there is everything: the optimizer's file is written behind the model's."""
    found = (re.search(r"/optim-(\d+)\.bpk$", f"/{stat.key}") for stat in place.list())
    return max(int(match[1]) for match in found if match)


def main() -> None:
    """Train, stop, look, go on, and compare with a training that was not stopped."""
    place = at(sys.argv[1] if len(sys.argv) > 1 else "memory://runs/7", transfer=Transfer(max_requests=4))

    model, optim = start()
    train(model, optim, place.child("checkpoint"), range(1, STOPPED_AFTER + 1))
    print("stopped; another machine goes on")

    kept = place.child("checkpoint")
    epoch = newest(kept)
    with bp.open(kept.child(f"model-{epoch}.bpk")) as checkpoint:
        print(f"epoch {epoch} has {checkpoint.keys()}; the bias is {checkpoint['bias'].numpy()}")
    model, optim = start()
    model.load_record(FileCheckpointer(kept, "model").restore(epoch, ModuleRecord))
    optim.load_record(FileCheckpointer(kept, "optim").restore(epoch, OptimizerRecord))
    resumed = train(model, optim, kept, range(epoch + 1, NUM_EPOCHS + 1))

    whole = train(*start(), place.child("whole"), range(1, NUM_EPOCHS + 1))
    same = resumed.weight.val().tolist() == whole.weight.val().tolist()
    print(f"the same weights as without the stop: {same}")


if __name__ == "__main__":
    main()
