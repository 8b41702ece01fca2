"""How alike images look: structural similarity."""

from __future__ import annotations

from dataclasses import dataclass, replace

from burnpy.errors import ShapeError
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

__all__ = ["SsimInput", "SsimMetric", "SsimMetricConfig"]


class SsimInput(ImageInput):
    """Images ``(batch, channels, height, width)``, and what they should be."""

    __slots__ = ()


@dataclass(frozen=True)
class SsimMetricConfig:
    """The range of pixels, the two constants, and the window.

    Raises:
        ConfigError: a number is not positive and finite, or ``kernel_size`` is even.
    """

    pixel_range: float
    k1: float = 0.01
    k2: float = 0.03
    kernel_size: int = 11
    sigma: float = 1.5

    def __post_init__(self) -> None:
        check_positive(pixel_range=self.pixel_range, k1=self.k1, k2=self.k2, sigma=self.sigma)
        check_kernel_size(self.kernel_size)

    def with_k1_k2(self, k1: float, k2: float) -> SsimMetricConfig:
        """The same with other constants."""
        return replace(self, k1=k1, k2=k2)

    def with_kernel_size(self, kernel_size: int) -> SsimMetricConfig:
        """The same with a window of another size."""
        return replace(self, kernel_size=kernel_size)

    def with_sigma(self, sigma: float) -> SsimMetricConfig:
        """The same with a window of another width."""
        return replace(self, sigma=sigma)


class SsimMetric(MeanMetric):
    """Structural similarity, from -1 to 1: mean over pixels and channels, and over images; 0 beyond the edges.

    Raises:
        ShapeError: by ``update``: an image is smaller than the window.

    Example:
        >>> from burnpy import Tensor
        >>> metric = SsimMetric(SsimMetricConfig(1.0, kernel_size=3, sigma=1.0))
        >>> image = Tensor.ones((1, 1, 4, 4))
        >>> metric.name(), round(metric.update(image, image) and metric.result(), 4)
        ('SSIM (dr=1, w=3, σ=1)', 1.0)

    Source: Burn ``metric::SsimMetric``; Wang et al. 2004.
    """

    Input = SsimInput
    precision = 4

    def __init__(self, config: SsimMetricConfig) -> None:
        super().__init__()
        self.config = config
        window = f"w={config.kernel_size}, σ={plain_float(config.sigma)}"
        self._name = f"SSIM (dr={plain_float(config.pixel_range)}, {window})"

    def with_name(self, name: str) -> SsimMetric:
        """A copy of another name."""
        return self._with(_name=name)

    def name(self) -> str:
        """The name."""
        return self._name

    def update(
        self, input: SsimInput | Values, metadata: MetricMetadata | Values | None = None
    ) -> SerializedEntry:
        """Take a batch in: a ``SsimInput``, or outputs and targets."""
        batch, config = SsimInput.of(input, metadata), self.config
        images, _, height, width = batch.outputs.shape
        if min(height, width) < config.kernel_size:
            raise ShapeError(
                f"images of {height}x{width} are smaller than the window of {config.kernel_size}"
            )
        constants = ((config.k1 * config.pixel_range) ** 2, (config.k2 * config.pixel_range) ** 2)
        kernel = gaussian_kernel(config.kernel_size, config.sigma)
        luminance, structure = similarity_maps(batch.outputs, batch.targets, kernel, constants, reflect=False)
        return self.add(luminance.mul(structure).mean().item(), images)
