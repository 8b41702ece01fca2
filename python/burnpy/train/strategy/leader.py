"""The rank that goes through the epochs, and has the others help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnpy.data import DataLoader
from burnpy.data.dataloader import BatchParts, part_of
from burnpy.optim import GradientsParams
from burnpy.tensor import Tensor, random_state
from burnpy.train.step import TrainOutput
from burnpy.train.strategy.batch_shards import combined, cut, weighted_sum
from burnpy.train.strategy.commands import Batch, Begin, Command, Save, Step
from burnpy.train.strategy.optimizer_files import save_part
from burnpy.train.strategy.replica import Place, Replica, Report, ShardResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from burnpy.lr_scheduler import ModuleLearningRate, ModuleLrScheduler
    from burnpy.optim import ModuleOptimizer
    from burnpy.record import OptimizerRecord
    from burnpy.train.loader import TrainingLoader
    from burnpy.train.strategy.components import TrainingComponents

__all__ = ["LeadingLearner"]


class LeadingLearner:
    """The learner of a run whose steps are made by all ranks.

    Args:
        components: of the run.
        replica: of this rank.
    """

    def __init__(self, components: TrainingComponents, replica: Replica) -> None:
        self._components = components
        self._replica = replica
        self._learner = replica.learner
        self._communicator = replica.communicator
        self._seed = random_state()[0]
        resumed = components.state.resumed
        self._epoch = components.state.epoch if resumed is None else resumed.epoch
        self._iterations = {"train": 0 if resumed is None else resumed.iteration, "valid": 0}
        self._active: set[int] = set()
        self._present: list[bool] = []
        self.running: list[Tensor] = []

    # ---- as the learner

    @property
    def model(self) -> Any:
        """The model as it is now."""
        return self._learner.model

    @property
    def optim(self) -> ModuleOptimizer:
        """The optimizer."""
        return self._learner.optim

    @property
    def lr_scheduler(self) -> ModuleLrScheduler:
        """The schedule."""
        return self._learner.lr_scheduler

    def lr_current(self) -> ModuleLearningRate | float:
        """The learning rate of the last step."""
        return self._learner.lr_current()

    def lr_step(self) -> None:
        """Go one step on in the schedule; the others do with the step."""
        self._learner.lr_step()

    def rates(self) -> list[float]:
        """The current learning rates by group."""
        return self._learner.rates()

    def train_step(self, batch: Any) -> TrainOutput:
        """Forward and backward on all ranks. The gradients stay with them, until :meth:`optimizer_step`."""
        results = self._computed("train", batch, self._replica.train)
        counts = [result.count for result in results]
        states = zip(*(result.running for result in results), strict=True)
        self.running = [weighted_sum(state, counts) for state in states]
        self._replica.commit(self.running)
        self._active |= {result.shard for result in results}
        masks = [self._present, *(result.present for result in results)]
        self._present = [any(flags) for flags in zip(*filter(None, masks), strict=True)]
        item = combined([result.item for result in results], counts)
        return TrainOutput(self.model, GradientsParams(), item)

    def optimizer_step(self, grads: GradientsParams) -> None:
        """Change all models by the gradients of the batches since the last step; ``grads`` is empty."""
        active, present = sorted(self._active), self._present
        self._active, self._present = set(), []
        self.tell(Step(active, present, self.running))
        try:
            summed = self._replica.gradients(active, present)
        except Exception as error:
            # The others are in the middle of it, and would wait for ever.
            self._communicator.abort(f"{type(error).__name__}: {error}")
            raise
        self._learner.optimizer_step(summed)

    def inference_step(self) -> Callable[[Any], Any]:
        """What validates a batch on all ranks."""

        def step(batch: Any) -> Any:
            results = self._computed("valid", batch, self._replica.validate)
            return combined([result.item for result in results], [result.count for result in results])

        return step

    # ---- with the others

    def begin(self) -> None:
        """Have all ranks be as this one."""
        learner = self._learner
        records = [learner.model.into_record(), learner.optim.to_record(), learner.lr_scheduler.to_record()]
        contents = [bytearray(record.into_bytes()) for record in records]
        sizes = [len(content) for content in contents]
        self.tell(Begin(sizes, learner.rates(), self._replica.shards.num_shards))
        self._communicator.broadcast(contents)

    def share(self, path: Path, record: OptimizerRecord) -> None:
        """Have each rank write a part of the optimizer's record."""
        self.tell(Save(path, self.running))
        save_part(self._communicator, path, record)

    def part(self, loader: TrainingLoader) -> None:
        """Have a loader read only the shards of this rank, if it can."""
        if isinstance(loader.loader, DataLoader):
            shards = self._replica.shards
            loader.loader = part_of(loader.loader, shards.num_shards, self._replica.own_shards())

    def tell(self, command: Command) -> None:
        """Give the other ranks a command."""
        self._communicator.broadcast_object(command)

    def _computed(
        self, split: Any, batch: Any, compute: Callable[[Place, BatchParts], Iterable[ShardResult]]
    ) -> list[ShardResult]:
        """What all ranks made of a batch, by shard."""
        place = self._next_place(split)
        if isinstance(batch, BatchParts):
            self.tell(Batch(place, (batch.epoch, batch.number), self.running))
        else:
            self.tell(Batch(place, None, self.running))
            batch = self._scattered(batch)
        report = Report([])
        try:
            report.results = list(compute(place, batch))
        except Exception as error:
            report.error = error
        reports = self._communicator.gather_object(report)
        assert reports is not None, "this is the rank that gathers"
        return self._heard(reports)

    def _next_place(self, split: Any) -> Place:
        if self._epoch != self._components.state.epoch:
            self._epoch = self._components.state.epoch
            self._iterations = {"train": 0, "valid": 0}
        self._iterations[split] += 1
        return Place(self._seed, split, self._epoch, self._iterations[split])

    def _scattered(self, batch: Any) -> BatchParts:
        whole = cut(batch, self._replica.shards.num_shards)
        of = self._replica.shards.of
        parts = [
            BatchParts(0, 0, whole.num_items, [part for part in whole.parts if part[0] in of(rank)])
            for rank in range(self._communicator.size)
        ]
        mine: BatchParts = self._communicator.scatter_object(parts)
        return mine

    def _heard(self, reports: list[Report]) -> list[ShardResult]:
        """The shards' results, if no rank failed."""
        for report in reports:
            if report.stop[0] and not self._components.interrupter.should_stop():
                self._components.interrupter.stop(report.stop[1])
        for report in reports:
            if report.error is not None:
                raise report.error
        return [result for report in reports for result in report.results]
