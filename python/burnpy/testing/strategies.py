"""Hypothesis strategies for containers and what stands in them.

Hypothesis is no dependency of burnpy: install it where you run tests.

Example:
    >>> from hypothesis import given
    >>> from burnpy.numpy import load, save
    >>> @given(containers())
    ... def test_names_survive(container):
    ...     assert list(load(save(container.tensors))) == list(container.tensors)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

from burnpy.pack import QuantScheme, Scalar, Tensor

__all__ = [
    "NUMPY_DTYPES",
    "PLAIN_DTYPES",
    "Container",
    "arrays",
    "containers",
    "damaged",
    "layouts",
    "names",
    "param_ids",
    "scalars",
    "schemes",
    "shapes",
    "tensors",
    "texts",
]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Shape: TypeAlias = tuple[int, ...]

NUMPY_DTYPES: Mapping[str, np.dtype[Any]] = {
    "f64": np.dtype("f8"), "f32": np.dtype("f4"), "f16": np.dtype("f2"), "bf16": np.dtype(ml_dtypes.bfloat16),
    "i64": np.dtype("i8"), "i32": np.dtype("i4"), "i16": np.dtype("i2"), "i8": np.dtype("i1"),
    "u64": np.dtype("u8"), "u32": np.dtype("u4"), "u16": np.dtype("u2"), "u8": np.dtype("u1"),
    "bool": np.dtype("?"),
}  # fmt: skip
"""Text forms of the dtypes that NumPy arrays are saved as."""

PLAIN_DTYPES: Mapping[str, np.dtype[Any]] = {
    **NUMPY_DTYPES, "flex32": np.dtype("f4"), "bool(u8)": np.dtype("?"), "bool(u32)": np.dtype("u4"),
}  # fmt: skip
"""Every dtype of a container but the quantized one, with the NumPy dtype that it is read as."""


@dataclass(frozen=True)
class Container:
    """What one container holds.

    Attributes:
        tensors: arrays by name, in the order of their data.
        metadata: texts.
        scalars: numbers, with their kind.
        param_ids: of some of the tensors.
    """

    tensors: dict[str, Array]
    metadata: dict[str, str] = field(default_factory=dict)
    scalars: dict[str, Scalar] = field(default_factory=dict)
    param_ids: dict[str, int] = field(default_factory=dict)


def texts(max_size: int = 20) -> st.SearchStrategy[str]:
    """Any text that UTF-8 can say, the empty one too."""
    return st.text(st.characters(codec="utf-8"), max_size=max_size)


def names() -> st.SearchStrategy[str]:
    """Names of tensors: paths as modules have them, and any other text."""
    part = st.sampled_from(["encoder", "layers", "0", "weight", "bias", "日本", ""])
    return st.lists(part, min_size=1, max_size=4).map(".".join) | texts()


def shapes(max_rank: int = 4, max_side: int = 5) -> st.SearchStrategy[Shape]:
    """Shapes of few elements: without dimension, with empty dimensions, with ones."""
    return st.lists(st.integers(0, max_side), max_size=max_rank).map(tuple)


@st.composite
def arrays(
    draw: st.DrawFn,
    dtypes: st.SearchStrategy[str] | None = None,
    shape: st.SearchStrategy[Shape] | None = None,
) -> Array:
    """Arrays in C order of any bits: NaNs of every payload and signed zeros come up as often as numbers."""
    dtype = NUMPY_DTYPES[draw(dtypes if dtypes is not None else st.sampled_from(sorted(NUMPY_DTYPES)))]
    dims = draw(shape if shape is not None else shapes())
    data = _payload(draw, dtype, int(np.prod(dims)))
    return np.frombuffer(data, dtype).reshape(dims)


def _payload(draw: st.DrawFn, dtype: np.dtype[Any], size: int) -> bytes:
    if dtype.kind == "b":
        return bytes(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    num_bytes = size * dtype.itemsize
    return draw(st.binary(min_size=num_bytes, max_size=num_bytes))


@st.composite
def layouts(draw: st.DrawFn, source: st.SearchStrategy[Array] | None = None) -> Array:
    """Arrays that lie in memory in any way: transposed, reversed, strided, broadcast, big-endian, Fortran's order."""
    array = draw(source if source is not None else arrays())
    ways = st.sampled_from(["transposed", "reversed", "strided", "broadcast", "big-endian", "fortran"])
    for way in draw(st.lists(ways, max_size=3)):
        array = _laid_out(array, way)
    return array


