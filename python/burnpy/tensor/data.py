"""Data of tensors outside of any device or graph: what is stored, compared and printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import float_info
from typing import TYPE_CHECKING, Any, ClassVar

from burnpy import _core
from burnpy.errors import DataError, ShapeError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["TensorData", "Tolerance"]

# The smallest positive normal number of each dtype.
SMALLEST_NORMAL = {
    "f64": float_info.min,
    "f32": 2.0**-126,
    "flex32": 2.0**-126,
    "bf16": 2.0**-126,
    "f16": 2.0**-14,
}


@dataclass(frozen=True)
class Tolerance:
    """How far two numbers may be apart: ``|x − y| < max(absolute, relative · max(|x|, |y|))``.

    The default lets half a percent pass, which hides real deviations; ``rel_abs`` says what is meant.

    Attributes:
        rel: the relative part.
        abs: the absolute part; ``None`` is 64 times the smallest positive normal number of the dtype.
        half_rel: the relative part for f16 and bf16, if it is another one.
        half_abs: the absolute part for f16 and bf16, if it is another one.

    Example:
        >>> Tolerance.relative(0.01)
        Tolerance(rel=0.01, abs=0.0, half_rel=None, half_abs=None)
    """

    rel: float = 0.005
    abs: float | None = 1e-5
    half_rel: float | None = None
    half_abs: float | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and not value >= 0:
                raise ValueError(f"{name} must be at least 0, got {value}")

    @classmethod
    def default(cls) -> Tolerance:
        """Half a percent, or 1e−5."""
        return cls()

    @classmethod
    def balanced(cls) -> Tolerance:
        """As ``default``."""
        return cls()

    @classmethod
    def permissive(cls) -> Tolerance:
        """One percent, or 0.01."""
        return cls(0.01, 0.01)

    @classmethod
    def strict(cls) -> Tolerance:
        """64 times the smallest positive normal number."""
        return cls(0.0, None)

    @classmethod
    def relative(cls, tolerance: float) -> Tolerance:
        """A relative part alone."""
        return cls(tolerance, 0.0)

    @classmethod
    def absolute(cls, tolerance: float) -> Tolerance:
        """An absolute part alone."""
        return cls(0.0, tolerance)

    @classmethod
    def rel_abs(cls, relative: float, absolute: float) -> Tolerance:
        """Both parts."""
        return cls(relative, absolute)

    def set_half_precision_relative(self, tolerance: float) -> Tolerance:
        """The same with another relative part for f16 and bf16."""
        return Tolerance(self.rel, self.abs, tolerance, self.half_abs)

    def set_half_precision_absolute(self, tolerance: float) -> Tolerance:
        """The same with another absolute part for f16 and bf16."""
        return Tolerance(self.rel, self.abs, self.half_rel, tolerance)

    def parts(self, dtype: str) -> tuple[float, float]:
        """The relative and the absolute part for a dtype."""
        absolute = 64 * SMALLEST_NORMAL.get(dtype, 0.0) if self.abs is None else self.abs
        if dtype not in ("f16", "bf16"):
            return self.rel, absolute
        return (
            self.rel if self.half_rel is None else self.half_rel,
            absolute if self.half_abs is None else self.half_abs,
        )


class TensorData:
    """Elements, shape and dtype, without a device: what ``Tensor.to_data`` gives and ``Tensor.from_data`` takes.

    Lists keep what they say: floats are f64, integers i64. ``Tensor.from_data`` makes the device's dtypes of them.

    Args:
        values: nested lists, an array, a tensor.
        shape: another shape of as many elements.
        dtype: another dtype.

    Raises:
        ShapeError: the shape has another number of elements.

    Example:
        >>> data = TensorData([[1.0, 2.0], [3.0, 4.0]])
        >>> data.shape, data.dtype, len(data.bytes)
        ((2, 2), 'f64', 32)
        >>> data.assert_approx_eq(TensorData([[1.0, 2.001], [3.0, 4.0]]))
    """

    __slots__ = ("_tensor",)
    _tensor: _core.Tensor
    __hash__: ClassVar[None]  # type: ignore[assignment]

    def __init__(self, values: Any, shape: Sequence[int] | None = None, *, dtype: Any = None) -> None:
        if isinstance(values, TensorData):
            values = values._tensor
        self._tensor = _core.plain_tensor(values, shape, dtype)

    @classmethod
    def from_bytes(cls, data: Any, shape: Sequence[int], dtype: str) -> TensorData:
        """Little-endian elements in row-major order, copied.

        Raises:
            DataError: another number of bytes than shape and dtype need.
        """
        view = memoryview(data).cast("B")
        try:
            return cls(_core.restore_tensor(dtype, tuple(shape), view, False, False))
        except ShapeError as error:
            raise DataError(f"{len(view)} bytes are not a {dtype} tensor of shape {tuple(shape)}") from error

    @classmethod
    def zeros(cls, shape: Sequence[int], dtype: Any = "f32") -> TensorData:
        """All 0."""
        return cls.full(shape, 0, dtype)

    @classmethod
    def ones(cls, shape: Sequence[int], dtype: Any = "f32") -> TensorData:
        """All 1."""
        return cls.full(shape, 1, dtype)

    @classmethod
    def full(cls, shape: Sequence[int], value: float, dtype: Any = "f32") -> TensorData:
        """All one number."""
        return cls(_core.plain_tensor([value], None, dtype).reshape((1,) * len(shape)).expand(tuple(shape)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return self._tensor.shape

    @property
    def dtype(self) -> str:
        """The element type's text form."""
        return self._tensor.dtype

    @property
    def bytes(self) -> bytes:
        """The elements, little-endian, in row-major order."""
        return self._tensor.contiguous().numpy().tobytes()

    def num_elements(self) -> int:
        """Number of elements."""
        return self._tensor.size

    def numpy(self) -> np.ndarray[Any, Any]:
        """The elements as a read-only array over the same memory."""
        return self._tensor.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._tensor.__array__(dtype, copy)

    def tensor(self) -> _core.Tensor:
        """A plain tensor of the same elements and dtype."""
        return self._tensor

    def to_vec(self, dtype: str) -> list[Any]:
        """The elements in a list.

        Raises:
            DataError: they are of another dtype; ``convert`` makes it this one.
        """
        if dtype != self.dtype:
            raise DataError(f"the data is {self.dtype}, not {dtype}; convert it first")
        return list(self.iter())

    def iter(self, dtype: Any = None) -> Iterator[Any]:
        """The elements in row-major order, converted if a dtype is given."""
        tensor = self._tensor if dtype is None else self._tensor.cast(dtype)
        return iter(tensor.reshape((tensor.size,)).tolist())

    def convert(self, dtype: Any) -> TensorData:
        """The same numbers as another dtype."""
        return TensorData(self._tensor.cast(dtype))

    def convert_dtype(self, dtype: Any) -> TensorData:
        """As ``convert``."""
        return self.convert(dtype)

    def assert_eq(self, other: TensorData, strict: bool = True) -> None:
        """Raises ``AssertionError`` unless shape and elements are equal, and the dtype if it is strict.

        NaN equals nothing. Not strict, the other's elements are converted to this dtype.
        """
        if strict and self.dtype != other.dtype:
            raise AssertionError(f"dtype {self.dtype} is not {other.dtype}")
        _raise(_core.difference(self._tensor, other._tensor))

    def assert_approx_eq(self, other: TensorData, tolerance: Tolerance = Tolerance()) -> None:
        """Raises ``AssertionError`` unless shapes are equal and elements as close as the tolerance says.

        NaNs are equal, and infinities of one sign.
        """
        relative, absolute = tolerance.parts(self.dtype)
        _raise(_core.difference_beyond(self._tensor, other._tensor, relative, absolute))

    def assert_within_range(self, low: float, high: float) -> None:
        """Raises ``AssertionError`` unless all elements are at least ``low`` and below ``high``."""
        self._assert_within(low, high, lambda x: low <= x < high)

    def assert_within_range_inclusive(self, low: float, high: float) -> None:
        """Raises ``AssertionError`` unless all elements are at least ``low`` and at most ``high``."""
        self._assert_within(low, high, lambda x: low <= x <= high)

    def _assert_within(self, low: float, high: float, is_within: Any) -> None:
        for place, element in enumerate(self.iter()):
            if not is_within(element):
                raise AssertionError(f"element {place} is {element}, outside of {low} to {high}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorData):
            return NotImplemented
        return self.dtype == other.dtype and _core.difference(self._tensor, other._tensor) is None

    def __repr__(self) -> str:
        return f"TensorData({self._tensor.tolist()}, dtype={self.dtype!r})"


def _raise(difference: str | None) -> None:
    if difference is not None:
        raise AssertionError(f"the tensors are different:\n{difference}")
