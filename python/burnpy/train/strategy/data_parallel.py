"""Training on several ranks: each batch is cut into shards, and each rank computes some."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from burnpy.distributed import Communicator, CommunicatorError, LocalCommunicator, MpiCommunicator, Shards
from burnpy.train.interrupter import Interrupter
from burnpy.train.renderer import QuietMetricsRenderer
from burnpy.train.result import LearningResult
from burnpy.train.strategy.commands import End
from burnpy.train.strategy.follower import Follower
from burnpy.train.strategy.leader import LeadingLearner
from burnpy.train.strategy.replica import Replica, portable
from burnpy.train.strategy.single import SingleDeviceStrategy

if TYPE_CHECKING:
    from burnpy.train.learner import Learner
    from burnpy.train.loader import TrainingLoader
    from burnpy.train.strategy.components import TrainingComponents

__all__ = ["DataParallelStrategy"]

_BUCKET_BYTES = 2**20


class DataParallelStrategy(SingleDeviceStrategy):
    """Several ranks train one model: ``mpirun -n 4 python train.py``, or threads of one process.

    Each batch is cut into ``num_shards`` shards. A rank computes some, one after another, and the gradients are summed
    in an order that the shards decide, each weighed by its items; random numbers in a shard depend on the seed, the
    place in the run, and the shard. So the same ``num_shards`` give the same bits on any number of ranks, and a run
    may be stopped with four and go on with two. The first rank goes through the epochs, measures, logs, shows and
    saves; the others start as its copies, compute, and make the same steps of the optimizer.

    Ranks that are threads compute at once, each with its share of the threads that kernels use. Each has a clone of the
    model; what else its steps use, such as a counter of a class, they share, and must expect calls from all.

    A loss that is a mean stays the mean over the batch (Unlike Burn: its ``multi`` feeds whole batches, and sums).
    Running statistics of batch normalisation are the mean of the shards'; each shard is normalised by its own.

    Of a :class:`~burnpy.data.DataLoader` each rank reads its shards alone; the data sets of all ranks must be equal, so
    what is random in them has a seed. Any other loader is read on the first rank, which sends the others their parts.

    Args:
        ranks: a communicator, or how many threads; without it the processes that MPI's launcher started, or this
            thread alone if it did not.
        num_shards: of a batch; as many as ranks by default. It is kept in checkpoints: 12 serve 1, 2, 3, 4, 6 and 12
            ranks.
        share_checkpoints: whether each rank writes a part of the optimizer's record, into a folder that all see:
            several disks or connections at once for one that is large. Training waits meanwhile. It is read on any
            number of ranks, and by ``burnpy.safe_open``, but not by Burn.
        bucket_bytes: how large the buffers are that gradients travel in.

    Raises:
        ValueError: a number is less than 1, or there are fewer shards than ranks.
        ImportError: MPI's launcher started this, and mpi4py is not installed.

    Source: Burn ``train::ExecutionStrategy::ddp`` and ``multi``.
    """

    def __init__(
        self,
        ranks: Communicator | int | None = None,
        *,
        num_shards: int | None = None,
        share_checkpoints: bool = False,
        bucket_bytes: int = _BUCKET_BYTES,
    ) -> None:
        if ranks is None:
            ranks = MpiCommunicator() if MpiCommunicator.is_launched() else 1
        self._threads = ranks if isinstance(ranks, int) else 0
        self.communicator = LocalCommunicator.group(ranks)[0] if isinstance(ranks, int) else ranks
        if bucket_bytes < 1:
            raise ValueError(f"bucket_bytes must be at least 1, got {bucket_bytes}")
        if num_shards is not None:
            Shards(num_shards, self.communicator.size)
        self._asked = num_shards
        self.num_shards = num_shards or self.communicator.size
        self._bucket_bytes = bucket_bytes
        self._share_checkpoints = share_checkpoints
        self._leading: LeadingLearner | None = None

    # ---- what a checkpoint keeps

    def state_dict(self) -> dict[str, int]:
        """How a batch is cut."""
        return {"num_shards": self.num_shards}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        """Cut batches as before.

        Raises:
            ValueError: another number was asked for, or there are more ranks than shards.
        """
        kept = int(state["num_shards"])
        if self._asked not in (None, kept):
            raise ValueError(f"num_shards is {self._asked}, and the run to go on with has {kept}")
        Shards(kept, self.communicator.size)
        self.num_shards = kept

    # ---- the run

    def launch(
        self,
        run: Callable[[], LearningResult],
        learner: Learner,
        loaders: tuple[Any, Any],
        interrupter: Interrupter,
    ) -> LearningResult:
        """Have the first rank run, and the others follow."""
        self.communicator.settle(False)
        if self.communicator.rank:
            return self._follow(self.communicator, learner, loaders, interrupter)
        with self._followers(learner, loaders):
            try:
                result = run()
            except Exception as error:
                self._end(End([], {}, error=error, is_raised=True))
                raise
            except BaseException as error:
                self.communicator.abort(repr(error))
                raise
            self._end(End([], result.history, result.interrupted, result.error))
            return result

    @contextmanager
    def _followers(self, learner: Learner, loaders: tuple[Any, Any]) -> Iterator[None]:
        """Threads for the other ranks, if they are no processes."""
        if not self._threads:
            if isinstance(self.communicator, MpiCommunicator):
                self.communicator.share_cores()
            yield
            return
        first, *others = LocalCommunicator.group(self._threads)
        self.communicator = first
        threads = [
            threading.Thread(
                target=self._follow_in_thread,
                args=(other, learner.clone(), loaders),
                name=f"burnpy-rank-{other.rank}",
                daemon=True,
            )
            for other in others
        ]
        for thread in threads:
            thread.start()
        try:
            with first.sharing_cores():
                yield
        finally:
            for thread in threads:
                thread.join()

    def _follow_in_thread(
        self, communicator: LocalCommunicator, learner: Learner, loaders: tuple[Any, Any]
    ) -> None:
        try:
            with communicator.sharing_cores():
                Follower(communicator, learner, loaders, Interrupter(), self._bucket_bytes).run()
        except CommunicatorError:
            return  # the others know
        except BaseException as error:
            communicator.abort(f"{type(error).__name__}: {error}")

    def _follow(
        self, communicator: Communicator, learner: Learner, loaders: tuple[Any, Any], interrupter: Interrupter
    ) -> LearningResult:
        if isinstance(communicator, MpiCommunicator):
            communicator.share_cores()
        try:
            end = Follower(communicator, learner, loaders, interrupter, self._bucket_bytes).run()
        except BaseException as error:
            communicator.abort(f"{type(error).__name__}: {error}")
            raise
        communicator.settle()
        if end.is_raised and end.error is not None:
            raise end.error
        told = cast(Any, end.error)
        return LearningResult(
            learner.model.valid(), QuietMetricsRenderer(), end.interruption, told, end.history
        )

    def _end(self, end: End) -> None:
        if self._leading is not None:
            end.running = self._leading.running
        self._leading = None
        if end.error is not None and not self._threads:
            end.error = portable(end.error, 0)
        try:
            self.communicator.broadcast_object(end)
        except CommunicatorError:
            return  # they have ended already
        self.communicator.settle()

    def fit(
        self,
        components: TrainingComponents,
        learner: Learner,
        dataloader_train: TrainingLoader,
        dataloader_valid: TrainingLoader,
        starting_epoch: int,
    ) -> Any:
        """Train from an epoch on, to the last; on the first rank."""
        replica = Replica(self.communicator, learner, self.num_shards, self._bucket_bytes)
        leading = self._leading = LeadingLearner(components, replica)
        wholes = (dataloader_train.loader, dataloader_valid.loader)
        leading.begin()
        checkpointer = components.checkpointer if self._share_checkpoints else None
        if checkpointer is not None:
            checkpointer.share = leading.share
        try:
            leading.part(dataloader_train)
            leading.part(dataloader_valid)
            return super().fit(
                components, cast(Any, leading), dataloader_train, dataloader_valid, starting_epoch
            )
        finally:
            dataloader_train.loader, dataloader_valid.loader = wholes
            if checkpointer is not None:
                checkpointer.share = None
