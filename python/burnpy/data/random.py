"""Orders and draws as pure functions of a seed: the same on every platform, Python and NumPy, for ever.

The numbers are those of SHAKE-128 (FIPS 202) over the seed and what is drawn. Python promises its ``random()`` alone
to stay as it is, NumPy no stream at all; a run that is resumed on another machine needs more than that.
"""

from __future__ import annotations

import hashlib
import operator
import os
import random
import struct
from typing import TYPE_CHECKING, TypeAlias

from burnpy._core import Device, Tensor

if TYPE_CHECKING:
    import numpy as np

__all__ = ["RngSource", "draws", "fork", "iota", "permutation", "shuffled_indices"]

RngSource: TypeAlias = int | random.Random | None
"""Where randomness comes from: a seed below 2^64, a generator (forked: it moves on, and each use gives a new
stream), or ``None`` for the operating system's."""


def fork(rng: RngSource) -> bytes:
    """The key of a new stream: always the same for a seed, another one at each call for a generator.

    Raises:
        TypeError: neither an int, a ``random.Random`` nor ``None``.
        ValueError: a seed that is negative or does not fit into 64 bits.

    Example:
        >>> fork(42) == fork(42), fork(None) == fork(None)
        (True, False)
    """
    if rng is None:
        return os.urandom(32)
    if isinstance(rng, random.Random):
        return rng.getrandbits(256).to_bytes(32, "little")
    try:
        seed = operator.index(rng)
    except TypeError:
        raise TypeError(f"rng must be an int, a random.Random or None, got {type(rng).__name__}") from None
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"a seed must lie in [0, 2**64), got {seed}")
    return seed.to_bytes(8, "little")


def stream(key: bytes, *place: int) -> bytes:
    """The key of a stream within another: one for each place."""
    return key + b"".join(number.to_bytes(8, "little") for number in place)


def permutation(length: int, key: bytes) -> np.ndarray[tuple[int], np.dtype[np.integer]]:
    """The numbers 0 to ``length`` − 1 in an order that the key decides; read-only.

    Each gets 64 bits, and they are sorted by them; a tie, of which there is one in 2^24 orders of a million, leaves
    the two as they were. Costs about 0.1 s and 16 MB for a million, held only while sorting but for 4 bytes a number.

    Example:
        >>> permutation(5, fork(1)).tolist() == permutation(5, fork(1)).tolist()
        True
    """
    import numpy as np

    keys = np.frombuffer(_bits(b"permutation", key, 8 * length), dtype="<i8")
    return Tensor.from_numpy(keys, device=Device.cpu()).argsort(0).numpy()


def draws(length: int, count: int, key: bytes) -> list[int]:
    """``count`` numbers below ``length``, each drawn uniformly and on its own (a bias of ``length`` / 2^64 apart).

    Example:
        >>> len(draws(3, 100, fork(0))), set(draws(3, 100, fork(0)))
        (100, {0, 1, 2})
    """
    numbers = struct.unpack(f"<{count}Q", _bits(b"draws", key, 8 * count))
    return [number * length >> 64 for number in numbers]


def iota(length: int) -> list[int]:
    """The numbers 0 to ``length`` − 1.

    Example:
        >>> iota(3)
        [0, 1, 2]
    """
    return list(range(length))


def shuffled_indices(length: int, rng: RngSource) -> list[int]:
    """The numbers 0 to ``length`` − 1 in random order; the same for the same seed and length.

    Unlike Burn: its orders for a seed are those of a crate's generator, these of SHAKE-128.

    Example:
        >>> sorted(shuffled_indices(4, 42)) == iota(4)
        True
    """
    if length < 0:
        raise ValueError(f"length must not be negative, got {length}")
    indices: list[int] = permutation(length, fork(rng)).tolist()
    return indices


def _bits(purpose: bytes, key: bytes, nbytes: int) -> bytes:
    # The lengths keep purpose and key apart.
    return hashlib.shake_128(b"burnpy %d %s %s" % (len(purpose), purpose, key)).digest(nbytes)
