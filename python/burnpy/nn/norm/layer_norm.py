"""Layer normalisation."""

from __future__ import annotations

from burnpy.config import KW_ONLY, Config, NonNegative
from burnpy.module import Initializer, Module, Param
from burnpy.nn.norm.check import check_axis
from burnpy.tensor import Device, Tensor
from burnpy.tensor import module as ops

__all__ = ["LayerNorm", "LayerNormConfig"]


class LayerNormConfig(Config):
    """What a :class:`LayerNorm` is made of.

    Example:
        >>> print(LayerNormConfig(6).init())
        LayerNorm {d_model: 6, epsilon: 0.00001, bias: true, params: 12}

    Source: Burn ``nn::LayerNormConfig``.
    """

    d_model: NonNegative
    _: KW_ONLY
    epsilon: float = 1e-5
    bias: bool = True

    def init(self, device: Device | None = None) -> LayerNorm:
        """The module: factors 1, shifts 0."""
        return LayerNorm(self, device)


class LayerNorm(Module):
    """``gamma * (x - mean) / sqrt(var + epsilon) + beta`` over the last axis, the variance divided by its size.

    Half precision is computed in single precision.

    Shapes:
        x: ``(..., d_model)``
        gamma, beta: ``(d_model,)``
        returns: as ``x``

    Raises:
        ShapeError: the last axis of ``x`` is not ``d_model``.

    Example:
        >>> LayerNormConfig(2).init()(Tensor([[1.0, 3.0]])).round_to(3).tolist()
        [[-1.0, 1.0]]

    Source: Burn ``nn::LayerNorm``; Ba et al. 2016.
    """

    def __init__(self, config: LayerNormConfig, device: Device | None = None) -> None:
        shape = (config.d_model,)
        self.gamma = Initializer.Ones().init(shape, device)
        self.beta: Param | None = Initializer.Zeros().init(shape, device) if config.bias else None
        self.epsilon = config.epsilon

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised."""
        gamma = self.gamma.val()
        check_axis(self, x, -1, gamma.shape[0])
        beta = None if self.beta is None else self.beta.val()
        return ops.layer_norm(x, gamma, beta, epsilon=self.epsilon)

    def display_content(self) -> list[tuple[str, object]]:
        """Size and settings."""
        return [
            ("d_model", self.gamma.lazy_shape()[0]),
            ("epsilon", self.epsilon),
            ("bias", self.beta is not None),
        ]
