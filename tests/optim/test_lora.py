"""Weights that are adapted by thin factors: the factors move alone, and have states of their own."""

import numpy as np

from burnpy import Tensor
from burnpy.module import Lora
from burnpy.optim import AdamConfig, GradientsParams, ModuleOptimizer, SgdConfig
from tests.optim.models import Affine, affine

X = Tensor.from_numpy(np.random.default_rng(1).standard_normal((16, 8)).astype(np.float32))
Y = Tensor.from_numpy(np.random.default_rng(2).standard_normal((16, 8)).astype(np.float32))


def adapted() -> Affine:
    model: Affine = affine(np.random.default_rng(0), 8).apply_lora(Lora(rank=4, alpha=8.0))
    return model


def train(model: Affine, optim: ModuleOptimizer, lr: float, steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        loss = (model(X) - Y).square().mean()
        losses.append(loss.item())
        model = optim.step(lr, model, GradientsParams.from_grads(loss.backward(), model))
    return losses


def test_factors_learn_and_the_weight_below_stays() -> None:
    model = adapted()
    factors, base = dict(model.named_params()), model.weight.base().to_numpy()
    assert not factors["weight.lora.b"].val().to_numpy().any()
    losses = train(model, SgdConfig().init(), 0.05, 30)
    assert losses[-1] < 0.8 * losses[0]
    assert factors["weight.lora.b"].val().to_numpy().any()
    np.testing.assert_array_equal(model.weight.base().numpy(), base)


def test_a_record_has_the_paths_of_the_factors_and_goes_on() -> None:
    model, optim = adapted(), AdamConfig().init()
    train(model, optim, 0.01, 3)
    record = optim.to_record()
    assert {record.path_of(id) for id in record.ids()} == {"weight.lora.a", "weight.lora.b"}
    copy, again = model.clone(), AdamConfig().init().load_record(record, strict=True)
    assert train(model, optim, 0.01, 3) == train(copy, again, 0.01, 3)
