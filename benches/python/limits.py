"""What the machine itself can do with the bytes of a case, in the same run: the floor under every row.

NumPy and the ``os`` module move the bytes; at a megabyte a call their own cost does not count. Each limit is a
function without arguments, to be timed like a library's.
"""

import mmap
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benches.python.cases import Case

PAGE = 4096
HUGE_PAGE = 2 << 20
READ_CHUNK = 16 << 20
WRITE_CHUNK = 256 << 10  # larger ones write no faster

_POOL = ThreadPoolExecutor(2)


def huge_buffer(num_bytes: int) -> np.ndarray:
    """Fresh memory on 2 MiB pages, not yet touched."""
    block = mmap.mmap(-1, num_bytes + HUGE_PAGE)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        block.madvise(mmap.MADV_HUGEPAGE)
    whole = np.frombuffer(block, np.uint8)
    start = -whole.ctypes.data % HUGE_PAGE
    return whole[start : start + num_bytes]


def warm_buffer(num_bytes: int) -> np.ndarray:
    buffer = huge_buffer(num_bytes)
    buffer.fill(1)
    return buffer


def touch(arrays: list[np.ndarray]) -> None:
    """Reads a byte of every page."""
    for array in arrays:
        np.bitwise_xor.reduce(array.reshape(-1).view(np.uint8)[::PAGE])


def on_two_threads(action: Callable[[int], None]) -> None:
    """Runs ``action(0)`` and ``action(1)`` at once."""
    list(_POOL.map(action, (0, 1)))


def read_header(path: Path) -> bytes:
    """Opens the file and reads header and metadata: what nobody who lists it can avoid."""
    handle = os.open(path, os.O_RDONLY)
    header = os.pread(handle, 10, 0)
    metadata = os.pread(handle, int.from_bytes(header[6:10], "little"), 10)
    os.close(handle)
    return metadata


def read_range(path: Path, start: int, end: int) -> bytes:
    """Opens the file and reads one stretch of it."""
    handle = os.open(path, os.O_RDONLY)
    content = os.pread(handle, end - start, start)
    os.close(handle)
    return content


def map_file(path: Path) -> np.ndarray:
    with path.open("rb") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.uint8)


def map_and_touch(path: Path, start: int = 0, end: int | None = None, *, threads: int = 1) -> np.ndarray:
    window = map_file(path)[start:end]
    if threads == 1:
        touch([window])
    else:
        middle = len(window) // 2 // PAGE * PAGE
        on_two_threads(lambda part: touch([window[middle:] if part else window[:middle]]))
    return window


def read_into(path: Path, out: np.ndarray, start: int = 0, *, threads: int = 1) -> None:
    """``pread`` of ``len(out)`` bytes into memory that is there already."""
    handle = os.open(path, os.O_RDONLY)
    middle = len(out) // 2 // PAGE * PAGE
    if threads == 1:
        _pread(handle, out, start)
    else:
        halves = [(out[:middle], start), (out[middle:], start + middle)]
        on_two_threads(lambda part: _pread(handle, *halves[part]))
    os.close(handle)


def _pread(handle: int, out: np.ndarray, start: int) -> None:
    done = 0
    while done < len(out):
        read = os.preadv(handle, [out[done : done + READ_CHUNK]], start + done)
        if read == 0:
            raise EOFError(f"the file ends at byte {start + done}, {len(out) - done} bytes early")
        done += read


def write_file(path: Path, pieces: list[np.ndarray], *, durable: bool = False) -> None:
    """A fresh file: room first (fallocate), then ``write(2)``."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.posix_fallocate(handle, 0, sum(len(piece) for piece in pieces))
    for piece in pieces:
        for start in range(0, len(piece), WRITE_CHUNK):
            os.write(handle, piece[start : start + WRITE_CHUNK])
    if durable:
        os.fsync(handle)
    os.close(handle)


def copy_file(source: Path, target: Path) -> None:
    """A copy by ``read(2)`` and ``write(2)``, a chunk at a time through one small buffer."""
    buffer = memoryview(bytearray(WRITE_CHUNK))
    with open(source, "rb", buffering=0) as file, open(target, "wb", buffering=0) as copy:
        while read := file.readinto(buffer):
            copy.write(buffer[:read])


def copy_into(out: np.ndarray, pieces: list[np.ndarray], *, threads: int = 1) -> None:
    """memcpy of all pieces, one behind the other, each at a multiple of 256."""
    if threads == 1:
        _copy(out, pieces, 0.0, 1.0)
    else:
        on_two_threads(lambda part: _copy(out, pieces, part / 2, (part + 1) / 2))


def _copy(out: np.ndarray, pieces: list[np.ndarray], first: float, last: float) -> None:
    start = 0
    for piece in pieces:
        a, b = int(len(piece) * first) // PAGE * PAGE, len(piece)
        if last < 1:
            b = int(len(piece) * last) // PAGE * PAGE
        np.copyto(out[start + a : start + b], piece[a:b])
        start += -(-len(piece) // 256) * 256


def first_touch(num_bytes: int) -> np.ndarray:
    """Fresh 2 MiB pages, each touched once: what new memory costs before anything is in it."""
    buffer = huge_buffer(num_bytes)
    buffer[::PAGE] = 1
    return buffer


def payload(case: Case) -> list[np.ndarray]:
    """The case's bytes; of very many small tensors one block, since a limit has no cost per tensor."""
    if case.is_tiny:
        return [np.ones(case.num_bytes, np.uint8)]
    return [array.reshape(-1).view(np.uint8) for array in case.arrays.values()]
