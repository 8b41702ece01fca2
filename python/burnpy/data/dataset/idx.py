"""IDX files, the format of MNIST."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnpy.errors import DatasetError

if TYPE_CHECKING:
    import numpy as np

    from burnpy._typing import PathLike

__all__ = ["read_idx"]

CHUNK_BYTES = 1 << 24
# The third byte of a file names the type of its values, which are big-endian.
DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: PathLike, *, max_items: int | None = None) -> np.ndarray[Any, Any]:
    """The array in an IDX file, also a gzipped one; read-only, in the machine's byte order.

    Args:
        path: the file.
        max_items: the largest first dimension that is believed.

    Raises:
        OSError: the file cannot be read.
        DatasetError: it is no IDX file, too short or too long for what its header says, or has too many items.

    Example:
        >>> _ = Path("labels").write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
        >>> read_idx("labels").tolist()
        [7, 2, 1]
    """
    import numpy as np

    file = Path(path)
    with file.open("rb") as raw:
        is_gzip = raw.read(2) == b"\x1f\x8b"
    try:
        with gzip.open(file) if is_gzip else file.open("rb") as stream:
            dtype, shape = _header(file, stream, max_items)
            nbytes = math.prod(shape) * np.dtype(dtype).itemsize
            data = _read(stream, nbytes + 1)  # one more, so that what is left over is seen
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _error(file, f"the compressed data is damaged: {error}") from error
    if len(data) != nbytes:
        more = "more" if len(data) > nbytes else str(len(data))
        raise _error(file, f"the header tells of {nbytes} bytes of shape {shape}, the file has {more}")
    array = np.frombuffer(data, dtype=dtype).reshape(shape)
    native: np.ndarray[Any, Any] = array.astype(array.dtype.newbyteorder("="), copy=False)
    native.flags.writeable = False
    return native


def _header(file: Path, stream: Any, max_items: int | None) -> tuple[str, tuple[int, ...]]:
    magic = stream.read(4)
    if len(magic) < 4 or magic[:2] != b"\0\0" or magic[2] not in DTYPES or not magic[3]:
        raise _error(file, f"this is no IDX file, it begins with {magic.hex(' ')}")
    sizes = stream.read(4 * magic[3])
    if len(sizes) < 4 * magic[3]:
        raise _error(
            file, f"the header ends after {len(sizes)} bytes of the {4 * magic[3]} for {magic[3]} sizes"
        )
    shape = struct.unpack(f">{magic[3]}I", sizes)
    if max_items is not None and shape[0] > max_items:
        raise _error(file, f"the header tells of {shape[0]} items, over the limit of {max_items}")
    return DTYPES[magic[2]], shape


def _read(stream: Any, nbytes: int) -> bytes:
    """As many bytes, or all there are: a header's word is not enough to reserve memory."""
    data = bytearray()
    while len(data) < nbytes and (chunk := stream.read(min(nbytes - len(data), CHUNK_BYTES))):
        data += chunk
    return bytes(data)


def _error(file: Path, text: str) -> DatasetError:
    return DatasetError(f"{file}: {text}", kind="Idx", path=str(file))
