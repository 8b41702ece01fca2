"""Normalisation by the root mean square."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.errors import ConfigError
from burnpy.module import Initializer, Module
from burnpy.nn.norm.check import check_axis
from burnpy.tensor import Device, Tensor
from burnpy.tensor import module as ops

__all__ = ["RmsNorm", "RmsNormConfig"]


class RmsNormConfig(Config):
    """What an :class:`RmsNorm` is made of.

    Raises:
        ConfigError: ``epsilon`` is not above 0.

    Example:
        >>> print(RmsNormConfig(6).init())
        RmsNorm {d_model: 6, epsilon: 0.00001, params: 6}

    Source: Burn ``nn::RmsNormConfig``.
    """

    d_model: NonNegative
    _: KW_ONLY
    epsilon: float = 1e-5

    def validate(self) -> None:
        """Check the number."""
        if not self.epsilon > 0:
            raise ConfigError(f"RmsNormConfig: epsilon must be above 0, got {self.epsilon}")

    def init(self, device: Device | None = None) -> RmsNorm:
        """The module: factors 1."""
        return RmsNorm(self, device)


class RmsNorm(Module):
    """``gamma * x / sqrt(mean(x ** 2) + epsilon)`` over the last axis.

    Half precision is computed in single precision. PyTorch's default epsilon is the machine's.

    Unlike Burn: double precision stays double, where Burn takes the root in single precision.

    Shapes:
        x: ``(..., d_model)``
        gamma: ``(d_model,)``
        returns: as ``x``

    Raises:
        ShapeError: the last axis of ``x`` is not ``d_model``.

    Example:
        >>> RmsNormConfig(2).init()(Tensor([[3.0, -3.0]])).round_to(3).tolist()
        [[1.0, -1.0]]

    Source: Burn ``nn::RmsNorm``; Zhang & Sennrich 2019.
    """

    def __init__(self, config: RmsNormConfig, device: Device | None = None) -> None:
        self.gamma = Initializer.Ones().init((config.d_model,), device)
        self.epsilon = config.epsilon

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised."""
        gamma = self.gamma.val()
        check_axis(self, x, -1, gamma.shape[0])
        return ops.rms_norm(x, gamma, epsilon=self.epsilon)

    def display_content(self) -> list[tuple[str, object]]:
        """Size and setting."""
        return [("d_model", self.gamma.lazy_shape()[0]), ("epsilon", self.epsilon)]
