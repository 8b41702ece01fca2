"""Training in this process."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from burnpy.optim import GradientsAccumulator
from burnpy.train.event import LearnerEvent
from burnpy.train.metric.metric import MetricMetadata
from burnpy.train.run_state import Position
from burnpy.train.strategy.supervised_strategy import SupervisedLearningStrategy

if TYPE_CHECKING:
    from burnpy.train.learner import Learner
    from burnpy.train.loader import LoaderPass, TrainingLoader
    from burnpy.train.strategy.components import TrainingComponents

__all__ = ["SingleDeviceStrategy"]

_LOG = logging.getLogger("burnpy.train")


class SingleDeviceStrategy(SupervisedLearningStrategy):
    """One model, one batch after the other.

    Source: Burn ``train::ExecutionStrategy::single``.
    """

    def fit(
        self,
        components: TrainingComponents,
        learner: Learner,
        dataloader_train: TrainingLoader,
        dataloader_valid: TrainingLoader,
        starting_epoch: int,
    ) -> Any:
        """Train from an epoch on, to the last."""
        for epoch in range(starting_epoch, components.num_epochs + 1):
            components.state.epoch = epoch
            if not self._epoch(components, learner, dataloader_train, dataloader_valid, epoch):
                break
        return learner.model

    def _epoch(
        self, components: TrainingComponents, learner: Learner, train: Any, valid: Any, epoch: int
    ) -> bool:
        """One epoch; whether there is to be another."""
        interrupter = components.interrupter
        components.train(LearnerEvent.StartSplit(epoch, train.num_items()))
        back = _TrainingPass(components, learner, train).run()
        if interrupter.should_stop():
            self._end_training(components, epoch)
            return False
        components.train(LearnerEvent.EndSplit(epoch))
        components.valid(LearnerEvent.StartSplit(epoch, valid.num_items()))
        self._validate(components, learner, valid)
        if interrupter.should_stop():
            components.valid(LearnerEvent.EndSplit(epoch))
            if interrupter.error() is None:
                # The validation is repeated from its start when the run goes on.
                back()
            _log_stop(components)
            return False
        components.valid(LearnerEvent.EndSplit(epoch))
        components.train(LearnerEvent.EndEpoch(epoch))
        if components.end_of_epoch(learner, epoch):
            _log_stop(components)
            return False
        return not interrupter.should_stop()

    def _end_training(self, components: TrainingComponents, epoch: int) -> None:
        components.train(LearnerEvent.EndSplit(epoch))
        _log_stop(components)

    def _validate(self, components: TrainingComponents, learner: Learner, loader: TrainingLoader) -> None:
        step = learner.inference_step()
        batches = loader.begin()
        iteration = 0
        try:
            while not components.interrupter.should_stop():
                batch = components.next_batch(batches)
                iteration += 1
                item = step(batch)
                components.valid_item(item, MetricMetadata(batches.progress(), iteration))
        except StopIteration:
            return
        finally:
            batches.close()


class _TrainingPass:
    """One pass over the training data."""

    def __init__(self, components: TrainingComponents, learner: Learner, loader: TrainingLoader) -> None:
        self._components = components
        self._learner = learner
        self._loader = loader
        self._group = components.grad_accumulation or 1
        self._accumulator = GradientsAccumulator()
        self._accumulated = 0
        resumed, components.state.resumed = components.state.resumed, None
        self._iteration = resumed.iteration if resumed is not None else 0
        self._complete = resumed is not None and resumed.complete

    def run(self) -> Any:
        """All batches that are left, until a stop; what saves the state at the end of the pass."""
        components = self._components
        cursor = self._loader.state() if self._complete else self._batches()
        back = components.hold(
            self._learner, Position(components.state.epoch, self._iteration, cursor, self._complete)
        )
        if components.interrupter.should_stop() and components.interrupter.error() is None:
            back()
        return back

    def _batches(self) -> dict[str, Any]:
        components, batches = self._components, self._loader.begin()
        try:
            while not (components.interrupter.should_stop() and self._is_to_stop()):
                try:
                    batch = components.next_batch(batches)
                except StopIteration:
                    self._complete = components.interrupter.error() is None
                    break
                self._batch(batch, batches)
            # A loader may not know its total.
            if self._accumulated and components.interrupter.error() is None:
                self._step(self._accumulator.grads())
                components.state.optimizer_steps += 1
            return self._loader.state() if self._complete else batches.state()
        finally:
            batches.close()

    def _is_to_stop(self) -> bool:
        """Asked to stop: a group of accumulated gradients is finished first, unless something failed."""
        return not self._accumulated or self._components.interrupter.error() is not None

    def _batch(self, batch: Any, batches: LoaderPass) -> None:
        learner, components = self._learner, self._components
        self._iteration += 1
        progress = batches.progress()
        output = learner.train_step(batch)
        stepped = True
        if self._group == 1:
            self._step(output.grads)
        else:
            self._accumulator.accumulate(learner.model, output.grads)
            self._accumulated += 1
            stepped = self._accumulated >= self._group or progress.items_processed == progress.items_total
            if stepped:
                self._step(self._accumulator.grads())
        metadata = MetricMetadata(progress, self._iteration, learner.lr_current())
        components.train_item(output.item, metadata)
        if stepped:
            components.after_optimizer_step(learner, batches, self._iteration)

    def _step(self, grads: Any) -> None:
        self._learner.lr_step()
        self._learner.optimizer_step(grads)
        self._accumulated = 0


def _log_stop(components: TrainingComponents) -> None:
    interruption = components.interrupter.interruption()
    if interruption is not None:
        _LOG.info(
            "training stopped in epoch %d: %s", components.state.epoch, interruption.reason or "asked to"
        )
