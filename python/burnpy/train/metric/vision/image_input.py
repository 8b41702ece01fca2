"""Images against each other."""

from __future__ import annotations

from burnpy.errors import ArgumentError
from burnpy.train.metric.metric_input import MetricInput

__all__ = ["ImageInput"]


class ImageInput(MetricInput):
    """Images, float ``(batch, channels, height, width)``, both of one shape.

    Raises:
        ShapeError, DTypeError: they are not.
        ArgumentError: there is none.
    """

    __slots__ = ()

    def _check(self) -> None:
        super()._check()
        if self.outputs.ndim != 4:
            self._refuse("must have shape (batch, channels, height, width)")
        self._want("float", self.outputs, "outputs")
        self._want("float", self.targets, "targets")
        if self.outputs.size == 0:
            raise ArgumentError(f"{type(self).__name__}: the images are empty, of shape {self.outputs.shape}")
        self.outputs, self.targets = self.outputs.inner(), self.targets.inner().cast(self.outputs.dtype)
