"""Group normalisation."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.errors import ConfigError
from burnpy.module import Initializer, Module, Param
from burnpy.nn.norm.check import check_axis
from burnpy.tensor import Device, ShapeError, Tensor
from burnpy.tensor import module as ops

__all__ = ["GroupNorm", "GroupNormConfig", "normalise_groups"]


class GroupNormConfig(Config):
    """What a :class:`GroupNorm` is made of.

    Raises:
        ConfigError: a number is below 1, or channels do not divide into groups.

    Example:
        >>> print(GroupNormConfig(3, 6).init())
        GroupNorm {num_groups: 3, num_channels: 6, epsilon: 0.00001, affine: true, params: 12}

    Source: Burn ``nn::GroupNormConfig``.
    """

    num_groups: Positive
    num_channels: Positive
    _: KW_ONLY
    epsilon: float = 1e-5
    affine: bool = True

    def validate(self) -> None:
        """Check that channels divide into groups."""
        if self.num_channels % self.num_groups:
            raise ConfigError(
                f"GroupNormConfig: num_channels={self.num_channels} do not divide into num_groups={self.num_groups}"
            )

    def init(self, device: Device | None = None) -> GroupNorm:
        """The module: factors 1, shifts 0, or none of them."""
        return GroupNorm(self, device)


class GroupNorm(Module):
    """Subtracts the mean of each sample's group of channels, divides by its deviation; then ``gamma * x + beta``.

    The variance is divided by the number of elements. Half precision is computed in single precision.

    Shapes:
        x: ``(batch, num_channels, ...)``
        gamma, beta: ``(num_channels,)``, absent without ``affine``
        returns: as ``x``

    Raises:
        ShapeError: ``x`` has less than two axes or other channels, or no more than two elements.

    Example:
        >>> GroupNormConfig(1, 2).init()(Tensor([[[1.0, 1.0], [3.0, 3.0]]])).round_to(3).tolist()
        [[[-1.0, -1.0], [1.0, 1.0]]]

    Source: Burn ``nn::GroupNorm``; Wu & He 2018.
    """

    def __init__(self, config: GroupNormConfig, device: Device | None = None) -> None:
        shape = (config.num_channels,)
        self.gamma: Param | None = Initializer.Ones().init(shape, device) if config.affine else None
        self.beta: Param | None = Initializer.Zeros().init(shape, device) if config.affine else None
        self.num_groups = config.num_groups
        self.num_channels = config.num_channels
        self.epsilon = config.epsilon
        self.affine = config.affine

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised."""
        check_axis(self, x, 1, self.num_channels)
        return normalise_groups(self, x, self.num_groups, self.gamma, self.beta, self.epsilon)

    def display_content(self) -> list[tuple[str, object]]:
        """Sizes and settings."""
        names = ("num_groups", "num_channels", "epsilon", "affine")
        return [(name, getattr(self, name)) for name in names]


def normalise_groups(
    layer: Module, x: Tensor, num_groups: int, gamma: Param | None, beta: Param | None, epsilon: float
) -> Tensor:
    """``x`` normalised over each sample's groups of channels, then by channel ``gamma * x + beta``."""
    shape = x.shape
    if x.size <= 2:
        raise ShapeError(
            f"{type(layer).__name__}: needs more than two elements to normalise, got shape {list(shape)}"
        )
    groups = x.reshape(shape[0], num_groups, -1)
    ones = Tensor.ones((groups.shape[2],), dtype=x.dtype)
    y = ops.layer_norm(groups, ones, epsilon=epsilon).reshape(*shape)
    if gamma is None or beta is None:
        return y
    channels = (1, shape[1], *(1 for _ in shape[2:]))
    return y * gamma.val().reshape(*channels) + beta.val().reshape(*channels)
