"""How a training goes through its epochs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from burnpy.train.event import LearnerEvent
from burnpy.train.failure import failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from burnpy.train.interrupter import Interrupter
    from burnpy.train.learner import Learner
    from burnpy.train.loader import TrainingLoader
    from burnpy.train.result import LearningResult
    from burnpy.train.strategy.components import TrainingComponents

__all__ = ["SupervisedLearningStrategy"]

_LOG = logging.getLogger("burnpy.train")


class SupervisedLearningStrategy:
    """Base of strategies: ``fit`` goes through the epochs and gives the trained model.

    ``fit`` sends, for each epoch, to ``components.train(event)`` and ``components.valid(event)``: train ``StartSplit``,
    for each batch ``ProcessedItem``, or by ``train_item`` and ``valid_item`` what is in it, ``EndSplit``; the same for
    valid; then train ``EndEpoch``. ``Start`` and ``End`` are sent around it. Accumulation, early stopping, checkpoints
    and stops are its own to honour; ``components.end_of_epoch`` does the last three.

    Source: Burn ``train::SupervisedLearningStrategy``.
    """

    def launch(
        self,
        run: Callable[[], LearningResult],
        learner: Learner,
        loaders: tuple[Any, Any],
        interrupter: Interrupter,
    ) -> LearningResult:
        """Have a training run, which calls :meth:`train`. A strategy of several processes does so in one of them.

        Args:
            run: the whole training, with all that it writes.
            learner: of the training.
            loaders: train and valid, as they were given.
            interrupter: of the training.
        """
        return run()

    def fit(
        self,
        components: TrainingComponents,
        learner: Learner,
        dataloader_train: TrainingLoader,
        dataloader_valid: TrainingLoader,
        starting_epoch: int,
    ) -> Any:
        """Train from an epoch on, to ``components.num_epochs``; the model, still one that trains."""
        raise NotImplementedError(f"{type(self).__name__} has no method fit")

    def train(
        self,
        components: TrainingComponents,
        learner: Learner,
        dataloader_train: TrainingLoader,
        dataloader_valid: TrainingLoader,
        starting_epoch: int,
    ) -> Any:
        """:meth:`fit`, with what comes before and after."""
        components.train(LearnerEvent.Start(components.num_epochs, starting_epoch, components.label))
        model = self.fit(components, learner, dataloader_train, dataloader_valid, starting_epoch)
        summary = None
        try:
            # All files are complete before they are read.
            components.flush()
            summary = components.make_summary(model)
        except Exception as error:
            components.interrupter.fail(failed("event_processor", "the summary failed", error))
        components.train(LearnerEvent.End(summary))
        return model
