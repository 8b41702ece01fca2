"""How alike images look, from near and far: structural similarity at several scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnpy.errors import ConfigError, ShapeError
from burnpy.tensor import Device, Tensor
from burnpy.tensor.module import avg_pool2d
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.metric.metric_input import Values
from burnpy.train.metric.number_text import plain_float
from burnpy.train.metric.serialized_entry import SerializedEntry
from burnpy.train.metric.vision.image_input import ImageInput
from burnpy.train.metric.vision.structure import (
    check_kernel_size,
    check_positive,
    gaussian_kernel,
    similarity_maps,
)

__all__ = ["MsSsimInput", "MsSsimMetric", "MsSsimMetricConfig"]


class MsSsimInput(ImageInput):
    """Images ``(batch, channels, height, width)``, and what they should be."""

    __slots__ = ()


@dataclass(frozen=True)
class MsSsimMetricConfig:
    """As ``SsimMetricConfig``, with the number of channels, and an exponent for each scale.

    Raises:
        ConfigError: a number is not positive and finite, ``kernel_size`` is even, or ``betas`` are none, negative, not
            finite or all 0.
    """

    pixel_range: float
    k1: float = 0.01
    k2: float = 0.03
    kernel_size: int = 11
    sigma: float = 1.5
    channels: int = 3
    betas: Sequence[float] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)

    def __post_init__(self) -> None:
        check_positive(
            pixel_range=self.pixel_range, k1=self.k1, k2=self.k2, sigma=self.sigma, channels=self.channels
        )
        check_kernel_size(self.kernel_size)
        object.__setattr__(self, "betas", tuple(self.betas))
        if not any(self.betas) or not all(0.0 <= beta < math.inf for beta in self.betas):
            raise ConfigError(f"betas must be finite, at least 0, and not all 0, got {list(self.betas)}")

    def with_k1_k2(self, k1: float, k2: float) -> MsSsimMetricConfig:
        """The same with other constants."""
        return replace(self, k1=k1, k2=k2)

    def with_kernel_size(self, kernel_size: int) -> MsSsimMetricConfig:
        """The same with a window of another size."""
        return replace(self, kernel_size=kernel_size)

    def with_sigma(self, sigma: float) -> MsSsimMetricConfig:
        """The same with a window of another width."""
        return replace(self, sigma=sigma)

    def with_channels(self, channels: int) -> MsSsimMetricConfig:
        """The same for images of so many channels."""
        return replace(self, channels=channels)

    def with_betas(self, betas: Sequence[float]) -> MsSsimMetricConfig:
        """The same with other exponents, from the finest scale to the coarsest."""
        return replace(self, betas=tuple(betas))


class MsSsimMetric(MeanMetric):
    """Structural similarity at several scales, each half of the one before, multiplied; images are mirrored at edges.

    Args:
        config: ``MsSsimMetricConfig``.
        device: Burn's argument; the window is on the images' device here.

    Raises:
        ShapeError: by ``update``: images have another number of channels, or at the coarsest scale
            are smaller than the window.

    Example:
        >>> from burnpy import Tensor
        >>> metric = MsSsimMetric(MsSsimMetricConfig(1.0, channels=1, betas=[0.5, 0.5]))
        >>> image = Tensor.ones((1, 1, 24, 24))
        >>> metric.name(), round(metric.update(image, image) and metric.result(), 4)
        ('MS-SSIM (pr=1, k=11, σ=1.5)', 1.0)

    Source: Burn ``metric::MsSsimMetric``; Wang et al. 2003.
    """

    Input = MsSsimInput
    precision = 4

    def __init__(self, config: MsSsimMetricConfig, device: Device | None = None) -> None:
        super().__init__()
        self.config = config
        window = f"k={config.kernel_size}, σ={plain_float(config.sigma)}"
        self._name = f"MS-SSIM (pr={plain_float(config.pixel_range)}, {window})"

    def with_name(self, name: str) -> MsSsimMetric:
        """A copy of another name."""
        return self._with(_name=name)

    def name(self) -> str:
        """The name."""
        return self._name

    def update(
        self, input: MsSsimInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``MsSsimInput``, or outputs and targets."""
        batch = MsSsimInput.of(input, metadata)
        self._check(batch.outputs.shape)
        return self.add(self._similarity(batch.outputs, batch.targets).mean().item(), batch.outputs.shape[0])

    def _check(self, shape: tuple[int, ...]) -> None:
        _, channels, height, width = shape
        if channels != self.config.channels:
            raise ShapeError(f"images have {channels} channels, the configuration {self.config.channels}")
        least = self.config.kernel_size * 2 ** (len(self.config.betas) - 1)
        if min(height, width) < least:
            raise ShapeError(
                f"images of {height}x{width} are smaller than {least}, the window at the coarsest scale"
            )

    def _similarity(self, x: Tensor, y: Tensor) -> Tensor:
        """Of each image and channel, ``(batch, channels, 1, 1)``."""
        config = self.config
        constants = ((config.k1 * config.pixel_range) ** 2, (config.k2 * config.pixel_range) ** 2)
        kernel = gaussian_kernel(config.kernel_size, config.sigma)
        *finer, coarsest = config.betas
        factors = []
        for beta in finer:
            _, structure = similarity_maps(x, y, kernel, constants, reflect=True)
            factors.append(_factor(structure, beta))
            x, y = avg_pool2d(x, 2, stride=2), avg_pool2d(y, 2, stride=2)
        luminance, structure = similarity_maps(x, y, kernel, constants, reflect=True)
        product = _factor(luminance.mul(structure), coarsest)
        for factor in factors:
            product = product.mul(factor)
        return product


def _factor(similarity: Tensor, beta: float) -> Tensor:
    return similarity.mean_dims([2, 3]).clamp_min(0.0).powf_scalar(beta)
