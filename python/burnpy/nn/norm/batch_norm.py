"""Batch normalisation."""

from __future__ import annotations

import math

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.errors import ConfigError
from burnpy.module import Flag, Initializer, Module, RunningState
from burnpy.nn.norm.check import check_axis
from burnpy.nn.training import is_training, shown
from burnpy.tensor import Device, Tensor
from burnpy.tensor import module as ops

__all__ = ["BatchNorm", "BatchNormConfig"]


class BatchNormConfig(Config):
    """What a :class:`BatchNorm` is made of.

    Raises:
        ConfigError: ``num_features`` is below 1, ``epsilon`` not finite or not above 0, or ``momentum`` not in [0, 1].

    Example:
        >>> print(BatchNormConfig(3).init())
        BatchNorm {num_features: 3, momentum: 0.1, epsilon: 0.00001, params: 12}

    Source: Burn ``nn::BatchNormConfig``.
    """

    num_features: Positive
    _: KW_ONLY
    epsilon: float = 1e-5
    momentum: float = 0.1

    def validate(self) -> None:
        """Check the numbers."""
        if not (math.isfinite(self.epsilon) and self.epsilon > 0):
            raise ConfigError(f"BatchNormConfig: epsilon must be finite and above 0, got {self.epsilon}")
        if not 0 <= self.momentum <= 1:
            raise ConfigError(f"BatchNormConfig: momentum must lie in [0, 1], got {self.momentum}")

    def init(self, device: Device | None = None) -> BatchNorm:
        """The module: factors 1, shifts 0, running means 0 and variances 1."""
        return BatchNorm(self, device)


class BatchNorm(Module):
    """Subtracts each channel's mean, divides by its standard deviation; then ``gamma * x + beta``.

    In training, mean and variance are those of the batch over all axes but 1, and move the running ones along:
    ``running = running * (1 - momentum) + batch * momentum``. In inference they are the running ones. Training is: an
    input on an autodiff device, and the flag ``training`` on.

    The variance is divided by the number of elements, also the running one; PyTorch's running variance is by one less.
    Running values have a pending part, which ``valid()`` and records fold in; see :class:`RunningState`. A forward pass
    inside ``autodiff.checkpoint`` is run twice and moves them once.

    Shapes:
        x: ``(batch, num_features, ...)``
        gamma, beta, running_mean, running_var: ``(num_features,)``
        returns: as ``x``

    Raises:
        ShapeError: ``x`` has less than two axes, or axis 1 is not ``num_features``.

    Example:
        >>> norm = BatchNormConfig(1, momentum=1.0).init()
        >>> norm(Tensor([[2.0], [6.0]])).round_to(3).tolist()
        [[-1.0], [1.0]]
        >>> norm.running_mean.value_sync().item(), norm.running_var.value_sync().item()
        (4.0, 4.0)

    Source: Burn ``nn::BatchNorm``; Ioffe & Szegedy 2015.
    """

    def __init__(self, config: BatchNormConfig, device: Device | None = None) -> None:
        shape = (config.num_features,)
        self.gamma = Initializer.Ones().init(shape, device)
        self.beta = Initializer.Zeros().init(shape, device)
        self.running_mean = RunningState(Tensor.zeros(shape, device))
        self.running_var = RunningState(Tensor.ones(shape, device))
        self.momentum = config.momentum
        self.epsilon = config.epsilon
        self.training = Flag(True)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised; in training the running values move along."""
        gamma, beta = self.gamma.val(), self.beta.val()
        check_axis(self, x, 1, gamma.shape[0])
        if is_training(self.training, x):
            y, mean, variance = ops.batch_norm_train(x, gamma, beta, epsilon=self.epsilon)
            self._follow(self.running_mean, mean)
            self._follow(self.running_var, variance)
            return y
        mean, variance = self.running_mean.value(), self.running_var.value()
        return ops.batch_norm(x, gamma, beta, mean, variance, epsilon=self.epsilon)

    def _follow(self, running: RunningState, batch: Tensor) -> None:
        committed = running.value_sync()
        running.update(committed * (1 - self.momentum) + batch.inner() * self.momentum)

    def display_content(self) -> list[tuple[str, object]]:
        """Size and settings, and the flag where it is off."""
        return [
            ("num_features", self.beta.lazy_shape()[0]),
            ("momentum", self.momentum),
            ("epsilon", self.epsilon),
            *shown(self.training),
        ]
