"""Layers that behave otherwise in training: dropout, noise, batch normalisation."""

import threading
from typing import Any

import numpy as np
import pytest

from burnpy import Device, ParamGroup, Tensor, autodiff, manual_seed, nn
from burnpy.module import Module

NOISY: list[Any] = [nn.DropoutConfig(0.5), nn.GaussianNoiseConfig(1.0)]
NAMES = [type(config).__name__ for config in NOISY]


def changes(module: Module, x: Tensor) -> bool:
    return not (module(x).numpy() == x.numpy()).all()


@pytest.mark.parametrize("config", NOISY, ids=NAMES)
def test_only_an_autodiff_input_to_a_module_with_its_flag_on_is_changed(config: Any) -> None:
    x = Tensor.ones((8, 8))
    assert x.is_autodiff() and changes(config.init(), x)
    assert config.init()(x.inner()) is not None and not changes(config.init(), x.inner())
    assert not changes(config.init().valid(), x)
    assert not changes(config.init().freeze(), x)


@pytest.mark.parametrize("config", NOISY, ids=NAMES)
def test_training_comes_back_as_it_was_configured(config: Any) -> None:
    x = Tensor.ones((8, 8))
    assert changes(config.init().valid().train(), x)
    assert not changes(config.init().freeze().valid().train(), x)
    assert changes(config.init().freeze().unfreeze(), x)
    assert not changes(config.init().freeze_group(ParamGroup.from_path("training")), x)


@pytest.mark.parametrize("config", NOISY, ids=NAMES)
def test_a_flag_that_is_off_is_shown(config: Any) -> None:
    assert str(config.init().valid()).endswith(", training: disabled}")
    assert "training" not in str(config.init())


@pytest.mark.parametrize(
    "config", [nn.DropoutConfig(0.0), nn.GaussianNoiseConfig(0.0), nn.GaussianNoiseConfig(-0.0)]
)
def test_nothing_is_done_where_nothing_is_asked_for(config: Any) -> None:
    x = Tensor.ones((3,))
    assert config.init()(x) is x


def test_dropout_keeps_the_mean_and_its_mask_is_that_of_the_gradient() -> None:
    manual_seed(4)
    x = Tensor.ones((200, 200)).require_grad()
    y = nn.DropoutConfig(0.25).init()(x)
    assert set(np.unique(y.numpy()).tolist()) == {0.0, float(np.float32(1) / np.float32(0.75))}
    assert y.mean().item() == pytest.approx(1.0, abs=0.02)
    gradient = x.grad(y.backward())
    assert gradient is not None and (gradient.numpy() == y.numpy()).all()


def test_noise_has_its_deviation_and_leaves_the_gradient_alone() -> None:
    manual_seed(5)
    x = Tensor.zeros((200, 200)).require_grad()
    y = nn.GaussianNoiseConfig(0.5).init()(x)
    assert y.numpy().std() == pytest.approx(0.5, rel=0.02) and abs(y.numpy().mean()) < 0.01
    gradient = x.grad(y.backward())
    assert gradient is not None and (gradient.numpy() == 1).all()


@pytest.mark.parametrize("config", NOISY, ids=NAMES)
def test_each_call_draws_anew_and_a_seed_repeats_them(config: Any) -> None:
    module, x = config.init(), Tensor.ones((8, 8))
    manual_seed(6)
    first, second = module(x).tolist(), module(x).tolist()
    manual_seed(6)
    assert [module(x).tolist(), module(x).tolist()] == [first, second] and first != second


# ---- batch normalisation

BATCH = [[1.0, 5.0], [3.0, 9.0]]


def values(norm: nn.BatchNorm) -> tuple[Any, Any]:
    return norm.running_mean.value_sync().tolist(), norm.running_var.value_sync().tolist()


def test_inference_uses_the_running_values_and_leaves_them_alone() -> None:
    norm = nn.BatchNormConfig(2, epsilon=1e-12).init()
    before = values(norm)
    assert norm(Tensor(BATCH).inner()).tolist() == BATCH
    assert norm.valid()(Tensor(BATCH)).tolist() == BATCH
    assert values(norm) == before == ([0, 0], [1, 1])


