"""Element types by their text form: what they are in NumPy, and how floats are cast into each other."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from burnpy.errors import DTypeError

__all__ = ["cast_float", "dtype_of", "is_castable", "is_float", "numpy_dtype", "payload_len"]

_NUMPY = {
    "f64": "<f8", "f32": "<f4", "flex32": "<f4", "f16": "<f2",
    "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "i1",
    "u64": "<u8", "u32": "<u4", "u16": "<u2", "u8": "u1",
    "bool": "?", "bool(u8)": "?", "bool(u32)": "<u4",
    "c64": "<c8", "c128": "<c16",
}  # fmt: skip
_ML_DTYPES = {
    "bf16": "bfloat16",
    "f8e4m3fn": "float8_e4m3fn",
    "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz",
    "f8e5m2fnuz": "float8_e5m2fnuz",
    "f8e8m0fnu": "float8_e8m0fnu",
}
# Elements that no NumPy dtype has as they lie in a file, with their bits.
_PACKED_BITS = {"f4e2m1fn": 4, "f6e2m3fn": 6, "f6e3m2fn": 6, "f4e2m1fn_x2": 8, "c32": 32}
# Several text forms may share a NumPy dtype; an array has the one that stands first.
_NAMES = {np.dtype(code): name for name, code in reversed(_NUMPY.items())}
_FLOATS = ("f64", "f32", "flex32", "f16", "bf16")
# Elements of one byte lie in foreign checkpoints alone: they can be cast away, and nothing is cast to them.
_BYTE_FLOATS = tuple(name for name in _ML_DTYPES if name.startswith("f8"))


@cache
def numpy_dtype(name: str) -> np.dtype[Any] | None:
    """The NumPy dtype of a text form; ``None`` where elements are packed, so that the payload is plain bytes.

    Raises:
        DTypeError: nothing has this name.

    Example:
        >>> numpy_dtype("bf16"), numpy_dtype("bool(u32)"), numpy_dtype("qfloat")
        (dtype(bfloat16), dtype('uint32'), None)
    """
    if name in _NUMPY:
        return np.dtype(_NUMPY[name])
    if name in _ML_DTYPES:
        import ml_dtypes

        found: np.dtype[Any] = np.dtype(getattr(ml_dtypes, _ML_DTYPES[name]))
        return found
    if name in _PACKED_BITS or name == "qfloat":
        return None
    raise DTypeError(f"unknown dtype {name!r}", dtype=name)


def dtype_of(dtype: Any) -> str:
    """The text form of a NumPy dtype, or of what NumPy takes for one; a text form is its own.

    Raises:
        DTypeError: no checkpoint has such elements.

    Example:
        >>> dtype_of(np.float16), dtype_of("f16"), dtype_of(np.array([True]).dtype)
        ('f16', 'f16', 'bool')
    """
    if isinstance(dtype, str) and (dtype in _NUMPY or dtype in _ML_DTYPES or dtype in _PACKED_BITS):
        return dtype
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise DTypeError(f"unknown dtype {dtype!r}", dtype=str(dtype)) from None
    if found.newbyteorder("<") in _NAMES:
        return _NAMES[found.newbyteorder("<")]
    for name, numpy_name in _ML_DTYPES.items():
        if found.name == numpy_name:
            return name
    raise DTypeError(f"no dtype of a checkpoint is {found}", dtype=str(found))


def payload_len(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes that elements of a shape take in a file.

    Raises:
        DTypeError: nothing has this name, or it is ``qfloat``, whose length is its scheme's matter.

    Example:
        >>> payload_len("bf16", (3, 5)), payload_len("f4e2m1fn", (3, 2)), payload_len("f64", ())
        (30, 3, 8)
    """
    if dtype == "qfloat":
        raise DTypeError("the length of a qfloat needs its scheme", dtype=dtype)
    found = numpy_dtype(dtype)
    bits = _PACKED_BITS[dtype] if found is None else found.itemsize * 8
    return -(-prod(shape) * bits // 8)


def is_float(dtype: str) -> bool:
    """Whether it is a float that Burn knows, quantized ones apart."""
    return dtype in _FLOATS


def is_castable(dtype: str) -> bool:
    """Whether ``cast_float`` takes it: a float, those of one byte too."""
    return dtype in _FLOATS or dtype in _BYTE_FLOATS


def cast_float(array: np.ndarray[Any, Any], dtype: str, target: str) -> np.ndarray[Any, Any]:
    """Floats of one dtype as floats of another: to the nearest, ties to even; too large is infinite; NaN stays.

    The way to ``f16`` and ``bf16`` goes through ``f32``, as in Burn: an ``f64`` is rounded twice.

    Raises:
        DTypeError: one of the two is no float.

    Example:
        >>> cast_float(np.array([1.0, 1e6]), "f64", "f16")
        array([ 1., inf], dtype=float16)
    """
    if not is_castable(dtype) or not is_float(target):
        raise DTypeError(f"cannot cast {dtype} to {target}: both must be floats", dtype=target)
    if dtype == target:
        return array
    # All floats but f64 lie within f32, so a stop there changes what an f64 is rounded to, and nothing else.
    via = ["f32"] if target in ("f16", "bf16") else []
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for step in (*via, target):
            array = array.astype(numpy_dtype(step), copy=False)
    return array
