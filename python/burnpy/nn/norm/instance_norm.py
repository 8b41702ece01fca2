"""Instance normalisation."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.module import Initializer, Module, Param
from burnpy.nn.norm.check import check_axis
from burnpy.nn.norm.group_norm import normalise_groups
from burnpy.tensor import Device, Tensor

__all__ = ["InstanceNorm", "InstanceNormConfig"]


class InstanceNormConfig(Config):
    """What an :class:`InstanceNorm` is made of. PyTorch's has no factors and shifts by default.

    Raises:
        ConfigError: ``num_channels`` is below 1.

    Example:
        >>> print(InstanceNormConfig(3).init())
        InstanceNorm {num_channels: 3, epsilon: 0.00001, affine: true, params: 6}

    Source: Burn ``nn::InstanceNormConfig``.
    """

    num_channels: Positive
    _: KW_ONLY
    epsilon: float = 1e-5
    affine: bool = True

    def init(self, device: Device | None = None) -> InstanceNorm:
        """The module: factors 1, shifts 0, or none of them."""
        return InstanceNorm(self, device)


class InstanceNorm(Module):
    """Subtracts the mean of each sample's channel, divides by its standard deviation; then ``gamma * x + beta``.

    As :class:`GroupNorm` with groups of one channel; there are no running statistics.

    Shapes:
        x: ``(batch, num_channels, ...)``
        gamma, beta: ``(num_channels,)``, absent without ``affine``
        returns: as ``x``

    Raises:
        ShapeError: ``x`` has less than two axes or other channels, or no more than two elements.

    Example:
        >>> InstanceNormConfig(1).init()(Tensor([[[1.0, 1.0, 3.0, 3.0]]])).round_to(3).tolist()
        [[[-1.0, -1.0, 1.0, 1.0]]]

    Source: Burn ``nn::InstanceNorm``; Ulyanov et al. 2016.
    """

    def __init__(self, config: InstanceNormConfig, device: Device | None = None) -> None:
        shape = (config.num_channels,)
        self.gamma: Param | None = Initializer.Ones().init(shape, device) if config.affine else None
        self.beta: Param | None = Initializer.Zeros().init(shape, device) if config.affine else None
        self.num_channels = config.num_channels
        self.epsilon = config.epsilon
        self.affine = config.affine

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised."""
        check_axis(self, x, 1, self.num_channels)
        return normalise_groups(self, x, self.num_channels, self.gamma, self.beta, self.epsilon)

    def display_content(self) -> list[tuple[str, object]]:
        """Size and settings."""
        return [("num_channels", self.num_channels), ("epsilon", self.epsilon), ("affine", self.affine)]