def test_freezing_the_factors_alone_keeps_training() -> None:
    norm = nn.BatchNormConfig(2, momentum=1.0).init().freeze_group(ParamGroup.from_path("gamma"))
    norm(Tensor(BATCH))
    assert values(norm) == ([2, 7], [1, 4])


def test_freezing_all_of_it_stops_training() -> None:
    norm = nn.BatchNormConfig(2, momentum=1.0).init().freeze()
    norm(Tensor(BATCH))
    assert values(norm) == ([0, 0], [1, 1])


def test_the_newest_values_are_pending_until_they_are_asked_for() -> None:
    norm = nn.BatchNormConfig(1, momentum=1.0).init()
    norm(Tensor([[1.0], [3.0]]))
    assert norm.running_mean.value().item() == 0
    norm(Tensor([[2.0], [6.0]]))
    assert norm.running_mean.value().item() == 2
    assert norm.valid().running_mean.value().item() == 4
    assert norm.into_record()["running_mean"].item() == 4


def test_batches_of_several_threads_are_averaged() -> None:
    norm = nn.BatchNormConfig(1, momentum=1.0).init()
    batches = [Tensor([[1.0], [3.0]]), Tensor([[5.0], [9.0]])]
    # A thread whose number is used again would be taken for the same one.
    together = threading.Barrier(len(batches))

    def step(batch: Tensor) -> None:
        together.wait()
        norm(batch)
        together.wait()

    threads = [threading.Thread(target=step, args=(batch,)) for batch in batches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values(norm) == ([0], [1]), "this thread left nothing"
    assert values(norm.valid()) == ([4.5], [2.5])


def test_running_values_ask_for_no_gradient_and_keep_no_graph() -> None:
    norm = nn.BatchNormConfig(2).init()
    norm(Tensor(BATCH).require_grad())
    assert not norm.running_mean.value_sync().is_tracked()
    assert not norm.running_var.value_sync().is_autodiff()


def test_a_module_that_was_copied_gathers_values_of_its_own() -> None:
    norm = nn.BatchNormConfig(2, momentum=1.0).init()
    copy = norm.clone()
    norm(Tensor(BATCH))
    assert values(copy) == ([0, 0], [1, 1]) and values(norm) == ([2, 7], [1, 4])


def test_a_forward_pass_that_is_run_again_for_gradients_moves_the_running_values_once() -> None:
    norm = nn.BatchNormConfig(1, momentum=0.5).init()
    y = autodiff.checkpoint(norm.forward, Tensor([[1.0], [3.0]]).require_grad())
    assert norm.running_mean.value_sync().item() == 1
    y.backward()
    assert norm.running_mean.value_sync().item() == 1


def test_a_batch_norm_of_a_plain_device_infers() -> None:
    norm = nn.BatchNormConfig(2, momentum=1.0).init(Device.cpu())
    assert not norm.gamma.val().is_autodiff()
    norm(Tensor(BATCH, device=Device.cpu()))
    assert values(norm) == ([0, 0], [1, 1])


@pytest.mark.parametrize("channels", [1, 2, 5, 16, 21])
def test_batch_norm_in_inference_keeps_infinities_and_nan_in_their_place(channels: int) -> None:
    x = np.zeros((3, channels, 2, 2), np.float32)
    x[0, 0], x[1, -1], x[2, 0, 0, 0] = np.inf, -np.inf, np.nan
    norm = nn.BatchNormConfig(channels).init().valid()
    last = Tensor.from_numpy(np.ascontiguousarray(x.transpose(0, 2, 3, 1))).permute((0, 3, 1, 2))
    for y in (norm(Tensor.from_numpy(x)).numpy(), norm(last).numpy()):
        assert (np.isnan(y) == np.isnan(x)).all() and (np.isinf(y) == np.isinf(x)).all()
        assert (y[0, 0] == np.inf).all() and (y[1, -1] == -np.inf).all()
    tracked = Tensor.from_numpy(x).require_grad()
    gradient = tracked.grad(norm(tracked).backward())
    assert gradient is not None and np.allclose(gradient.numpy(), 1.0 / np.sqrt(1.0 + 1e-5), rtol=1e-6)
