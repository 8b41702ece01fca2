"""A rank's model, and its shards of what all ranks do."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from burnpy.distributed import Buckets, CommunicatorError, Shards, sum_shards
from burnpy.module import RunningState
from burnpy.optim import GradientsParams
from burnpy.optim.parameters import parameters_of
from burnpy.tensor import Tensor, random_state
from burnpy.tensor.own_random_state import own_random_state

if TYPE_CHECKING:
    from burnpy.data.dataloader import BatchParts
    from burnpy.distributed import Communicator
    from burnpy.module import Param
    from burnpy.train.learner import Learner

__all__ = ["Place", "Replica", "Report", "ShardResult", "portable"]

_NOTE = "raised on rank "


@dataclass(frozen=True)
class Place:
    """Where in a run a batch is: what random numbers of its shards depend on.

    Attributes:
        seed: of the run.
        split: train or valid.
        epoch: from 1.
        iteration: from 1.
    """

    seed: int
    split: Literal["train", "valid"]
    epoch: int
    iteration: int

    def random(self, shard: int) -> AbstractContextManager[None]:
        """While it lasts, random numbers on this thread are those of a shard, whoever computes it, and wherever.

        A shard has a stream of an epoch, which begins anew 2^32 blocks further on for each batch.
        """
        stream = 2**63 + (2 * self.epoch + (self.split == "valid")) * 2**24 + shard
        begins = self.iteration * 2**32
        return own_random_state((self.seed, stream % 2**64, begins % 2**64, random_state()[3]))


@dataclass
class ShardResult:
    """What came of a shard.

    Attributes:
        shard: its number.
        count: of its items.
        item: the output, for metrics.
        running: the running states that the batch would leave were it this shard alone.
        present: whether each parameter that trains has a gradient.
    """

    shard: int
    count: int
    item: Any
    running: list[Tensor] = field(default_factory=list)
    present: list[bool] = field(default_factory=list)


@dataclass
class Report:
    """What a rank has to say after a batch.

    Attributes:
        results: of its shards.
        error: what went wrong, at any time until now.
        stop: whether it was asked to stop, and why.
    """

    results: list[ShardResult]
    error: BaseException | None = None
    stop: tuple[bool, str | None] = (False, None)


class Replica:
    """A rank's model, and the gradients of its shards.

    Args:
        communicator: of this rank.
        learner: with the model, which is as those of all ranks.
        num_shards: of a batch.
        bucket_bytes: how large the buffers are that gradients travel in.
    """

    def __init__(
        self, communicator: Communicator, learner: Learner, num_shards: int, bucket_bytes: int
    ) -> None:
        self.communicator = communicator
        self.learner = learner
        self.shards = Shards(num_shards, communicator.size)
        self._bucket_bytes = bucket_bytes
        self._sums: dict[int, list[Tensor]] = {}
        self._params: list[Param] = []
        self._buckets: Buckets | None = None
        self._inference: Any = None
        self._seen: Any = None
        self._states: list[RunningState] = []

    def own_shards(self) -> range:
        """Those of this rank."""
        return self.shards.of(self.communicator.rank)

    # ---- a batch

    def train(self, place: Place, parts: BatchParts) -> Iterable[ShardResult]:
        """Forward and backward of this rank's shards; their gradients are kept, weighed by items, until a step."""
        states = self._running()
        committed = [state.fold() for state in states]
        for shard, count, batch in parts.parts:
            with place.random(shard):
                output = self.learner.train_step(batch)
            present = self._keep(shard, output.grads, count, parts.num_items)
            running = [state.fold() for state in states]
            for state, value in zip(states, committed, strict=True):
                state.set_value(value)
            yield ShardResult(shard, count, _synced(output.item), running, present)

    def _keep(self, shard: int, grads: GradientsParams, count: int, total: int) -> list[bool]:
        if not self._sums:
            self._plan()
        assert self._buckets is not None, "planned above"
        found = [grads.get(param.id) for param in self._params]
        flat = self._buckets.flatten(found)
        if count != total:
            flat = [bucket * (count / total) for bucket in flat]
        before = self._sums.get(shard)
        # Over a group of batches each shard has a sum of its own: which shards a rank has must not show in the bits.
        self._sums[shard] = (
            flat if before is None else [past + more for past, more in zip(before, flat, strict=True)]
        )
        return [grad is not None for grad in found]

    def _plan(self) -> None:
        params = [param for param in parameters_of(self.learner.model).params if param.active]
        if self._buckets is None or [*map(id, params)] != [*map(id, self._params)]:
            self._params = params
            self._buckets = Buckets([param.base().inner() for param in params], self._bucket_bytes)

    def validate(self, place: Place, parts: BatchParts) -> Iterable[ShardResult]:
        """Forward of this rank's shards."""
        if self._inference is None:
            self._inference = self.learner.inference_step()
        for shard, count, batch in parts.parts:
            with place.random(shard):
                item = self._inference(batch)
            yield ShardResult(shard, count, _synced(item))

    # ---- between batches

    def commit(self, running: Sequence[Tensor]) -> None:
        """Take running states of a whole batch over."""
        for state, value in zip(self._running(), running, strict=True):
            state.set_value(value)

    def gradients(self, active: Sequence[int], present: Sequence[bool]) -> GradientsParams:
        """The sum of the gradients over all shards, on all ranks; each begins again from none.

        Args:
            active: the shards that had items since the last step.
            present: whether any of them had a gradient of each parameter.
        """
        self._inference = None
        if not self._sums:
            self._plan()
        assert self._buckets is not None, "planned by a batch or above"
        counts = [sum(s in active for s in self.shards.of(rank)) for rank in range(self.communicator.size)]
        owned = [self._sums[shard] for shard in self.own_shards() if shard in active]
        total = sum_shards(self.communicator, owned, counts, self._buckets)
        self._sums.clear()
        grads = GradientsParams()
        for param, grad, is_present in zip(self._params, self._buckets.split(total), present, strict=True):
            if is_present:
                grads.register(param.id, grad)
        return grads

    def _running(self) -> list[RunningState]:
        parameters = parameters_of(self.learner.model)
        if parameters is not self._seen:
            # The same object as long as the module consists of the same parts.
            leaves = [leaf for _, leaf in self.learner.model.named_params()]
            self._seen, self._states = parameters, [leaf for leaf in leaves if isinstance(leaf, RunningState)]
        return self._states


def _synced(item: Any) -> Any:
    sync = getattr(item, "sync", None)
    return item if sync is None else sync()


def portable(error: BaseException, rank: int) -> BaseException:
    """An exception that another process can raise: itself, or one that tells of it. Once, it notes where it was."""
    trace = "".join(traceback.format_exception(error)).rstrip()
    try:
        told: BaseException = pickle.loads(pickle.dumps(error))
    except Exception:
        told = CommunicatorError(f"rank {rank}: {type(error).__name__}: {error}", rank=rank)
    if not any(note.startswith(_NOTE) for note in getattr(told, "__notes__", ())):
        told.add_note(f"{_NOTE}{rank}:\n{trace}")
    return told
