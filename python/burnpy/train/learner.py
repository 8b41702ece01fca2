"""A model with what trains it."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from burnpy.lr_scheduler import ModuleLearningRate, ModuleLrScheduler
from burnpy.tensor.recompute import gradient_checkpointing
from burnpy.train.step import TrainOutput, inference_step_of, train_step_of

if TYPE_CHECKING:
    from burnpy.lr_scheduler import LrScheduler
    from burnpy.module import Module
    from burnpy.optim import GradientsParams, ModuleOptimizer
    from burnpy.record import LrSchedulerRecord, ModuleRecord, OptimizerRecord

__all__ = ["Learner"]

_LOG = logging.getLogger("burnpy.train")


class Learner:
    """A model, its optimizer and its learning-rate schedule.

    Args:
        model: with ``train_step`` and, to be validated, ``valid_step``.
        optim: what ``OptimizerConfig.init()`` gave.
        lr_scheduler: a number, a schedule, or one for the module with groups.

    Source: Burn ``train::Learner``.
    """

    def __init__(
        self, model: Module, optim: ModuleOptimizer, lr_scheduler: float | LrScheduler | ModuleLrScheduler
    ) -> None:
        train_step_of(model)
        if not hasattr(optim, "step"):
            raise TypeError(
                f"optim must be an optimizer, got {type(optim).__name__}; did you forget .init()?"
            )
        self.optim = optim
        self.lr_scheduler = ModuleLrScheduler.of(lr_scheduler)
        self._model: Any = model
        self._rate: ModuleLearningRate | float = 0.0
        self._checkpointing = False

    @property
    def model(self) -> Any:
        """The model as it is now; :meth:`Module.clone` keeps a state of it."""
        return self._model

    def lr_current(self) -> ModuleLearningRate | float:
        """The learning rate of the last :meth:`lr_step`; 0 before the first."""
        return self._rate

    def lr_step(self) -> None:
        """Go one step on in the schedule. A loop that forgets it trains with a rate of 0."""
        self._rate = self.lr_scheduler.step()

    def rates(self) -> list[float]:
        """The current learning rates by group, for :meth:`load_rates`."""
        return [rate for _, rate in self._rate.groups] if isinstance(self._rate, ModuleLearningRate) else []

    def load_rates(self, rates: list[float]) -> None:
        """Have the rates of a step that was made before as the current ones."""
        self._rate = self.lr_scheduler.rates(rates) if rates else 0.0

    def train_step(self, batch: Any) -> TrainOutput:
        """Forward and backward of a batch; nothing is changed.

        Raises:
            TypeError: the model's step gives something else than a ``TrainOutput``.
        """
        if self._checkpointing:
            output = self._checkpointed(batch)
        else:
            step = getattr(self._model, "train_step", None) or train_step_of(self._model)
            output = step(batch)
        if not isinstance(output, TrainOutput):
            name = type(self._model).__name__
            raise TypeError(f"{name}.train_step must return a TrainOutput, got {type(output).__name__}")
        return output

    def _checkpointed(self, batch: Any) -> Any:
        with gradient_checkpointing() as checkpointing:
            output = train_step_of(self._model)(batch)
        if not checkpointing.parts:
            _LOG.warning(
                "gradient_checkpointing changes nothing: no part of %s is marked with burnpy.autodiff.checkpointed",
                type(self._model).__name__,
            )
            self._checkpointing = False
        return output

    @contextmanager
    def checkpointing(self, on: bool = True) -> Iterator[None]:
        """While it lasts, each :meth:`train_step` is run in ``burnpy.autodiff.gradient_checkpointing``, or none."""
        before, self._checkpointing = self._checkpointing, on
        try:
            yield
        finally:
            self._checkpointing = before

    def inference_step(self) -> Any:
        """What validates a batch with the model as it is now.

        Raises:
            TypeError: the model has no such step.
        """
        return inference_step_of(self._model.valid())

    def optimizer_step(self, grads: GradientsParams) -> None:
        """Change the model by gradients, at the current learning rate."""
        optimize = getattr(self._model, "optimize", None)
        if optimize is None:
            self._model = self.optim.step(self._rate, self._model, grads)
            return
        model = optimize(self.optim, self._rate, grads)
        self._model = self._model if model is None else model

    def clone(self) -> Learner:
        """Another learner that goes on from the same state. Memory is shared until one of them changes."""
        copied = copy.copy(self)
        copied._model = self._model.clone()
        copied.optim, copied.lr_scheduler = self.optim.clone(), copy.deepcopy(self.lr_scheduler)
        return copied

    def load_model(self, record: ModuleRecord) -> None:
        """Take the parameters of a record over."""
        self._model = self._model.load_record(record)

    def load_optim(self, record: OptimizerRecord) -> None:
        """Take the optimizer's state of a record over."""
        self.optim = self.optim.load_record(record)

    def load_scheduler(self, record: LrSchedulerRecord) -> None:
        """Take the schedule's state of a record over."""
        self.lr_scheduler = self.lr_scheduler.load_record(record)
