"""The container under Burn's own names: Reader, Writer, Tensor, Scalar, and what goes wrong with them.

``burnpy.numpy.save_file`` and ``burnpy.safe_open`` are the short way; this module is for those who want to choose
dtypes, parameter ids and tensors that are produced while they are written.

Example:
    >>> weights = Tensor("w", "f32", (2,), param_id=7, data=bytes(8))
    >>> data = Writer([weights]).with_metadata("producer", "me").with_scalar("step", 3).into_bytes()
    >>> len(data)
    264
"""

from __future__ import annotations

from dataclasses import dataclass

from burnpy._core import (
    EXTENSION,
    FORMAT_VERSION,
    HEADER_SIZE,
    MAGIC_NUMBER,
    MAX_CBOR_RECURSION_DEPTH,
    MAX_FILE_SIZE,
    MAX_METADATA_SIZE,
    MAX_TENSOR_COUNT,
    MAX_TENSOR_SIZE,
    TENSOR_ALIGNMENT,
    AtomicFile,
    Header,
    Reader,
    Scalar,
    TensorInfo,
    View,
    Writer,
)
from burnpy._core import TensorEntry as Tensor
from burnpy.errors import (
    AlreadyExists,
    Error,
    InvalidHeader,
    InvalidMagicNumber,
    InvalidVersion,
    IoError,
    MetadataDeserializationError,
    MetadataSerializationError,
    ScalarConversionError,
    TensorBytesSizeMismatch,
    TensorNotFound,
    ValidationError,
)

__all__ = [
    "EXTENSION",
    "FORMAT_VERSION",
    "HEADER_SIZE",
    "MAGIC_NUMBER",
    "MAX_CBOR_RECURSION_DEPTH",
    "MAX_FILE_SIZE",
    "MAX_METADATA_SIZE",
    "MAX_TENSOR_COUNT",
    "MAX_TENSOR_SIZE",
    "TENSOR_ALIGNMENT",
    "AlreadyExists",
    "AtomicFile",
    "Error",
    "Header",
    "InvalidHeader",
    "InvalidMagicNumber",
    "InvalidVersion",
    "IoError",
    "Limits",
    "MetadataDeserializationError",
    "MetadataSerializationError",
    "QuantScheme",
    "Reader",
    "Scalar",
    "ScalarConversionError",
    "Tensor",
    "TensorBytesSizeMismatch",
    "TensorInfo",
    "TensorNotFound",
    "ValidationError",
    "View",
    "Writer",
]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a reader accepts and a writer refuses to exceed; the defaults are Burn's.

    Attributes:
        max_metadata_bytes: length of the metadata, 100 MiB.
        max_tensors: number of tensors, 100,000.
        max_tensor_bytes: length of one payload, 10 GiB.
        max_depth: levels of maps and arrays in the metadata, 128.
        max_file_bytes: length of a file, 100 GiB; bytes in memory have no such limit.

    Example:
        >>> Limits(max_tensors=10).max_metadata_bytes
        104857600
    """

    max_metadata_bytes: int = MAX_METADATA_SIZE
    max_tensors: int = MAX_TENSOR_COUNT
    max_tensor_bytes: int = MAX_TENSOR_SIZE
    max_depth: int = MAX_CBOR_RECURSION_DEPTH
    max_file_bytes: int = MAX_FILE_SIZE

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            most = 2**32 - 1 if name == "max_depth" else 2**64 - 1
            if not isinstance(value, int) or not 0 <= value <= most:
                raise ValueError(f"{name} must be an int from 0 to {most}, got {value!r}")


@dataclass(frozen=True, kw_only=True)
class QuantScheme:
    """How a quantized tensor's payload is laid out: values, then scales. Names are those in the file.

    Attributes:
        value: ``Q8F``, ``E5M2``, ``E4M3``, ``Q4F``, ``E2M1``, ``Q2F``, ``Q8S``, ``Q4S`` or ``Q2S``.
        store: ``Native``, ``PackedNative`` or ``PackedU32``.
        packed_dim: the dimension that is packed, counted from the innermost; not used by ``Native``.
        mode: ``Symmetric`` or ``Lookup``.
        tensor: type of the scale of the whole tensor: ``F32``, ``F16``, ``BF16``, ``UE8M0``, ``UE4M3``, or ``None``.
        block_size: one to five extents of a block, aligned to the last dimensions, or ``None``.
        block_dtype: type of a block's scale.

    Example:
        >>> Tensor("w", QuantScheme(value="Q4F"), (3, 3), data=bytes(16)).dtype
        'qfloat'
    """

    value: str = "Q8F"
    store: str = "PackedU32"
    packed_dim: int = 0
    mode: str = "Symmetric"
    tensor: str | None = None
    block_size: tuple[int, ...] | None = None
    block_dtype: str = "F32"
