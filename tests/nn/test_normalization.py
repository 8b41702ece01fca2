"""The normalisation that a configuration chooses."""

from typing import Any

import pytest

from burnpy import Tensor, nn
from burnpy.config import KW_ONLY, Config

CHOICES: list[tuple[str, Any]] = [
    ("Batch", nn.BatchNormConfig(4, momentum=0.5)),
    ("Group", nn.GroupNormConfig(2, 4)),
    ("Instance", nn.InstanceNormConfig(4)),
    ("Layer", nn.LayerNormConfig(4)),
    ("Rms", nn.RmsNormConfig(4)),
]
NAMES = [name for name, _ in CHOICES]


class BlockConfig(Config):
    size: int
    _: KW_ONLY
    norm: nn.NormalizationConfig = nn.NormalizationConfig.Batch(nn.BatchNormConfig(1))


@pytest.mark.parametrize(("name", "config"), CHOICES, ids=NAMES)
def test_it_computes_what_the_chosen_one_does_under_its_name(name: str, config: Any) -> None:
    x = Tensor.from_floats([[1.0, 2.0, 4.0, 8.0], [3.0, 5.0, 6.0, 7.0]])
    norm = getattr(nn.NormalizationConfig, name)(config).init()
    assert norm.variant == name and isinstance(norm.payload, getattr(nn, f"{name}Norm"))
    assert norm(x).tolist() == config.init()(x).tolist()
    assert [path for path, _ in norm.named_params()] == [
        f"{name}.{path}" for path, _ in config.init().named_params()
    ]


@pytest.mark.parametrize(("name", "config"), CHOICES, ids=NAMES)
def test_its_size_is_the_channels_or_features_of_the_chosen_one(name: str, config: Any) -> None:
    choice = getattr(nn.NormalizationConfig, name)(config)
    assert choice.num_features() == 4
    larger = choice.with_num_features(8)
    assert larger.num_features() == 8 and choice.num_features() == 4
    assert larger.init()(Tensor.ones((2, 8))).shape == (2, 8)
    assert larger.value.epsilon == config.epsilon


def test_an_identity_takes_any_size() -> None:
    choice = nn.NormalizationConfig.Identity()
    assert choice.num_features() is None and choice.with_num_features(3) == choice
    x = Tensor.ones((2, 3))
    assert choice.init()(x) is x and choice.init().num_params() == 0


@pytest.mark.parametrize(("name", "config"), CHOICES, ids=NAMES)
def test_a_choice_is_a_field_of_a_configuration(name: str, config: Any) -> None:
    block = BlockConfig(3, norm=getattr(nn.NormalizationConfig, name)(config))
    assert BlockConfig.load_binary(str(block).encode()) == block


def test_a_choice_without_a_configuration_need_not_be_called() -> None:
    assert BlockConfig(3).with_norm(nn.NormalizationConfig.Identity).norm == nn.NormalizationConfig.Identity()
    assert '"norm": "Identity"' in str(BlockConfig(3, norm=nn.NormalizationConfig.Identity()))
