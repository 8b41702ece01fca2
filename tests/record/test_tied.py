"""A model with tied weights: trained as one, recorded as Burn records it, tied after loading."""

import burnpy as bp
from burnpy import nn, optim
from burnpy.optim import GradientsParams


class Tied(bp.Module):
    """An embedding whose weight is that of the output too."""

    def __init__(self) -> None:
        self.embedding = nn.EmbeddingConfig(5, 3).init()
        self.output = self.embedding.weight

    def forward(self, ids: bp.Tensor) -> bp.Tensor:
        return self.embedding(ids).matmul(self.output.val().transpose())


def step(model: Tied, optimizer: optim.ModuleOptimizer) -> None:
    loss = model(bp.Tensor([[0, 1, 2]])).square().mean()
    optimizer.step(0.1, model, GradientsParams.from_grads(loss.backward(), model))


def made() -> tuple[Tied, optim.ModuleOptimizer]:
    bp.manual_seed(1)
    return Tied(), optim.AdamConfig().init()


def test_a_tied_weight_is_trained_recorded_and_loaded_as_one() -> None:
    model, optimizer = made()
    for _ in range(3):
        step(model, optimizer)
    record = bp.ModuleRecord.from_bytes(model.into_record().into_bytes())
    assert record.keys() == ["embedding.weight", "output"]
    assert record["embedding.weight"].tolist() == record["output"].tolist()
    states = bp.OptimizerRecord.from_bytes(optimizer.to_record().into_bytes())
    assert len(states.ids()) == 1

    other, again = made()
    other.load_record(record)
    again.load_record(states)
    assert other.output is other.embedding.weight
    assert other.output.id == model.output.id
    step(model, optimizer)
    step(other, again)
    assert other.output.val().numpy().tobytes() == model.output.val().numpy().tobytes()
    assert other.num_params() == 2 * 15
