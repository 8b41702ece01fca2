"""PRelu."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.module import Initializer, Module, Param
from burnpy.tensor import Device, Tensor, activation

__all__ = ["PRelu", "PReluConfig"]


class PReluConfig(Config):
    """What a :class:`PRelu` is made of.

    Attributes:
        num_parameters: 1, or one for each element of axis 1.
        alpha: the first value of the slopes.

    Example:
        >>> print(PReluConfig().init())
        PRelu {num_parameters: 1, alpha_value: 0.25, params: 1}

    Source: Burn ``nn::PReluConfig``.
    """

    _: KW_ONLY
    num_parameters: Positive = 1
    alpha: float = 0.25

    def init(self, device: Device | None = None) -> PRelu:
        """The module."""
        return PRelu(self, device)


class PRelu(Module):
    """``x`` where ``x >= 0``, else ``alpha x`` with learned slopes, element by element.

    Shapes:
        x: any; with more than one slope ``(N, num_parameters, ...)``
        alpha: ``(num_parameters,)``
        returns: as ``x``

    Raises:
        ShapeError: there is more than one slope, and not as many as axis 1 is long.

    Example:
        >>> from burnpy import Tensor
        >>> PReluConfig().init()(Tensor([-4.0, 2.0])).tolist()
        [-1.0, 2.0]

    Source: Burn ``nn::PRelu``; He et al. 2015.
    """

    alpha: Param

    def __init__(self, config: PReluConfig, device: Device | None = None) -> None:
        self.alpha = Initializer.Constant(config.alpha).init((config.num_parameters,), device)
        self.alpha_value = config.alpha

    def forward(self, x: Tensor) -> Tensor:
        """Of the same shape."""
        return activation.prelu(x, self.alpha.val())

    def display_content(self) -> list[tuple[str, object]]:
        """How many slopes, and what they were first."""
        return [("num_parameters", self.alpha.lazy_shape()[0]), ("alpha_value", self.alpha_value)]
