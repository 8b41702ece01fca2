"""Which of many names was probably meant."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["closest", "jaro"]

_LEAST = 0.7


def jaro(text: str, other: str) -> float:
    """Jaro similarity from 0 to 1, counted as Burn's reports do.

    Not quite the textbook's: a transposition is a match that lies before the match of the letter before it.

    Example:
        >>> round(jaro("dixon", "dicksonx"), 5), jaro("", ""), jaro("a", "")
        (0.76667, 1.0, 0.0)
    """
    if not text or not other:
        return float(text == other)
    if len(text) == len(other) == 1:
        return float(text == other)
    matches, transpositions = _matches(text, other)
    if not matches:
        return 0.0
    parts = matches / len(text), matches / len(other), (matches - transpositions) / matches
    return sum(parts) / 3


def _matches(text: str, other: str) -> tuple[int, int]:
    window = max(len(text), len(other)) // 2 - 1
    # Positions of every letter that are not taken yet, as bits of one number: names are long and reports have many.
    free: dict[str, int] = {}
    for position, letter in enumerate(other):
        free[letter] = free.get(letter, 0) | 1 << position
    matches = transpositions = 0
    last = -1
    for position, letter in enumerate(text):
        first = max(0, position - window)
        width = position + window + 1 - first
        near = (free.get(letter, 0) >> first) & ((1 << width) - 1)
        if not near:
            continue
        hit = near & -near
        found = first + hit.bit_length() - 1
        free[letter] ^= hit << first
        matches += 1
        transpositions += found < last
        last = found
    return matches, transpositions


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that is most like a name, the first of equals; ``None`` if none is like it.

    Example:
        >>> closest("fc.1.weight", ["conv.bias", "fc.2.weight"])
        'fc.2.weight'
    """
    best = max(((jaro(name, one), one) for one in candidates), key=lambda pair: pair[0], default=(0.0, ""))
    return best[1] if best[0] >= _LEAST else None
