"""Local response normalisation."""

from __future__ import annotations

from functools import reduce

from burnpy.config import KW_ONLY, Config, Positive
from burnpy.module import Module
from burnpy.tensor import ShapeError, Tensor

__all__ = ["LocalResponseNorm", "LocalResponseNormConfig"]


class LocalResponseNormConfig(Config):
    """What a :class:`LocalResponseNorm` is made of.

    Raises:
        ConfigError: ``size`` is below 1.

    Example:
        >>> print(LocalResponseNormConfig(5).init())
        LocalResponseNorm {size: 5, alpha: 0.0001, beta: 0.75, k: 1}

    Source: Burn ``nn::LocalResponseNormConfig``.
    """

    size: Positive
    _: KW_ONLY
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def init(self) -> LocalResponseNorm:
        """The module."""
        return LocalResponseNorm(self)


class LocalResponseNorm(Module):
    """``x / (k + alpha * mean(x ** 2)) ** beta``, the mean over ``size`` channels around each one.

    The window reaches ``(size - 1) // 2`` channels down and ``size // 2`` up, with zeros beyond both ends. PyTorch has
    the extra channel of an even size on the other side.

    Shapes:
        x: ``(batch, channels, ...)``, three axes or more
        returns: as ``x``

    Cost: ``size`` sums of the size of ``x``.

    Raises:
        ShapeError: ``x`` has less than three axes.

    Example:
        >>> norm = LocalResponseNormConfig(2, alpha=1.0, beta=1.0, k=0.0).init()
        >>> norm(Tensor([[[2.0], [2.0], [2.0]]])).tolist()
        [[[0.5], [0.5], [1.0]]]

    Source: Burn ``nn::LocalResponseNorm``; Krizhevsky et al. 2012, section 3.3.
    """

    def __init__(self, config: LocalResponseNormConfig) -> None:
        self.size = config.size
        self.alpha = config.alpha
        self.beta = config.beta
        self.k = config.k

    def forward(self, x: Tensor) -> Tensor:
        """``x`` normalised."""
        shape = x.shape
        if len(shape) < 3:
            raise ShapeError(f"LocalResponseNorm: needs three axes or more, got shape {list(shape)}")
        reach = ((self.size - 1) // 2, self.size // 2)
        squares = x.square().pad([reach, *((0, 0) for _ in shape[2:])])
        total = reduce(Tensor.add, (squares.narrow(1, i, shape[1]) for i in range(self.size)))
        return x / (total * (self.alpha / self.size) + self.k).powf(self.beta)

    def display_content(self) -> list[tuple[str, object]]:
        """The settings."""
        return [(name, getattr(self, name)) for name in ("size", "alpha", "beta", "k")]
