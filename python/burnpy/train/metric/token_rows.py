"""Rows of tokens against each other: how far apart, and what they share."""

from __future__ import annotations

from burnpy.tensor import Tensor

__all__ = ["common_lengths", "edit_distances", "lengths_before_pad", "lengths_without_pad"]


def lengths_before_pad(tokens: Tensor, pad_token: int | None) -> Tensor:
    """Length of each row up to its first padding, i64 ``(batch, 1)`` of tokens ``(batch, width)``."""
    rows, width = tokens.shape
    if pad_token is None or width == 0:
        return Tensor.full((rows, 1), width, dtype="i64")
    # 1 as long as no padding was met.
    return tokens.not_equal(pad_token).cast("i64").cumprod(1).sum_dim(1)


def lengths_without_pad(tokens: Tensor, pad_token: int | None) -> Tensor:
    """Number of tokens of each row that are no padding, i64 ``(batch, 1)``."""
    rows, width = tokens.shape
    if pad_token is None or width == 0:
        return Tensor.full((rows, 1), width, dtype="i64")
    return tokens.not_equal(pad_token).cast("i64").sum_dim(1)


def edit_distances(
    outputs: Tensor, targets: Tensor, output_lengths: Tensor, target_lengths: Tensor
) -> Tensor:
    """Least number of insertions, deletions and replacements between rows of these lengths, i64 ``(batch, 1)``.

    Cost: some ten operations on ``(batch, width of targets)`` for each column of outputs.

    Source: Wagner and Fischer 1974, a row of the table at once.
    """
    # The table holds distance - j, so that an insertion, from the left, adds nothing: the running minimum does it.
    rows, width = targets.shape
    table = Tensor.zeros((rows, width + 1), dtype="i64")
    for i in range(outputs.shape[1]):
        deleted = table.add_scalar(1)
        matches = outputs.narrow(1, i, 1).equal(targets).cast("i64")
        replaced = table.narrow(1, 0, width).sub(matches)
        rest = deleted.narrow(1, 1, width).min_pair(replaced)
        row = Tensor.cat([deleted.narrow(1, 0, 1), rest], 1).cummin(1)
        table = table.mask_where(output_lengths.greater(i), row)
    return table.gather(1, target_lengths).add(target_lengths)


def common_lengths(
    outputs: Tensor, targets: Tensor, output_lengths: Tensor, target_lengths: Tensor
) -> Tensor:
    """Length of the longest common subsequence of rows of these lengths, i64 ``(batch, 1)``.

    Cost: some eight operations on ``(batch, width of targets)`` for each column of outputs.
    """
    rows, width = targets.shape
    start = table = Tensor.zeros((rows, width + 1), dtype="i64")
    for i in range(outputs.shape[1]):
        matches = outputs.narrow(1, i, 1).equal(targets).cast("i64")
        longer = table.narrow(1, 0, width).add(matches).max_pair(table.narrow(1, 1, width))
        row = Tensor.cat([start.narrow(1, 0, 1), longer.cummax(1)], 1)
        table = table.mask_where(output_lengths.greater(i), row)
    return table.gather(1, target_lengths)
