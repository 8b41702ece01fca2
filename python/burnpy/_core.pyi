# The contract of the border to Rust; docstrings live beside the code.
import os
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Literal, Self, final

from typing_extensions import Buffer

from burnpy.pack import Limits, QuantScheme

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
    "AtomicFile",
    "Header",
    "Scalar",
    "Tensor",
    "Writer",
    "__version__",
    "save",
    "save_file",
    "stage_file",
]

__version__: str

# ---- the format's constants

MAGIC_NUMBER: Final[int]
FORMAT_VERSION: Final[int]
HEADER_SIZE: Final[int]
TENSOR_ALIGNMENT: Final[int]
EXTENSION: Final[str]
MAX_METADATA_SIZE: Final[int]
MAX_TENSOR_COUNT: Final[int]
MAX_TENSOR_SIZE: Final[int]
MAX_CBOR_RECURSION_DEPTH: Final[int]
MAX_FILE_SIZE: Final[int]

# ---- writing

@final
class Header:
    def __new__(cls, metadata_size: int) -> Self: ...
    @staticmethod
    def from_bytes(data: bytes) -> Header: ...
    @property
    def magic(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def metadata_size(self) -> int: ...
    def into_bytes(self) -> bytes: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@final
class Scalar:
    def __new__(cls, value: Any, kind: Literal["Int", "UInt", "Float", "Bool"] | None = None) -> Self: ...
    @staticmethod
    def int_(value: int, /) -> Scalar: ...
    @staticmethod
    def uint(value: int, /) -> Scalar: ...
    @staticmethod
    def float_(value: float, /) -> Scalar: ...
    @staticmethod
    def bool_(value: bool, /) -> Scalar: ...
    @property
    def kind(self) -> Literal["Int", "UInt", "Float", "Bool"]: ...
    @property
    def value(self) -> int | float | bool: ...
    def to(self, wanted: str, /) -> int | float | bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getnewargs__(self) -> tuple[int | float | bool, str]: ...

@final
class Tensor:
    def __new__(
        cls,
        name: str,
        dtype: Any,
        shape: Sequence[int],
        param_id: int | None = None,
        data: Any = None,
    ) -> Self: ...
    @staticmethod
    def deferred(
        name: str,
        *,
        dtype: Any,
        shape: Sequence[int],
        provider: Callable[[], Any],
        param_id: int | None = None,
        byte_len: int | None = None,
    ) -> Tensor: ...
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def scheme(self) -> QuantScheme | None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def param_id(self) -> int | None: ...
    def byte_len(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    def into_bytes(self) -> bytes: ...
    def into_parts(self) -> tuple[str, str | QuantScheme, tuple[int, ...], int | None, bytes]: ...

@final
class Writer:
    def __new__(
        cls,
        tensors: Sequence[Tensor],
        metadata: Mapping[str, str] | None = None,
        scalars: Mapping[str, Scalar | bool | int | float] | None = None,
        *,
        auto_extension: bool = True,
        overwrite: bool = True,
        durable: bool = True,
        limits: Limits | None = None,
    ) -> Self: ...
    def with_metadata(self, key: str, value: str) -> Self: ...
    def with_scalar(self, key: str, value: Scalar | bool | int | float) -> Self: ...
    def auto_extension(self, on: bool) -> Self: ...
    def overwrite(self, on: bool) -> Self: ...
    def size(self) -> int: ...
    def write_into(self, buffer: Buffer) -> int: ...
    def into_bytes(self) -> bytes: ...
    def write_to_file(self, path: str | os.PathLike[str], *, durable: bool | None = None) -> None: ...
    def write_to_file_in_place(self, path: str | os.PathLike[str]) -> None: ...

@final
class AtomicFile:
    def __new__(cls, destination: str | os.PathLike[str], *, durable: bool = True) -> Self: ...
    @property
    def path(self) -> os.PathLike[str]: ...
    def write(self, data: Buffer) -> int: ...
    def fileno(self) -> int: ...
    def commit(self, overwrite: bool = True) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc: BaseException | None = None,
        traceback: TracebackType | None = None,
        /,
    ) -> None: ...

def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
    limits: Limits | None = None,
) -> None: ...
def stage_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    durable: bool = False,
    limits: Limits | None = None,
) -> AtomicFile: ...
def save(
    tensors: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
    *,
    scalars: Mapping[str, Scalar | bool | int | float] | None = None,
    param_ids: Mapping[str, int] | None = None,
    limits: Limits | None = None,
) -> bytes: ...