def _laid_out(array: Array, way: str) -> Array:
    match way:
        case "transposed":
            return array.T
        case "reversed" if array.ndim:
            return array[::-1]
        case "strided" if array.ndim:
            return array[..., ::2]
        case "broadcast" if array.ndim < 5:
            return np.broadcast_to(array, (2, *array.shape))
        case "big-endian" if array.dtype.kind in "iuf" and array.dtype.isbuiltin == 1:
            return array.astype(array.dtype.newbyteorder(">"))
        case "fortran":
            return np.asfortranarray(array)
    return array


def param_ids() -> st.SearchStrategy[int]:
    """Any 64 bits; the widths of the format's integers come up."""
    edges = st.sampled_from([0, 23, 24, 255, 256, 65_535, 65_536, 2**32 - 1, 2**32, 2**64 - 1])
    return edges | st.integers(0, 2**64 - 1)


def scalars() -> st.SearchStrategy[Scalar]:
    """Scalars of every kind over their whole range."""
    return (
        st.integers(-(2**63), 2**63 - 1).map(Scalar.int_)
        | st.integers(0, 2**64 - 1).map(Scalar.uint)
        | st.floats().map(Scalar.float_)
        | st.booleans().map(Scalar.bool_)
    )


@st.composite
def schemes(draw: st.DrawFn) -> QuantScheme:
    """Quantization schemes of every value, store and level that are possible for any shape."""
    scale = st.sampled_from(["F32", "F16", "BF16", "UE8M0", "UE4M3"])
    blocks = st.none() | st.lists(st.integers(1, 4), min_size=1, max_size=3).map(_canonical)
    return QuantScheme(
        value=draw(st.sampled_from(["Q8F", "E5M2", "E4M3", "Q4F", "E2M1", "Q2F", "Q8S", "Q4S", "Q2S"])),
        store=draw(st.sampled_from(["Native", "PackedU32"])),
        mode=draw(st.sampled_from(["Symmetric", "Lookup"])),
        tensor=draw(st.none() | scale),
        block_size=draw(blocks),
        block_dtype=draw(scale),
    )


def _canonical(extents: list[int]) -> tuple[int, ...]:
    """Without leading ones, as Burn writes the size of a block."""
    while extents and extents[0] == 1:
        extents = extents[1:]
    return tuple(extents)


@st.composite
def tensors(draw: st.DrawFn, name: st.SearchStrategy[str] | None = None) -> Tensor:
    """Tensor entries of every dtype, those that no NumPy array has and the quantized too."""
    plain = st.sampled_from(sorted(PLAIN_DTYPES))
    dtype, shape = draw(plain | schemes()), draw(shapes())
    # A deferred tensor tells the length that dtype and shape need without asking for its data.
    length = Tensor.deferred("", dtype=dtype, shape=shape, provider=bytes).byte_len()
    if dtype in ("bool", "bool(u8)"):
        data = _payload(draw, np.dtype("?"), length)
    elif dtype == "bool(u32)":
        data = np.frombuffer(_payload(draw, np.dtype("?"), length // 4), "u1").astype("<u4").tobytes()
    else:
        data = draw(st.binary(min_size=length, max_size=length))
    chosen = draw(name if name is not None else names())
    return Tensor(chosen, dtype, shape, draw(st.none() | param_ids()), data)


@st.composite
def containers(draw: st.DrawFn, max_tensors: int = 6) -> Container:
    """Whole containers of NumPy arrays, with metadata, scalars and ids."""
    chosen = draw(st.dictionaries(names(), arrays(), max_size=max_tensors))
    with_id = draw(st.sets(st.sampled_from(sorted(chosen)))) if chosen else set()
    return Container(
        tensors=chosen,
        metadata=draw(st.dictionaries(texts(), texts(), max_size=4)),
        scalars=draw(st.dictionaries(texts(), scalars(), max_size=4)),
        param_ids={name: draw(param_ids()) for name in sorted(with_id)},
    )


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """A file after an accident: cut off, some bits of its bytes flipped, or both."""
    out = bytearray(data)
    # Most of a small file is padding and payload; what can go wrong stands in front.
    position = st.integers(0, min(len(data), 512) - 1) | st.integers(0, len(data) - 1)
    for place in draw(st.lists(position, max_size=4)):
        out[place] ^= draw(st.integers(1, 255))
    return bytes(out[: draw(st.just(len(data)) | st.integers(0, len(data) - 1))])
