"""What SSIM and MS-SSIM share: windows, and the two maps of similarity."""

from __future__ import annotations

import math

from burnpy.errors import ConfigError
from burnpy.tensor import Tensor
from burnpy.tensor.module import conv2d

__all__ = ["check_kernel_size", "check_positive", "gaussian_kernel", "similarity_maps"]


def gaussian_kernel(size: int, sigma: float) -> list[float]:
    """A window of this odd size, ``exp(-(i - size // 2)² / 2σ²)``, of sum 1.

    Example:
        >>> [round(weight, 8) for weight in gaussian_kernel(3, 1.0)]
        [0.27406862, 0.45186276, 0.27406862]
    """
    weights = [math.exp(-((i - size // 2) ** 2) / (2.0 * sigma**2)) for i in range(size)]
    return [weight / math.fsum(weights) for weight in weights]


def similarity_maps(
    x: Tensor, y: Tensor, kernel: list[float], constants: tuple[float, float], *, reflect: bool
) -> tuple[Tensor, Tensor]:
    """Of luminance, and of contrast and structure: each ``(batch, channels, height, width)``, as the images.

    Args:
        x: images.
        y: the others.
        kernel: a window, for both axes.
        constants: ``C1`` and ``C2``, which keep the quotients from 0 / 0.
        reflect: what is beyond the edge: the image mirrored, or 0.

    Source: Wang et al. 2004, eqs. 6 and 13.
    """
    n, channels, height, width = x.shape
    stacked = Tensor.cat([x, y, x.square(), y.square(), x.mul(y)], 0)
    blurred = _blur(stacked.reshape(1, 5 * n * channels, height, width), kernel, reflect)
    mean_x, mean_y, mean_xx, mean_yy, mean_xy = blurred.reshape(5 * n, channels, height, width).split(n)
    square_x, square_y, product = mean_x.square(), mean_y.square(), mean_x.mul(mean_y)
    variances = mean_xx.sub(square_x).clamp_min(0.0).add(mean_yy.sub(square_y).clamp_min(0.0))
    covariance = mean_xy.sub(product)
    c1, c2 = constants
    luminance = product.mul_scalar(2.0).add_scalar(c1).div(square_x.add(square_y).add_scalar(c1))
    return luminance, covariance.mul_scalar(2.0).add_scalar(c2).div(variances.add_scalar(c2))


def check_positive(**values: float) -> None:
    """Raises ``ConfigError`` unless all are positive and finite."""
    for name, value in values.items():
        if not 0.0 < value < math.inf:
            raise ConfigError(f"{name} must be positive and finite, got {value}")


def check_kernel_size(size: int) -> None:
    """Raises ``ConfigError`` unless the size is positive and odd."""
    if size < 1 or size % 2 == 0:
        raise ConfigError(f"kernel_size must be positive and odd, got {size}")


def _blur(planes: Tensor, kernel: list[float], reflect: bool) -> Tensor:
    # Each plane is a channel and a group of its own: twenty times as fast as a batch of images of one channel.
    half, groups = len(kernel) // 2, planes.shape[1]
    weight = Tensor(kernel).cast(planes.dtype).reshape(1, 1, 1, -1).expand(groups, 1, 1, len(kernel))
    if reflect:
        planes = planes.pad((half, half, half, half), "reflect")
    across, down = ([0, 0], [0, 0]) if reflect else ([0, half], [half, 0])
    rows = conv2d(planes, weight, padding=across, groups=groups)
    return conv2d(rows, weight.swap_dims(2, 3), padding=down, groups=groups)
