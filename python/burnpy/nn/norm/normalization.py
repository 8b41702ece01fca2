"""A normalisation that a configuration chooses."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from burnpy.config import Variants
from burnpy.module import EnumModule, Module
from burnpy.nn.identity import Identity
from burnpy.nn.norm.batch_norm import BatchNormConfig
from burnpy.nn.norm.group_norm import GroupNormConfig
from burnpy.nn.norm.instance_norm import InstanceNormConfig
from burnpy.nn.norm.layer_norm import LayerNormConfig
from burnpy.nn.norm.rms_norm import RmsNormConfig
from burnpy.tensor import Device, Tensor

__all__ = ["Normalization", "NormalizationConfig"]


class NormalizationConfig(Variants):
    """Which normalisation: ``Identity()``, or ``Batch``, ``Group``, ``Instance``, ``Layer``, ``Rms`` of a config.

    Example:
        >>> config = NormalizationConfig.Batch(BatchNormConfig(3))
        >>> config.with_num_features(5).num_features()
        5

    Source: Burn ``nn::norm::NormalizationConfig``.
    """

    Identity: ClassVar[type[_Identity]]
    Batch: ClassVar[type[_Batch]]
    Group: ClassVar[type[_Group]]
    Instance: ClassVar[type[_Instance]]
    Layer: ClassVar[type[_Layer]]
    Rms: ClassVar[type[_Rms]]

    def init(self, device: Device | None = None) -> Normalization:
        """The module."""
        return Normalization(self, device)

    def _layer(self, device: Device | None) -> Module:
        return Identity()

    def num_features(self) -> int | None:
        """How many channels, or features for ``Layer`` and ``Rms``; ``None`` for ``Identity``, which takes any."""
        return None

    def with_num_features(self, num_features: int) -> NormalizationConfig:
        """The same normalisation of so many channels or features.

        Raises:
            ConfigError: they do not divide into the groups of ``Group``.
        """
        return self


class _Identity(NormalizationConfig, of=NormalizationConfig, name="Identity"):
    """None."""


class _Configured(NormalizationConfig):
    """A variant that carries a configuration."""

    _size: ClassVar[str] = "num_features"
    value: BatchNormConfig | GroupNormConfig | InstanceNormConfig | LayerNormConfig | RmsNormConfig

    def _layer(self, device: Device | None) -> Module:
        return self.value.init(device)

    def num_features(self) -> int | None:
        size: int = getattr(self.value, self._size)
        return size

    def with_num_features(self, num_features: int) -> NormalizationConfig:
        return replace(self, value=replace(self.value, **{self._size: num_features}))  # type: ignore[arg-type]


class _Batch(_Configured, of=NormalizationConfig, name="Batch"):
    """Over the batch."""

    value: BatchNormConfig


class _Group(_Configured, of=NormalizationConfig, name="Group"):
    """Over groups of channels."""

    _size: ClassVar[str] = "num_channels"
    value: GroupNormConfig


class _Instance(_Configured, of=NormalizationConfig, name="Instance"):
    """Over each channel."""

    _size: ClassVar[str] = "num_channels"
    value: InstanceNormConfig


class _Layer(_Configured, of=NormalizationConfig, name="Layer"):
    """Over the last axis."""

    _size: ClassVar[str] = "d_model"
    value: LayerNormConfig


class _Rms(_Configured, of=NormalizationConfig, name="Rms"):
    """By the root mean square of the last axis."""

    _size: ClassVar[str] = "d_model"
    value: RmsNormConfig


class Normalization(EnumModule):
    """The normalisation that a config chose; its name is part of the paths in a record, as in ``norm.Batch.gamma``.

    Shapes:
        x: as the chosen one takes it
        returns: as ``x``

    Example:
        >>> norm = NormalizationConfig.Layer(LayerNormConfig(2)).init()
        >>> [path for path, _ in norm.named_params()]
        ['Layer.gamma', 'Layer.beta']

    Source: Burn ``nn::norm::Normalization``.
    """

    def __init__(self, config: NormalizationConfig, device: Device | None = None) -> None:
        setattr(self, type(config).__name__, config._layer(device))

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised."""
        layer = self.payload
        assert isinstance(layer, Module), f"{layer!r} is no module"
        y: Tensor = layer.forward(x)
        return y
