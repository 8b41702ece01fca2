"""Numbers for tests of operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[Any]


@dataclass(frozen=True)
class Drawn:
    """What a test draws for one input.

    ``kind`` is ``"float"``, ``"int"`` or ``"bool"``; numbers lie in ``[low, high)``. A float lies at least ``apart``
    from every number in ``away``, where the operation has a kink or a pole, and is a multiple of ``step``, if one is
    given, so that numbers are equal now and then. ``distinct`` draws no number twice, for operations that choose.

    Example:
        >>> import numpy as np
        >>> Drawn(low=0.0, high=1.0, away=(0.5,)).array(np.random.default_rng(0), (2, 3)).shape
        (2, 3)
    """

    kind: str = "float"
    low: float = -2.0
    high: float = 2.0
    away: tuple[float, ...] = ()
    apart: float = 0.05
    step: float | None = None
    distinct: bool = False

    def array(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
        """An array of that shape: ``float64``, ``int64`` or ``bool``."""
        import numpy as np

        if self.kind == "bool":
            return np.asarray(rng.random(shape) < 0.5)
        if self.kind == "int":
            return np.asarray(rng.integers(int(self.low), int(self.high), shape, dtype=np.int64))
        if self.distinct:
            size = int(np.prod(shape))
            places = rng.permutation(size).reshape(shape) + 0.5
            return np.asarray(self.low + (self.high - self.low) * places / max(size, 1))
        numbers = np.asarray(rng.uniform(self.low, self.high, shape))
        if self.step is not None:
            return np.asarray(np.round(numbers / self.step) * self.step)
        for point in self.away:
            near = np.abs(numbers - point) < self.apart
            numbers = np.where(near, point + np.where(numbers < point, -self.apart, self.apart), numbers)
        # Exact in single precision, so that all dtypes but those of half precision see the same numbers.
        return np.asarray(numbers, dtype=np.float32).astype(np.float64)
