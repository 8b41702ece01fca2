"""Signal against noise of images."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from burnpy.errors import ConfigError
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import Values
from burnpy.train.metric.number_text import plain_float
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.vision.image_input import ImageInput

__all__ = ["PsnrInput", "PsnrMetric", "PsnrMetricConfig"]


class PsnrInput(ImageInput):
    """Images ``(batch, channels, height, width)``, and what they should be."""

    __slots__ = ()


@dataclass(frozen=True)
class PsnrMetricConfig:
    """The highest value of a pixel, and the least error that is told from none.

    Raises:
        ConfigError: one of them is not positive.
    """

    max_pixel_val: float
    epsilon: float = 1e-10

    def __post_init__(self) -> None:
        for name, value in (("max_pixel_val", self.max_pixel_val), ("epsilon", self.epsilon)):
            if not value > 0.0:
                raise ConfigError(f"{name} must be positive, got {value}")

    def with_epsilon(self, epsilon: float) -> PsnrMetricConfig:
        """The same with another epsilon."""
        return replace(self, epsilon=epsilon)


class PsnrMetric(MeanMetric):
    """Decibels: ``10·log10(max² / mse)`` of each image, and their mean.

    Example:
        >>> from burnpy import Tensor
        >>> metric = PsnrMetric(PsnrMetricConfig(1.0))
        >>> metric.name(), metric.update(Tensor.full((1, 1, 4, 4), 0.5), Tensor.full((1, 1, 4, 4), 0.6)).formatted
        ('PSNR@1', 'epoch 20.00 dB - batch 20.00 dB')

    Source: Burn ``metric::PsnrMetric``.
    """

    Input = PsnrInput
    unit = "dB"

    def __init__(self, config: PsnrMetricConfig) -> None:
        super().__init__()
        self.config = config
        self._name = f"PSNR@{plain_float(config.max_pixel_val)}"

    def with_name(self, name: str) -> PsnrMetric:
        """A copy of another name."""
        return self._with(_name=name)

    def name(self) -> str:
        """The name."""
        return self._name

    def update(
        self, input: PsnrInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``PsnrInput``, or outputs and targets."""
        batch = PsnrInput.of(input, metadata)
        errors = batch.outputs.sub(batch.targets).square().mean_dims([1, 2, 3])
        logs = errors.clamp_min(self.config.epsilon).log().mean().item()
        decibels = 10.0 / math.log(10.0) * (2.0 * math.log(self.config.max_pixel_val) - logs)
        return self.add(decibels, batch.outputs.shape[0])
