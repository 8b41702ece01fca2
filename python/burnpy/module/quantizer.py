"""Floats as few bits, with scales."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from burnpy._core import Tensor, restore_tensor
from burnpy.errors import DTypeError, ShapeError
from burnpy.module.group import ParamGroup

if TYPE_CHECKING:
    from burnpy.pack import QuantScheme

__all__ = ["Calibration", "Quantizer"]

# Lowest and highest value that is stored, and bits of one.
_RANGES = {
    "Q8F": (-128, 127, 8),
    "Q8S": (-127, 127, 8),
    "Q4F": (-8, 7, 4),
    "Q4S": (-7, 7, 4),
    "Q2F": (-2, 1, 2),
    "Q2S": (-1, 1, 2),
    "E4M3": (-448, 448, 8),
    "E5M2": (-57344, 57344, 8),
    "E2M1": (-6, 6, 4),
}
# Bits of the fraction, exponent of the smallest normal number, code of the largest number.
_FLOATS = {
    "E4M3": (3, -6, 0x7E),
    "E5M2": (2, -14, 0x7B),
    "E2M1": (1, 0, 7),
    "F16": (10, -14, 0x7BFF),
    "BF16": (7, -126, 0x7F7F),
    "UE4M3": (3, -6, 0x7E),
    "UE8M0": (0, -126, 254),
}
_LARGEST = {
    "E4M3": 448.0,
    "E5M2": 57344.0,
    "E2M1": 6.0,
    "F16": 65504.0,
    "BF16": (2.0 - 2.0**-7) * 2.0**127,
    "UE4M3": 448.0,
    "UE8M0": 2.0**127,
}
_SMALLEST = 2.0**-126


class Calibration(enum.Enum):
    """How the range of a tensor, or of a block of it, is found.

    Source: Burn ``tensor::quantization::Calibration``.
    """

    MinMax = "MinMax"
    """Up to the largest magnitude: nothing is cut off."""
    AbsMean = "AbsMean"
    """Up to the mean magnitude: larger values are cut off."""


@dataclass(frozen=True)
class Quantizer:
    """How ``module.quantize_weights`` stores parameters: ``x ≈ scale · q`` with small integers or floats ``q``.

    Args:
        calibration: how the range is found.
        scheme: what ``q`` and the scales are; scales are rounded up to their type.
        group: which parameters.

    Raises:
        ValueError: the scheme has a lookup table, or ``AbsMean`` meets two levels of scales.

    Example:
        >>> from burnpy.pack import QuantScheme
        >>> quantizer = Quantizer(Calibration.MinMax, QuantScheme(value="Q8S", store="Native"))
        >>> quantizer.quantize(Tensor([-1.0, 0.5, 0.25])).cast("f32").round_to(2).tolist()
        [-1.0, 0.5, 0.25]

    Source: Burn ``module::Quantizer``.

    Unlike Burn: values ``E4M3``, ``E5M2`` and ``E2M1`` are rounded to these floats; Burn's CPU stores them as integers
    of 8 bits, which cuts most of them off.
    """

    calibration: Calibration
    scheme: QuantScheme
    group: ParamGroup = field(default_factory=ParamGroup.all, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.calibration, Calibration):
            raise ValueError(f"calibration must be a Calibration, got {self.calibration!r}")
        if getattr(self.scheme, "value", None) not in _RANGES:
            raise ValueError(
                f"scheme must be a QuantScheme with one of {', '.join(_RANGES)}, got {self.scheme!r}"
            )
        if self.scheme.mode != "Symmetric":
            raise ValueError(f"scheme: a tensor cannot be quantized to mode {self.scheme.mode}")
        if self.calibration is Calibration.AbsMean and self.scheme.tensor and self.scheme.block_size:
            raise ValueError("calibration AbsMean does not go with scales of blocks and of the tensor")

    def with_group(self, group: ParamGroup) -> Quantizer:
        """The same for other parameters."""
        return replace(self, group=group)

    def quantize(self, x: Tensor) -> Tensor:
        """A tensor of floats as a plain quantized one of the same shape.

        Raises:
            DTypeError: it is quantized already, or not of floats.
            ShapeError: it has no axes, or its blocks have more axes than it.
        """
        if x.kind != "float" or x.dtype == "qfloat":
            raise DTypeError(f"quantize: expected a tensor of floats, got {x.dtype}", dtype=x.dtype)
        plain, scheme = x.inner().cast("f32"), self.scheme
        blocks = _Blocks.of(plain.shape, scheme.block_size)
        low, high, bits = _RANGES[scheme.value]
        scales = self._range(blocks, plain) * 2.0 / float(high - low)
        payload, scales = self._scales(scales)
        ratio = plain * blocks.spread(scales.recip())
        if scheme.value in _FLOATS:
            sign = ratio.lower_scalar(0.0).int().cast("i64") * (1 << (bits - 1))
            codes = _float_codes(ratio.abs(), scheme.value, up=False)[0] + sign
        else:
            codes = _rounded(ratio.cast("f64")).clamp(low, high).int().cast("i64")
        return restore_tensor(scheme, plain.shape, self._packed(codes, bits) + payload, False, False)

    def _range(self, blocks: _Blocks, x: Tensor) -> Tensor:
        magnitude = blocks.cut(x.abs())
        if self.calibration is Calibration.MinMax:
            return magnitude.max_dims(blocks.inner)
        counts = blocks.cut(x.ones_like())
        return magnitude.sum_dims(blocks.inner) / counts.sum_dims(blocks.inner)

    def _scales(self, scales: Tensor) -> tuple[bytes, Tensor]:
        """Scales as they are stored, and as they act."""
        scheme = self.scheme
        if not (scheme.block_size and scheme.tensor):
            return _stored(scales, scheme.block_dtype if scheme.block_size else scheme.tensor or "F32")
        # The largest scale of a block becomes the largest number that its type has.
        most = 448.0 if scheme.block_dtype == "UE4M3" else 1.0
        whole, factor = _stored(scales.max() / most, scheme.tensor)
        factor = factor.reshape([1] * len(scales.shape))
        each, parts = _stored(scales / factor, scheme.block_dtype)
        return each + whole, parts * factor

    def _packed(self, codes: Tensor, bits: int) -> bytes:
        """Codes as the store has them: alone in bytes, or several in a unit along an axis."""
        store = self.scheme.store
        unit = {"PackedU32": 32, "PackedNative": 8 if self.scheme.value == "E2M1" else bits}.get(store, bits)
        group = unit // bits
        if group == 1:
            return _bytes(codes.bitwise_and(0xFF), "u8")
        axis = len(codes.shape) - 1 - self.scheme.packed_dim
        if axis < 0:
            raise ShapeError(f"packed_dim {self.scheme.packed_dim} is no axis of shape {codes.shape}")
        shape = list(codes.shape)
        shape[axis : axis + 1] = [-(-shape[axis] // group), group]
        codes = _padded(codes, axis, shape[axis] * group).reshape(shape)
        slots = codes.bitwise_and((1 << bits) - 1).iter_dim(axis + 1)
        words = functools.reduce(Tensor.add, (slot * (1 << bits * i) for i, slot in enumerate(slots)))
        return _bytes(words, f"u{unit}")


@dataclass(frozen=True)
class _Blocks:
    """A tensor's shape cut into blocks that share a scale: every axis as a pair, which block and where in it."""

    shape: tuple[int, ...]
    extents: tuple[int, ...]

    @classmethod
    def of(cls, shape: tuple[int, ...], block_size: tuple[int, ...] | None) -> _Blocks:
        if not shape:
            raise ShapeError("quantize: a tensor without axes has no blocks")
        if block_size is None:
            return cls(shape, tuple(max(size, 1) for size in shape))
        if len(block_size) > len(shape):
            raise ShapeError(f"quantize: blocks of {block_size} in a tensor of shape {shape}")
        return cls(shape, (1,) * (len(shape) - len(block_size)) + tuple(block_size))

    @property
    def counts(self) -> list[int]:
        return [-(-size // extent) for size, extent in zip(self.shape, self.extents, strict=True)]

    @property
    def inner(self) -> list[int]:
        return list(range(1, 2 * len(self.shape), 2))

    def cut(self, x: Tensor) -> Tensor:
        """``x`` with the axes of the blocks and the axes in a block in turn, zeros where a block is not full."""
        pairs = zip(self.counts, self.extents, strict=True)
        for axis, extent in enumerate(self.extents):
            x = _padded(x, axis, self.counts[axis] * extent)
        return x.reshape_literal([size for pair in pairs for size in pair])

    def spread(self, scales: Tensor) -> Tensor:
        """One number of each block as a tensor of the full shape."""
        pairs = zip(self.counts, self.extents, strict=True)
        full = scales.expand([size for pair in pairs for size in pair])
        full = full.reshape_literal([a * b for a, b in zip(self.counts, self.extents, strict=True)])
        return full.slice([slice(0, size) for size in self.shape])


def _padded(x: Tensor, axis: int, size: int) -> Tensor:
    missing = size - x.shape[axis]
    if not missing:
        return x
    shape = list(x.shape)
    shape[axis] = missing
    return Tensor.cat([x, Tensor.zeros(shape, x.device, dtype=x.dtype)], axis)


def _rounded(x: Tensor) -> Tensor:
    """To the nearest integer, halves away from zero."""
    return x.sign() * (x.abs() + 0.5).floor()


def _stored(scales: Tensor, dtype: str) -> tuple[bytes, Tensor]:
    """Scales rounded up to what a type can hold: as bytes, and as numbers."""
    usable = scales.is_finite().bool_and(scales.greater_scalar(0.0))
    scales = Tensor.full(scales.shape, _SMALLEST, scales.device).mask_where(usable, scales)
    if dtype == "F32":
        return _bytes(scales, "f32"), scales
    codes, numbers = _float_codes(scales, dtype, up=True)
    return _bytes(codes, "u16" if dtype in ("F16", "BF16") else "u8"), numbers.cast("f32")


def _float_codes(x: Tensor, dtype: str, *, up: bool) -> tuple[Tensor, Tensor]:
    """Numbers that are not negative in a small float type, rounded up or to nearest: their codes, and what these mean.

    The code of ``m · 2^(e − fraction)`` is ``(e − lowest) · 2^fraction + m``, for normal numbers and the ones below; a
    number that rounds to the next power of two gets that one's code by itself.
    """
    fraction, lowest, most = _FLOATS[dtype]
    x = x.cast("f64")
    exponents = (x.clamp_min(2.0**-140).log() / math.log(2.0)).floor().clamp_min(lowest)
    # In single precision the exponential of a multiple of log 2 is the power of two itself.
    units = ((exponents - fraction) * math.log(2.0)).exp().cast("f32").cast("f64")
    steps = x / units
    steps = steps.ceil() if up else steps.round()
    codes = (exponents - lowest) * 2.0**fraction + steps
    return codes.clamp_max(float(most)).int().cast("i64"), (steps * units).clamp_max(_LARGEST[dtype])


def _bytes(x: Tensor, dtype: str) -> bytes:
    return bytes(memoryview(x.cast(dtype).flatten().contiguous()))
