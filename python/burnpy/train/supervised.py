"""A training from the first batch to the last, that can be stopped, killed and resumed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from burnpy.errors import TrainingError
from burnpy.train.arguments import at_least, with_methods
from burnpy.train.artifact_folder import UNSENT, ArtifactFolder
from burnpy.train.checkpoint import ComposedCheckpointingStrategy, LearningCheckpointer
from burnpy.train.checkpoint.resume_point import resume_point
from burnpy.train.event_processor import TrainingProcessor
from burnpy.train.failure import failed
from burnpy.train.interrupter import Interrupter
from burnpy.train.learner import Learner
from burnpy.train.loader import TrainingLoader
from burnpy.train.logger import FileApplicationLoggerInstaller, FileMetricLogger
from burnpy.train.metric.store import EventStore, Split
from burnpy.train.metrics_of_split import MetricsOfSplit, history_of
from burnpy.train.renderer import default_renderer
from burnpy.train.result import LearningResult
from burnpy.train.run_lock import RunLock
from burnpy.train.run_state import RunState
from burnpy.train.signals import StopSignals
from burnpy.train.step import inference_step_of, train_step_of
from burnpy.train.strategy import SingleDeviceStrategy, SupervisedLearningStrategy, TrainingComponents
from burnpy.train.summary import LearnerSummary

if TYPE_CHECKING:
    from burnpy._typing import PathLike, Place
    from burnpy.train.checkpoint import Checkpointer, CheckpointingStrategy
    from burnpy.train.early_stopping import EarlyStoppingStrategy
    from burnpy.train.logger import ApplicationLoggerInstaller, MetricLogger, TrainingProgressLogger
    from burnpy.train.renderer import MetricsRenderer

__all__ = ["SupervisedTraining"]

_LOG = logging.getLogger("burnpy.train")
_FILE: Final = "file"


class SupervisedTraining:
    """Configure, launch, watch, stop, kill and resume a training.

    Every method returns the object itself; each has a keyword here.

    Args:
        directory: the artifact folder: metrics, checkpoints, ``experiment.log``. Nothing is created before ``launch``.
            One run at a time has it; a second one is refused.
            It may be a URL, or a place of ``burnpy.storage.at``: checkpoints go there as they are made, and logs at
            the end of each epoch and of the run. The first rank alone writes.
        dataloader_train: a ``DataLoader``, or any iterable of batches.
        dataloader_valid: the same.
        num_epochs: the last epoch, also of a run that is resumed.
        metrics: of numbers, measured on both splits.
        metrics_text: of texts, measured on both splits.
        metric_loggers: who writes values; by default a ``FileMetricLogger`` of the folder.
        progress_logger: is told how far the run is.
        renderer: shows the run; by default what suits the terminal, notebook or pipe.
        checkpoint: go on after this epoch, as Burn does: the three records are restored, all else begins anew.
        resume: go on exactly: ``"latest"``, ``"best"`` or an epoch; see :meth:`resume`.
        default_checkpointers: whether sets are kept in ``<directory>/checkpoint``.
        checkpointers: others, for model, optimizer and scheduler.
        checkpointing_strategy: which epochs are kept; by default the last two and that of the lowest validation loss.
        checkpoint_every: save a set every so many steps of the optimizer, too.
        early_stopping: when there is nothing more to gain.
        grads_accumulation: batches to a step of the optimizer; their gradients are summed.
        gradient_checkpointing: less memory for more work; see :meth:`gradient_checkpointing`.
        training_strategy: another way through the epochs.
        interrupter: stops the run from elsewhere.
        application_logger: writes ``experiment.log``; ``None`` for none.
        summary: whether a table of the run is shown at its end.
        label: name of the run.
        local_directory: of an artifact folder elsewhere, where logs are written before they are sent, and stay; by
            default a temporary folder.

    Raises:
        ValueError, TypeError: an argument cannot be; the message names it.
        ImportError: the folder is a URL, and the package that serves it is not installed.

    Example:
        >>> from burnpy import nn, optim, Module, Tensor
        >>> from burnpy.train import Learner, RegressionOutput, SupervisedTraining, TrainOutput
        >>> from burnpy.train.metric import LossMetric
        >>> from burnpy.train.renderer import QuietMetricsRenderer
        >>> class Line(Module):
        ...     def __init__(self):
        ...         self.fc = nn.LinearConfig(1, 1).init()
        ...     def forward(self, x):
        ...         return self.fc(x)
        ...     def valid_step(self, batch):
        ...         x, y = batch
        ...         out = self.forward(x)
        ...         return RegressionOutput(((out - y) * (out - y)).mean(), out, y)
        ...     def train_step(self, batch):
        ...         item = self.valid_step(batch)
        ...         return TrainOutput(self, item.loss.backward(), item)
        >>> batches = [(Tensor([[1.0], [2.0]]), Tensor([[2.0], [4.0]]))]
        >>> training = SupervisedTraining("run", batches, batches, num_epochs=3, metrics=[LossMetric()])
        >>> training = training.renderer(QuietMetricsRenderer())
        >>> result = training.launch(Learner(Line(), optim.SgdConfig().init(), 0.1))
        >>> len(result.history["train"]["Loss"])
        3

    Source: Burn ``train::SupervisedTraining``.
    """

    def __init__(
        self,
        directory: Place,
        dataloader_train: Any,
        dataloader_valid: Any,
        *,
        num_epochs: int = 1,
        metrics: Iterable[Any] = (),
        metrics_text: Iterable[Any] = (),
        metric_loggers: Iterable[MetricLogger] = (),
        progress_logger: TrainingProgressLogger | None = None,
        renderer: MetricsRenderer | None = None,
        checkpoint: int | None = None,
        resume: int | Literal["latest", "best"] | None = None,
        default_checkpointers: bool = False,
        checkpointers: tuple[Checkpointer, Checkpointer, Checkpointer] | None = None,
        checkpointing_strategy: CheckpointingStrategy | None = None,
        checkpoint_every: int | None = None,
        early_stopping: EarlyStoppingStrategy | None = None,
        grads_accumulation: int | None = None,
        gradient_checkpointing: bool = False,
        training_strategy: SupervisedLearningStrategy | None = None,
        interrupter: Interrupter | None = None,
        application_logger: ApplicationLoggerInstaller | Literal["file"] | None = _FILE,
        summary: bool = False,
        label: str | None = None,
        local_directory: PathLike | None = None,
    ) -> None:
        self._folder = ArtifactFolder(directory, local_directory)
        self.directory = self._folder.place
        self._train = TrainingLoader(dataloader_train, "dataloader_train")
        self._valid = TrainingLoader(dataloader_valid, "dataloader_valid")
        self._metrics = (MetricsOfSplit(Split.Train), MetricsOfSplit(Split.Valid))
        self._loggers: list[MetricLogger] = []
        self._progress_logger: TrainingProgressLogger | None = None
        self._renderer: MetricsRenderer | None = None
        self._checkpoint: int | None = None
        self._resume: int | str | None = None
        self._checkpointer: LearningCheckpointer | None = None
        self._strategy: CheckpointingStrategy | None = None
        self._early_stopping: EarlyStoppingStrategy | None = None
        self._training_strategy: SupervisedLearningStrategy = SingleDeviceStrategy()
        self._interrupter = Interrupter()
        self._application_logger = application_logger
        self._summary = summary
        self._label = label
        self._every: int | None = None
        self._group: int | None = None
        self._gradient_checkpointing = gradient_checkpointing
        self._launched = False
        self.num_epochs(num_epochs).metrics(*metrics).metrics_text(*metrics_text)
        for logger in metric_loggers:
            self.with_metric_logger(logger)
        if default_checkpointers:
            self.with_default_checkpointers()
        if checkpointers is not None:
            self.with_custom_checkpointers(*checkpointers)
        choices: list[tuple[Callable[[Any], Any], Any]] = [
            (self.with_progress_logger, progress_logger),
            (self.renderer, renderer),
            (self.with_checkpointing_strategy, checkpointing_strategy),
            (self.early_stopping, early_stopping),
            (self.with_training_strategy, training_strategy),
            (self.with_interrupter, interrupter),
            (self.checkpoint, checkpoint),
            (self.resume, resume),
        ]
        for choose, given in choices:
            if given is not None:
                choose(given)
        self.checkpoint_every(checkpoint_every).grads_accumulation(grads_accumulation)

    # ---- choices

    def num_epochs(self, num_epochs: int) -> Self:
        """The last epoch; not how many more, where a run is resumed."""
        self._num_epochs = at_least("num_epochs", num_epochs, 0)
        return self

    def metrics(self, *metrics: Any) -> Self:
        """Measure numbers on both splits."""
        return self._register(_flat(metrics), (0, 1), numeric=True)

    def metrics_text(self, *metrics: Any) -> Self:
        """Measure texts on both splits."""
        return self._register(_flat(metrics), (0, 1), numeric=False)

    def metric_train(self, metric: Any) -> Self:
        """Measure a text in training."""
        return self._register([metric], (0,), numeric=False)

    def metric_valid(self, metric: Any) -> Self:
        """Measure a text in validation."""
        return self._register([metric], (1,), numeric=False)

    def metric_train_numeric(self, metric: Any) -> Self:
        """Measure a number in training."""
        return self._register([metric], (0,), numeric=True)

    def metric_valid_numeric(self, metric: Any) -> Self:
        """Measure a number in validation."""
        return self._register([metric], (1,), numeric=True)

    def _register(self, metrics: Sequence[Any], splits: Sequence[int], *, numeric: bool) -> Self:
        for split in splits:
            for metric in metrics:
                self._metrics[split].register(metric, numeric=numeric)
        return self

    def with_metric_logger(self, logger: MetricLogger) -> Self:
        """Have one more logger write values; the first that can read answers strategies."""
        self._loggers.append(with_methods("metric logger", logger, "log", "log_metric_definition"))
        return self

    def with_progress_logger(self, logger: TrainingProgressLogger) -> Self:
        """Have a logger told how far the run is."""
        self._progress_logger = with_methods("progress_logger", logger, "start", "end")
        return self

    def renderer(self, renderer: MetricsRenderer) -> Self:
        """Show the run in another way."""
        self._renderer = with_methods("renderer", renderer, "update_train", "close")
        return self

    def checkpoint(self, epoch: int) -> Self:
        """Go on after an epoch, as Burn does: model, optimizer and scheduler are restored, all else begins anew."""
        self._checkpoint = at_least("checkpoint", epoch, 1)
        self._resume = None
        return self

    def resume(self, where: int | Literal["latest", "best"] = "latest") -> Self:
        """Go on as if the run had never been interrupted.

        Args:
            where: ``"latest"`` complete set, in the middle of an epoch too, and from the start where there never was
                one; the ``"best"``, by the strategy that keeps it; or an epoch.

        ``launch`` raises where there are sets and none is complete: nothing is trained anew that was not asked for.

        A folder that Burn wrote has no trainer file: what it cannot restore is told in a warning.
        """
        if not (where in ("latest", "best") or (isinstance(where, int) and not isinstance(where, bool))):
            raise ValueError(f"resume must be 'latest', 'best' or an epoch, got {where!r}")
        self._resume = where if isinstance(where, str) else at_least("resume", where, 1)
        self._checkpoint = None
        return self

    def with_default_checkpointers(self) -> Self:
        """Keep sets in ``<directory>/checkpoint``."""
        self._checkpointer = LearningCheckpointer(self._folder.checkpoint, before_mark=self._folder.send)
        return self

    def with_custom_checkpointers(
        self, model: Checkpointer, optim: Checkpointer, scheduler: Checkpointer
    ) -> Self:
        """Keep the three records elsewhere; the trainer file is in ``<directory>/checkpoint``."""
        for name, given in (("model", model), ("optim", optim), ("scheduler", scheduler)):
            with_methods(f"the {name} checkpointer", given, "save", "restore", "delete")
        self._checkpointer = LearningCheckpointer(
            self._folder.checkpoint, (model, optim, scheduler), before_mark=self._folder.send
        )
        return self

    def with_checkpointing_strategy(self, strategy: CheckpointingStrategy) -> Self:
        """Keep other epochs."""
        self._strategy = with_methods("checkpointing_strategy", strategy, "checkpointing")
        return self

    def checkpoint_every(self, steps: int | None) -> Self:
        """Save a set every so many steps of the optimizer, too; only the newest of these is kept."""
        self._every = None if steps is None else at_least("checkpoint_every", steps, 1)
        return self

    def early_stopping(self, strategy: EarlyStoppingStrategy) -> Self:
        """Stop when there is nothing more to gain."""
        self._early_stopping = with_methods("early_stopping", strategy, "should_stop")
        return self

    def grads_accumulation(self, batches: int | None) -> Self:
        """Sum the gradients of so many batches before a step; the last group of an epoch may be smaller."""
        self._group = None if batches is None else at_least("grads_accumulation", batches, 1)
        return self

    def gradient_checkpointing(self) -> Self:
        """Compute what lies inside of parts again in the backward, instead of keeping it: the same numbers to the bit.

        Parts are the layers of ``nn.transformer`` and what is marked with ``burnpy.autodiff.checkpointed``; a model
        without any is trained as before, with a warning.

        Unlike Burn: where it is a property of the training device, every operation that is bound by memory is a part,
        and a model that was made on another device is refused.
        """
        self._gradient_checkpointing = True
        return self

    def with_training_strategy(self, strategy: SupervisedLearningStrategy) -> Self:
        """Go another way through the epochs."""
        self._training_strategy = with_methods("training_strategy", strategy, "fit")
        return self

    def with_interrupter(self, interrupter: Interrupter) -> Self:
        """Have another interrupter stop the run."""
        self._interrupter = with_methods("interrupter", interrupter, "stop", "should_stop")
        return self

    def interrupter(self) -> Interrupter:
        """What stops the run."""
        return self._interrupter

    def with_application_logger(self, installer: ApplicationLoggerInstaller | None) -> Self:
        """Write ``experiment.log`` in another way, or not at all."""
        self._application_logger = installer
        return self

    def summary(self) -> Self:
        """Show a table of the run at its end."""
        self._summary = True
        return self

    def label(self, label: str) -> Self:
        """Name the run."""
        self._label = label
        return self

    # ---- the run

    def launch(self, learner: Learner, *, raise_errors: bool = True) -> LearningResult:
        """Train. May be called again, to resume; a stop or an error of the last run does not count then.

        Args:
            learner: the model and what trains it. The model is changed in place.
            raise_errors: whether an error of data, metrics, loggers or checkpoints is raised when everything has been
                written; else it is in the result, as in Burn.

        Raises:
            TrainingError: with the result so far in ``result``; without one where another run is at work in the folder.
            TypeError: it is no ``Learner``, or its model cannot be validated.
            KeyboardInterrupt: after Ctrl-C, when the batch is done and everything written; at once at a second one.
            SystemExit: the same for SIGTERM, with code 143.
            Exception: what the model's own code raises, as it is.
        """
        if not isinstance(learner, Learner):
            raise TypeError(f"learner must be a Learner, got {type(learner).__name__}")
        train_step_of(learner.model)
        inference_step_of(learner.model)
        if self._checkpointer is None and (self._checkpoint is not None or self._resume is not None):
            # Unlike Burn, which loads nothing then, and skips the epochs all the same.
            raise ValueError("to go on from a checkpoint, have checkpointers: with_default_checkpointers()")
        if self._launched:
            # What ended the last run is over: in a notebook the same training is resumed.
            self._interrupter.reset()
        self._launched = True
        loaders = (self._train.loader, self._valid.loader)
        signals = StopSignals(self._interrupter)
        with signals, learner.checkpointing(self._gradient_checkpointing):
            result = self._training_strategy.launch(
                lambda: self._alone(learner), learner, loaders, self._interrupter
            )
        signals.raise_received()
        if result.error is not None and raise_errors:
            result.error.result = result
            raise result.error
        return result

    def _alone(self, learner: Learner) -> LearningResult:
        with (
            RunLock(directory) if (directory := self._own_directory()) else nullcontext(),
            self._folder.opened(),
        ):
            installer, unsent = self._install(), None
            try:
                result = self._run(learner)
            finally:
                if installer is not None:
                    installer.uninstall()
                unsent = self._folder.try_send()
        if unsent is None or result.error is not None:
            return result
        return replace(result, error=failed("event_processor", UNSENT, unsent))

    def _own_directory(self) -> Path | None:
        """The folder that no other run may have; of one elsewhere nobody can tell."""
        writes = self._checkpointer is not None or not self._loggers or self._application_logger == _FILE
        return self.directory if writes and isinstance(self.directory, Path) else None

    def _install(self) -> ApplicationLoggerInstaller | None:
        installer = self._application_logger
        if installer == _FILE:
            installer = FileApplicationLoggerInstaller(self._folder.local / "experiment.log")
        if installer is None or isinstance(installer, str):
            return None
        try:
            installer.install()
        except OSError as error:
            _LOG.warning("experiment.log cannot be written: %s", error)
            return None
        return installer

    def _run(self, learner: Learner) -> LearningResult:
        if self._checkpointer is not None:
            self._checkpointer.begin()
        loggers = self._loggers or [FileMetricLogger(self._folder.local)]
        store = EventStore(loggers)
        renderer = self._renderer or default_renderer(self._interrupter, self._checkpoint)
        processor = TrainingProcessor(*self._metrics, store, renderer, self._progress_logger)
        components = self._components(processor)
        try:
            starting_epoch = self._starting_epoch(learner, components)
            trained = self._training_strategy.train(
                components, learner, self._train, self._valid, starting_epoch
            )
            # What the renderer does at the end may reset the interrupter.
            interruption = self._interrupter.interruption()
        finally:
            renderer.close()
            self._close(store)
        error = self._interrupter.error()
        if error is not None and not isinstance(error, TrainingError):
            error = failed("workers", "the training failed", error)
        history = history_of(store, self._metrics, self._num_epochs)
        return LearningResult(
            trained.valid(), renderer, None if error is not None else interruption, error, history
        )

    def _components(self, processor: TrainingProcessor) -> TrainingComponents:
        return TrainingComponents(
            label=self._label,
            num_epochs=self._num_epochs,
            checkpointer=self._checkpointer,
            checkpointing_strategy=self._strategy or ComposedCheckpointingStrategy.default(),
            checkpoint_every=self._every,
            grad_accumulation=self._group,
            interrupter=self._interrupter,
            early_stopping=self._early_stopping,
            processor=processor,
            state=RunState(self._train, self._valid, self._training_strategy),
            summary=self._summary_of if self._summary else None,
            end_of_epoch=self._send_logs,
        )

    def _send_logs(self) -> None:
        try:
            self._folder.send()
        except Exception as error:
            self._interrupter.fail(failed("event_processor", UNSENT, error))

    def _summary_of(self, model: Any) -> LearnerSummary | None:
        names = sorted({metric.name() for split in self._metrics for metric in split.numeric})
        try:
            return LearnerSummary(self._folder.local, names, epochs=self._num_epochs, model=str(model))
        except FileNotFoundError:
            # No file logger: there is nothing to read.
            return None

    def _close(self, store: EventStore) -> None:
        """Wait for everything that is being written; the first failure of it stops the run."""
        try:
            if self._checkpointer is not None:
                self._checkpointer.join()
        except Exception as error:
            self._interrupter.fail(failed("checkpoint", "a checkpoint could not be saved", error))
        try:
            store.close()
        except Exception as error:
            self._interrupter.fail(failed("event_processor", "a logger failed", error))

    # ---- going on

    def _starting_epoch(self, learner: Learner, components: TrainingComponents) -> int:
        checkpointer = self._checkpointer
        if checkpointer is None:
            return 1
        if self._checkpoint is not None:
            checkpointer.load_records(learner, self._checkpoint)
            return self._checkpoint + 1
        found = None if self._resume is None else resume_point(checkpointer.folder, self._resume)
        if found is None:
            return 1
        checkpointer.load(learner, found)
        starting_epoch = components.state.restore(found, learner, components)
        checkpointer.clear_steps_before(found)
        return starting_epoch


def _flat(metrics: Sequence[Any]) -> list[Any]:
    """Several arguments, or one list or tuple of them, as in Burn."""
    if len(metrics) == 1 and isinstance(metrics[0], list | tuple):
        return list(metrics[0])
    return list(metrics)
