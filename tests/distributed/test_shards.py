"""Sums whose bits do not depend on who computes what."""

from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy.distributed import Buckets, Communicator, LocalCommunicator, Shards, sum_in_order, sum_shards
from burnpy.errors import BurnpyError
from tests.distributed.launch import on_threads

SHAPES = [(30, 7), (5,), (1,), (0, 3), (400,), ()]


def tensors(seed: int) -> list[bp.Tensor]:
    draw = np.random.default_rng(seed)
    arrays = [draw.normal(size=shape or (1,)).astype(np.float32) for shape in SHAPES]
    return [*map(bp.Tensor.from_numpy, arrays), bp.Tensor.from_numpy(np.array([seed, -seed], np.float64))]


@pytest.mark.parametrize("num_shards", [1, 2, 3, 4, 12])
def test_the_bits_are_those_of_one_rank(num_shards: int) -> None:
    buckets = Buckets(tensors(0), 1000)
    whole = [sum_in_order(list(parts)) for parts in zip(*map(tensors, range(num_shards)), strict=True)]

    def work(ranks: Communicator) -> Any:
        shards = Shards(num_shards, ranks.size)
        owned = [buckets.flatten(tensors(shard)) for shard in shards.of(ranks.rank)]
        counts = [len(shards.of(rank)) for rank in range(ranks.size)]
        return buckets.split(sum_shards(ranks, owned, counts, buckets))

    for size in range(1, num_shards + 1):
        for found in on_threads(size, work):
            assert [t.numpy().tobytes() for t in found] == [t.numpy().tobytes() for t in whole]
            assert [t.shape for t in found] == [t.shape for t in whole]


@pytest.mark.parametrize("windows", [None, 128, 704])
def test_the_bits_are_the_same_without_windows_and_through_small_ones(
    windows: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    buckets = Buckets(tensors(0), 1000)
    whole = [sum_in_order(list(parts)) for parts in zip(*map(tensors, range(6)), strict=True)]
    if windows is None:
        monkeypatch.setattr(LocalCommunicator, "windows", Communicator.windows)
    else:
        monkeypatch.setattr("burnpy.distributed.shards.WINDOW_BYTES", windows)
        monkeypatch.setattr("burnpy.distributed.local.WINDOW_BYTES", windows)

    def work(ranks: Communicator) -> Any:
        owned = [buckets.flatten(tensors(shard)) for shard in Shards(6, 4).of(ranks.rank)]
        return buckets.split(sum_shards(ranks, owned, [1, 2, 1, 2], buckets))

    for found in on_threads(4, work):
        assert [t.numpy().tobytes() for t in found] == [t.numpy().tobytes() for t in whole]


@pytest.mark.parametrize("limit", [64, 128, 1024, 2**20])
def test_parts_are_all_of_the_buckets_and_do_not_overlap(limit: int) -> None:
    given = [*tensors(0), bp.Tensor.zeros((0,), dtype="i32"), bp.Tensor([1.0, 2.0, 3.0]).cast("bf16")]
    buckets = Buckets(given, 500)
    seen: list[tuple[int, int]] = []
    for group in buckets.parts(limit):
        memory, at = np.zeros(limit, np.uint8), 0
        for part in group:
            assert part.at % 64 == 0
            assert part.at >= at
            place = part.within(memory)
            assert place.size == part.stop - part.start
            at = part.at + place.nbytes
            seen += [(part.bucket, i) for i in range(part.start, part.stop)]
        assert at <= limit
    sizes = [bucket.size for bucket in buckets.flatten(given)]
    assert seen == [(bucket, i) for bucket, size in enumerate(sizes) for i in range(size)]
    assert {part.bucket for group in buckets.parts(limit) for part in group} == {*range(len(buckets))}


def test_a_rank_may_have_no_shard() -> None:
    buckets = Buckets(tensors(0))

    def work(ranks: Communicator) -> Any:
        owned = [buckets.flatten(tensors(3))] if ranks.rank == 1 else []
        return buckets.split(sum_shards(ranks, owned, [0, 1, 0], buckets))

    for found in on_threads(3, work):
        assert [t.tolist() for t in found] == [t.tolist() for t in tensors(3)]


def test_shards_are_neighbours_and_even() -> None:
    for num_shards in range(1, 14):
        for size in range(1, num_shards + 1):
            parts = [list(Shards(num_shards, size).of(rank)) for rank in range(size)]
            assert [shard for part in parts for shard in part] == list(range(num_shards))
            assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_buckets_are_of_one_dtype_and_not_too_large() -> None:
    flat = Buckets(tensors(1), 1000).flatten(tensors(1))
    assert [bucket.dtype for bucket in flat] == ["f32", "f32", "f64"]
    assert [bucket.shape for bucket in flat] == [(217,), (400,), (2,)]


def test_owners_share_the_bytes() -> None:
    sizes = [3, 10, 4, 4, 9]
    buckets = Buckets([bp.Tensor.zeros((n,)) for n in sizes], 1)
    assert buckets.owners(2) == [1, 0, 1, 0, 1]
    assert buckets.owners(1) == [0] * 5


def test_what_is_missing_counts_as_zeros() -> None:
    buckets = Buckets([bp.Tensor([1.0, 2.0]), bp.Tensor([3.0])])
    assert buckets.flatten([None, bp.Tensor([4.0])])[0].tolist() == [0.0, 0.0, 4.0]


def test_bf16_goes_through() -> None:
    part = bp.Tensor([1.5, -2.0]).cast("bf16")
    buckets = Buckets([part])

    def work(ranks: Communicator) -> Any:
        return sum_shards(ranks, [buckets.flatten([part])], [1, 1], buckets)

    for found in on_threads(2, work):
        assert found[0].dtype == "bf16"
        assert found[0].cast("f32").tolist() == [3.0, -4.0]


def test_what_cannot_be_is_refused() -> None:
    alone = LocalCommunicator.group(1)[0]
    buckets = Buckets([bp.Tensor([1.0])])
    with pytest.raises(ValueError, match="4 ranks cannot share 2 shards"):
        Shards(2, 4)
    with pytest.raises(ValueError, match="size must be at least 1"):
        Shards(2, 0)
    with pytest.raises(ValueError, match="rank 0 must have 2 of 2 shards, got 1"):
        sum_shards(alone, [buckets.flatten([None])], [2], buckets)
    with pytest.raises(ValueError, match="bucket_bytes must be at least 1, got 0"):
        Buckets([], 0)
    with pytest.raises(ValueError, match="there must be 1 tensors, got 2"):
        buckets.flatten([None, None])
    with pytest.raises(BurnpyError):
        buckets.flatten([bp.Tensor([1.0, 2.0])])
    with pytest.raises(ValueError, match="parts must have a tensor"):
        sum_in_order([])
