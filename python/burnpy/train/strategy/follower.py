"""The ranks that help the first one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from burnpy.data import DataLoader
from burnpy.data.dataloader import BatchParts, part_of
from burnpy.record import LrSchedulerRecord, ModuleRecord, OptimizerRecord
from burnpy.train.strategy.commands import Batch, Begin, End, Save, Step
from burnpy.train.strategy.optimizer_files import save_part
from burnpy.train.strategy.replica import Replica, Report, ShardResult, portable

if TYPE_CHECKING:
    from burnpy.distributed import Communicator
    from burnpy.train.interrupter import Interrupter
    from burnpy.train.learner import Learner

__all__ = ["Follower"]


class Follower:
    """Does what the first rank says, until that ends the run.

    An error here is kept and told with the next report, so that the ranks stay together.

    Args:
        communicator: of this rank.
        learner: with a model like that of the first rank; what it has learnt is replaced.
        loaders: train and valid.
        interrupter: a stop here stops the run.
        bucket_bytes: as on the first rank.
    """

    def __init__(
        self,
        communicator: Communicator,
        learner: Learner,
        loaders: tuple[Any, Any],
        interrupter: Interrupter,
        bucket_bytes: int,
    ) -> None:
        self._communicator = communicator
        self.learner = learner
        self._loaders = dict(zip(("train", "valid"), loaders, strict=True))
        self._interrupter = interrupter
        self._bucket_bytes = bucket_bytes
        self._replica: Replica | None = None
        self._readers: dict[str, _Reader] = {}
        self._error: BaseException | None = None

    def run(self) -> End:
        """Follow to the end."""
        try:
            while True:
                command = self._communicator.broadcast_object(None)
                if isinstance(command, End):
                    self._kept(self._commit, command.running)
                    return command
                self._follow(command)
        finally:
            for reader in self._readers.values():
                reader.close()

    def _follow(self, command: Any) -> None:
        if isinstance(command, Begin):
            contents = [bytearray(size) for size in command.sizes]
            self._communicator.broadcast(contents)
            self._kept(self._begin, command, contents)
        elif isinstance(command, Batch):
            parts = self._communicator.scatter_object(None) if command.cursor is None else None
            report = Report([])
            self._kept(self._batch, command, parts, report)
            self._tell(report)
        elif isinstance(command, Step):
            self._step(command)
        elif isinstance(command, Save):
            self._commit(command.running)
            self._kept(save_part, self._communicator, command.path, self.learner.optim.to_record())

    def _kept(self, work: Any, *arguments: Any) -> None:
        """Do something, unless something went wrong before; what goes wrong now is kept."""
        if self._error is not None:
            return
        try:
            work(*arguments)
        except Exception as error:
            self._error = portable(error, self._communicator.rank)

    def _begin(self, command: Begin, contents: list[bytearray]) -> None:
        learner, (model, optim, scheduler) = self.learner, (bytes(content) for content in contents)
        learner.load_model(ModuleRecord.from_bytes(model))
        learner.load_optim(OptimizerRecord.from_bytes(optim))
        learner.load_scheduler(LrSchedulerRecord.from_bytes(scheduler))
        learner.load_rates(command.rates)
        self._replica = Replica(self._communicator, learner, command.num_shards, self._bucket_bytes)
        own = self._replica.own_shards()
        for split, loader in self._loaders.items():
            if isinstance(loader, DataLoader):
                self._readers[split] = _Reader(part_of(loader, command.num_shards, own))

    def _commit(self, running: list[Any]) -> None:
        if running and self._replica is not None:
            self._replica.commit(running)

    def _batch(self, command: Batch, parts: BatchParts | None, report: Report) -> None:
        assert self._replica is not None, "begun before"
        self._commit(command.running)
        split = command.place.split
        if parts is None:
            assert command.cursor is not None, "else the parts came along"
            parts = self._readers[split].read(*command.cursor)
        compute = self._replica.train if split == "train" else self._replica.validate
        results: Iterable[ShardResult] = compute(command.place, parts)
        report.results = list(results)

    def _step(self, command: Step) -> None:
        assert self._replica is not None, "begun before"
        self._commit(command.running)
        self.learner.lr_step()
        # All ranks are needed here: what fails in it ends them all.
        grads = self._replica.gradients(command.active, command.present)
        self._kept(self.learner.optimizer_step, grads)

    def _tell(self, report: Report) -> None:
        report.error = self._error
        report.stop = (self._interrupter.should_stop(), self._interrupter.get_message())
        try:
            self._communicator.gather_object(report)
        except (TypeError, AttributeError, ValueError) as error:
            # The output cannot be pickled; nothing was sent yet.
            self._communicator.gather_object(Report([], portable(error, self._communicator.rank)))


class _Reader:
    """The own parts of batches, read ahead as long as they are asked for one by one."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._batches: Iterator[BatchParts] | None = None
        self._next: tuple[int, int] | None = None

    def read(self, epoch: int, number: int) -> BatchParts:
        """The parts of a batch."""
        if self._next != (epoch, number) or self._batches is None:
            self.close()
            self._loader.load_state_dict(self._loader.cursor(epoch, number, 0))
            self._batches = iter(self._loader)
        self._next = None
        parts: BatchParts | None = next(self._batches, None)
        if parts is None:
            raise RuntimeError(f"this rank's data set has no batch {number} in epoch {epoch}")
        self._next = (epoch, number + 1)
        return parts

    def close(self) -> None:
        """Leave the pass."""
        close = getattr(self._batches, "close", None)
        if close is not None:
            close()
        self._batches = None
