"""Masks: true where attention must not look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from burnpy.config import NonNegative, Variants
from burnpy.tensor import Device, Tensor

__all__ = [
    "GeneratePaddingMask",
    "SeqLengthOption",
    "generate_autoregressive_mask",
    "generate_padding_mask",
]


def generate_autoregressive_mask(batch_size: int, seq_length: int, device: Device | None = None) -> Tensor:
    """The mask that hides the future: true strictly above the diagonal.

    Shapes:
        returns: ``(batch_size, seq_length, seq_length)``, booleans

    Example:
        >>> generate_autoregressive_mask(1, 3).tolist()
        [[[False, True, True], [False, False, True], [False, False, False]]]

    Source: Burn ``nn::attention::generate_autoregressive_mask``.
    """
    mask = Tensor.tril_mask((1, seq_length, seq_length), device=device)
    return mask.expand(batch_size, seq_length, seq_length)


class SeqLengthOption(Variants):
    """How long the rows of :func:`generate_padding_mask` are.

    ``None`` stands for ``NoMax``, an integer for ``Max``.

    Example:
        >>> SeqLengthOption.Fixed(8)
        SeqLengthOption.Fixed(value=8)

    Source: Burn ``nn::attention::SeqLengthOption``.
    """

    NoMax: ClassVar[type[_NoMax]]
    Max: ClassVar[type[_Max]]
    Fixed: ClassVar[type[_Fixed]]

    def length(self, longest: int) -> int:
        """The length of rows, of which the longest list has ``longest`` tokens."""
        raise NotImplementedError


class _NoMax(SeqLengthOption, of=SeqLengthOption, name="NoMax"):
    """As long as the longest list; 1 if there are none."""

    def length(self, longest: int) -> int:
        return longest


class _Max(SeqLengthOption, of=SeqLengthOption, name="Max"):
    """As long as the longest list, but at most ``value``."""

    value: NonNegative

    def length(self, longest: int) -> int:
        return min(longest, self.value)


class _Fixed(SeqLengthOption, of=SeqLengthOption, name="Fixed"):
    """Always ``value``."""

    value: NonNegative

    def length(self, longest: int) -> int:
        return self.value


class GeneratePaddingMask(NamedTuple):
    """What :func:`generate_padding_mask` returns."""

    tensor: Tensor
    """The tokens, ``(batch, length)``, integers."""
    mask: Tensor
    """True where there is padding, ``(batch, length)``, booleans."""


def generate_padding_mask(
    pad_token: int,
    tokens_list: Sequence[Sequence[int]],
    seq_length: SeqLengthOption | int | None = None,
    device: Device | None = None,
) -> GeneratePaddingMask:
    """Lists of tokens as one tensor, filled up on the right, and the mask of what was filled.

    Args:
        pad_token: what rows are filled with. A real token that equals it is masked too.
        tokens_list: the lists; what is longer than a row is cut off.
        seq_length: how long the rows are.
        device: where the tensors are; the default device if it is not given.

    Raises:
        TypeError: ``seq_length`` is neither an option nor an integer.

    Example:
        >>> tokens, mask = generate_padding_mask(0, [[5, 6], [7, 8, 9]])
        >>> tokens.tolist(), mask.tolist()
        ([[5, 6, 0], [7, 8, 9]], [[False, False, True], [False, False, False]])

    Source: Burn ``nn::attention::generate_padding_mask``.
    """
    length = _option(seq_length).length(max(map(len, tokens_list), default=1))
    rows = [[*tokens[:length], *[pad_token] * (length - len(tokens))] for tokens in tokens_list]
    flat = [token for row in rows for token in row]
    tensor = Tensor.from_ints(flat, device).reshape_literal(len(rows), length)
    return GeneratePaddingMask(tensor, tensor.equal_scalar(pad_token))


def _option(seq_length: SeqLengthOption | int | None) -> SeqLengthOption:
    if seq_length is None:
        return SeqLengthOption.NoMax()
    if isinstance(seq_length, SeqLengthOption):
        return seq_length
    if isinstance(seq_length, bool) or not hasattr(seq_length, "__index__"):
        raise TypeError(f"seq_length must be a SeqLengthOption, an integer or None, got {seq_length!r}")
    return SeqLengthOption.Max(seq_length)
