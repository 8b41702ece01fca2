"""Reductions, activations and module functions: names, keywords, shapes. Values in depth are the core's own tests."""

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ShapeError
from burnpy.tensor import activation, module

ARRAY = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def test_reductions_keep_their_axis() -> None:
    x = Tensor(ARRAY)
    for name in ("sum", "mean", "prod", "max", "min"):
        np.testing.assert_allclose(getattr(x, name)().numpy(), [getattr(ARRAY, name)()], rtol=1e-5)
        part = getattr(x, f"{name}_dim")(dim=-1)
        np.testing.assert_allclose(part.numpy(), getattr(ARRAY, name)(axis=-1, keepdims=True), rtol=1e-5)
        assert getattr(x, f"{name}_dims")(dims=[0, 1]).shape == (1, 1)
    assert x.sum_dims_squeeze(0).shape == (3,) and x.max_abs_dim(0).shape == (1, 3)
    np.testing.assert_allclose(x.var(0).numpy(), ARRAY.var(axis=0, ddof=1, keepdims=True), rtol=1e-5)
    variance, mean = x.var_mean_bias(0)
    np.testing.assert_allclose(variance.numpy(), ARRAY.var(axis=0, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(mean.numpy(), ARRAY.mean(axis=0, keepdims=True), rtol=1e-5)
    values, indices = x.max_dim_with_indices(1)
    assert np.array_equal(indices.numpy(), ARRAY.argmax(axis=1)[:, None]) and values.shape == (4, 1)
    assert np.array_equal(x.argmin(1).numpy(), ARRAY.argmin(axis=1)[:, None])
    assert (x > 100.0).any().item() is False and (x < 100.0).all_dim(0).tolist() == [[True, True, True]]


def test_softmax_and_its_kin() -> None:
    x = Tensor(ARRAY)
    wanted = np.exp(ARRAY) / np.exp(ARRAY).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(activation.softmax(x, 1).numpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(activation.log_softmax(x, dim=-1).numpy(), np.log(wanted), rtol=1e-4)
    np.testing.assert_allclose(activation.softmin(-x, 1).numpy(), wanted, rtol=1e-5)
    assert (activation.quiet_softmax(x, 1).sum_dim(1) < 1.0).all().item() is True
    with pytest.raises(ShapeError, match="axis 2"):
        activation.softmax(x, 2)


def test_linear_with_bias_and_activation() -> None:
    x, weight, bias = Tensor(ARRAY), Tensor(ARRAY.T), Tensor(ARRAY[:, 0])
    wanted = ARRAY @ ARRAY.T + ARRAY[:, 0]
    np.testing.assert_allclose(module.linear(x, weight, bias).numpy(), wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        module.linear(x, weight, bias, activation="relu").numpy(), np.maximum(wanted, 0), rtol=1e-4, atol=1e-6
    )
    with pytest.raises(ValueError, match="activation"):
        module.linear(x, weight, activation="tan")  # type: ignore[arg-type]


def test_norms() -> None:
    x, gamma, beta = Tensor(ARRAY), Tensor([1.0, 2.0, 3.0]), Tensor([0.5, 0.5, 0.5])
    centred = ARRAY - ARRAY.mean(axis=1, keepdims=True)
    wanted = centred / np.sqrt(ARRAY.var(axis=1, keepdims=True) + 1e-5) * [1, 2, 3] + 0.5
    np.testing.assert_allclose(module.layer_norm(x, gamma, beta).numpy(), wanted, rtol=1e-3, atol=1e-5)
    scale = np.sqrt((ARRAY**2).mean(axis=1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(module.rms_norm(x, gamma).numpy(), ARRAY / scale * [1, 2, 3], rtol=1e-4)
    output, mean, variance = module.batch_norm_train(x, gamma, beta, epsilon=1e-5)
    np.testing.assert_allclose(mean.numpy(), ARRAY.mean(axis=0), rtol=1e-4, atol=1e-6)
    again = module.batch_norm(x, gamma, beta, mean, variance)
    np.testing.assert_allclose(again.numpy(), output.numpy(), rtol=1e-4, atol=1e-6)


def test_losses_and_tables() -> None:
    targets = Tensor([0, 2, 1, 1])
    rows = -activation.log_softmax(Tensor(ARRAY), 1).numpy()[np.arange(4), [0, 2, 1, 1]]
    np.testing.assert_allclose(module.cross_entropy(Tensor(ARRAY), targets).numpy(), [rows.mean()], rtol=1e-5)
    loss = module.cross_entropy(Tensor(ARRAY), targets, ignored=[1], reduction="none")
    np.testing.assert_allclose(loss.numpy(), rows * [1, 1, 0, 0], rtol=1e-5)
    assert module.embedding(Tensor(ARRAY), Tensor([[0, 3]])).shape == (1, 2, 3)
    with pytest.raises(ValueError, match="reduction"):
        module.cross_entropy(Tensor(ARRAY), targets, reduction="sum")  # type: ignore[arg-type]


def test_attention_hides_what_the_mask_says() -> None:
    x = Tensor(ARRAY.reshape(1, 1, 4, 3))
    mask = Tensor.from_numpy(np.triu(np.ones((1, 1, 4, 4), dtype=bool), 1))
    masked, causal = module.attention(x, x, x, mask), module.attention(x, x, x, is_causal=True)
    np.testing.assert_allclose(masked.numpy(), causal.numpy(), rtol=1e-5)
    np.testing.assert_allclose(causal.numpy()[0, 0, 0], ARRAY[0], rtol=1e-5)
