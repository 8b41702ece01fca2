"""Layers and their configurations, pickled and copied."""

import copy
import pickle
from typing import Any

import pytest

from burnpy import Tensor, nn
from burnpy.module import RunningState

CONFIGS: list[Any] = [
    nn.LinearConfig(3, 5, layout=nn.LinearLayout.Col),
    nn.EmbeddingConfig(3, 5),
    nn.Conv1dConfig(2, 4, 3, padding=nn.PaddingConfig1d.Same()),
    nn.Conv2dConfig((2, 4), (3, 3), padding=nn.PaddingConfig2d.Explicit(1, 2, 3, 4)),
    nn.Conv3dConfig((2, 4), (3, 3, 3), groups=2),
    nn.ConvTranspose2dConfig((2, 4), (3, 3)),
    nn.DeformConv2dConfig((2, 4), (3, 3)),
    nn.BatchNormConfig(3),
    nn.NormalizationConfig.Layer(nn.LayerNormConfig(3)),
    nn.GroupNormConfig(1, 3, affine=False),
    nn.MaxPool2dConfig((2, 2)),
    nn.DropoutConfig(0.5),
    nn.Interpolate2dConfig(output_size=(2, 2), mode=nn.InterpolateMode.Cubic),
]


def contents(module: Any) -> list[tuple[str, Any]]:
    return [
        (path, (leaf.fold() if isinstance(leaf, RunningState) else leaf.val()).tolist())
        for path, leaf in module.named_params()
    ]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: type(config).__name__)
def test_a_configuration_is_equal_to_its_copies(config: Any) -> None:
    for same in (pickle.loads(pickle.dumps(config)), copy.deepcopy(config)):
        assert same == config and hash(same) == hash(config)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: type(config).__name__)
def test_a_pickled_module_is_shown_as_before_and_has_the_same_values(config: Any) -> None:
    module = config.init()
    again = pickle.loads(pickle.dumps(module))
    assert str(again) == str(module) and contents(again) == contents(module)


def test_a_batch_without_samples_has_none_in_the_output() -> None:
    x = Tensor.zeros((0, 3, 8, 8))
    assert nn.Conv2dConfig((3, 4), (3, 3)).init()(x).shape == (0, 4, 6, 6)
    assert nn.MaxPool2dConfig((2, 2)).init()(x).shape == (0, 3, 4, 4)
    assert nn.LayerNormConfig(8).init()(x).shape == x.shape
    assert nn.LinearConfig(8, 2).init()(x).shape == (0, 3, 8, 2)
