"""What a strategy is given."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from burnpy.errors import DatasetError
from burnpy.train.failure import failed
from burnpy.train.run_state import Position

if TYPE_CHECKING:
    from burnpy.train.checkpoint import LearningCheckpointer, Snapshot
    from burnpy.train.event import AnyLearnerEvent
    from burnpy.train.event_processor import TrainingProcessor
    from burnpy.train.interrupter import Interrupter
    from burnpy.train.learner import Learner
    from burnpy.train.loader import LoaderPass
    from burnpy.train.metric.metric import MetricMetadata
    from burnpy.train.metric.store import EventStoreClient
    from burnpy.train.run_state import RunState
    from burnpy.train.summary import LearnerSummary

__all__ = ["TrainingComponents"]

_LOG = logging.getLogger("burnpy.train")


class TrainingComponents:
    """What a training was configured with, and what keeps it going.

    Attributes:
        num_epochs: the last epoch.
        grad_accumulation: batches to a step of the optimizer, or ``None``.
        interrupter: to be looked at after each batch and pass.
        early_stopping: its strategy, or ``None``.
        event_store: answers questions for values of metrics, after :meth:`flush`.

    Source: Burn ``train::TrainingComponents``.
    """

    def __init__(
        self,
        *,
        label: str | None,
        num_epochs: int,
        checkpointer: LearningCheckpointer | None,
        checkpointing_strategy: Any,
        checkpoint_every: int | None,
        grad_accumulation: int | None,
        interrupter: Interrupter,
        early_stopping: Any,
        processor: TrainingProcessor,
        state: RunState,
        summary: Callable[[Any], LearnerSummary | None] | None,
        end_of_epoch: Callable[[], None] = lambda: None,
    ) -> None:
        self.label = label
        self.num_epochs = num_epochs
        self.checkpointer = checkpointer
        self.checkpointing_strategy = checkpointing_strategy
        self.checkpoint_every = checkpoint_every
        self.grad_accumulation = grad_accumulation
        self.interrupter = interrupter
        self.early_stopping = early_stopping
        self.processor = processor
        self.state = state
        self._summary = summary
        self._end_of_epoch = end_of_epoch

    @property
    def event_store(self) -> EventStoreClient:
        """Answers questions for values of metrics."""
        return self.processor.store.client()

    def train(self, event: AnyLearnerEvent) -> None:
        """Tell an event of the training; what fails in it stops the run."""
        try:
            self.processor.process_train(event)
        except Exception as error:
            self._processing_failed(error)

    def train_item(self, item: Any, metadata: MetricMetadata) -> None:
        """Tell of an item of the training, as :meth:`train` does."""
        try:
            self.processor.process_item(self.processor.train, item, metadata)
        except Exception as error:
            self._processing_failed(error)

    def valid_item(self, item: Any, metadata: MetricMetadata) -> None:
        """Tell of an item of the validation, as :meth:`valid` does."""
        try:
            self.processor.process_item(self.processor.valid, item, metadata)
        except Exception as error:
            self._processing_failed(error)

    def valid(self, event: AnyLearnerEvent) -> None:
        """Tell an event of the validation; what fails in it stops the run."""
        try:
            self.processor.process_valid(event)
        except Exception as error:
            self._processing_failed(error)

    def _processing_failed(self, error: Exception) -> None:
        self.interrupter.fail(failed("event_processor", "metrics or loggers failed", error))

    def flush(self) -> None:
        """Have all files complete; what fails in it stops the run."""
        try:
            self.processor.flush()
        except Exception as error:
            self.interrupter.fail(failed("event_processor", "a logger failed", error))

    def next_batch(self, batches: LoaderPass) -> Any:
        """The next batch; what fails in it stops the run, and ends the pass.

        Raises:
            StopIteration: there is none.
        """
        try:
            return batches.next()
        except StopIteration:
            raise
        except Exception as error:
            what = "" if isinstance(error, DatasetError) else f"{type(error).__name__}, "
            self.interrupter.fail(failed("dataset", f"{what}the data loader failed", error))
            raise StopIteration from None

    def make_summary(self, model: Any) -> LearnerSummary | None:
        """The table of the run, if it was asked for."""
        return None if self._summary is None else self._summary(model)

    # ---- checkpoints

    def after_optimizer_step(self, learner: Learner, batches: LoaderPass, iteration: int) -> None:
        """Count a step, and save a set in the middle of the epoch where that is due."""
        self.state.optimizer_steps += 1
        every = self.checkpoint_every
        if every is None or self.state.optimizer_steps % every:
            return
        if self.interrupter.error() is None:
            self.hold(learner, Position(self.state.epoch, iteration, batches.state()))()

    def hold(self, learner: Learner, position: Position) -> Callable[[], None]:
        """The state now, to be saved later: what a stop in the validation goes back to."""
        if self.checkpointer is None:
            return lambda: None
        key = f"step-{self.state.optimizer_steps}"
        snapshot = self._snapshot(learner, position)
        return lambda: self._save(key, snapshot, [])

    def _snapshot(self, learner: Learner, position: Position | None) -> Snapshot | None:
        """The state now; ``None`` where something of it cannot be had, which stops the run."""
        try:
            return self.state.snapshot(learner, position, self)
        except Exception as error:
            # Log files are flushed for it, and the disk may be full.
            self._checkpoint_failed(error)
            return None

    def end_of_epoch(self, learner: Learner, epoch: int) -> bool:
        """Save the set of an epoch as the strategy wants it; whether the training is to end early."""
        self._end_of_epoch()
        if self.checkpointer is None and self.early_stopping is None:
            return False
        self.flush()
        if self.interrupter.should_stop():
            return True
        actions = []
        try:
            if self.checkpointer is not None:
                actions = self.checkpointing_strategy.checkpointing(epoch, self.event_store)
            if self.early_stopping is not None:
                self.state.stopped_early = bool(self.early_stopping.should_stop(epoch, self.event_store))
        except Exception as error:
            self.interrupter.fail(failed("event_processor", "a strategy failed", error))
            return True
        if self.checkpointer is not None:
            self._carry_out(actions, learner, epoch)
        return self.state.stopped_early

    def _carry_out(self, actions: list[Any], learner: Learner, epoch: int) -> None:
        delete = [action.epoch for action in actions if not action.is_save()]
        if any(action.is_save() for action in actions):
            self._save(epoch, self._snapshot(learner, None), delete)
        elif delete and self.checkpointer is not None:
            self.checkpointer.delete(delete, self._checkpoint_failed)

    def _save(self, key: int | str, snapshot: Snapshot | None, delete: list[int]) -> None:
        if self.checkpointer is not None and snapshot is not None:
            self.checkpointer.save(key, snapshot, delete, self._checkpoint_failed)

    def _checkpoint_failed(self, error: Exception) -> None:
        self.interrupter.fail(failed("checkpoint", "a checkpoint could not be saved", error))
