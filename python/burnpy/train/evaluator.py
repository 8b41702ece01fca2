"""A trained model, measured on data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from burnpy.errors import TrainingError
from burnpy.train.artifact_folder import UNSENT, ArtifactFolder
from burnpy.train.event import EvaluationItem, EvaluatorEvent
from burnpy.train.event_processor import EvaluationProcessor
from burnpy.train.failure import failed
from burnpy.train.interrupter import Interrupter
from burnpy.train.loader import TrainingLoader
from burnpy.train.logger import FileMetricLogger
from burnpy.train.metric.store import EventStore, Split
from burnpy.train.metrics_of_split import MetricsOfSplit
from burnpy.train.renderer import default_renderer
from burnpy.train.result import EvaluationResult
from burnpy.train.signals import StopSignals
from burnpy.train.step import inference_step_of
from burnpy.train.summary import LearnerSummary

if TYPE_CHECKING:
    from burnpy._typing import Place
    from burnpy.train.logger import ApplicationLoggerInstaller, EvaluationProgressLogger, MetricLogger
    from burnpy.train.renderer import MetricsRenderer

__all__ = ["Evaluator", "EvaluatorBuilder"]


class EvaluatorBuilder:
    """What an evaluation measures, and where it writes.

    Args:
        directory: the artifact folder; values go to ``<directory>/test/<name>/<Metric>.log``. It may be a URL, or a
            place of ``burnpy.storage.at``: they are sent at the end.

    Source: Burn ``train::EvaluatorBuilder``.
    """

    def __init__(self, directory: Place) -> None:
        self._folder = ArtifactFolder(directory)
        self.directory = self._folder.place
        self._metrics = MetricsOfSplit(Split.Test())
        self._renderer: MetricsRenderer | None = None
        self._progress_logger: EvaluationProgressLogger | None = None
        self._application_logger: ApplicationLoggerInstaller | None = None
        self._loggers: list[MetricLogger] = []
        self._interrupter = Interrupter()
        self._summary = False

    def metrics(self, *metrics: Any) -> Self:
        """Measure numbers."""
        return self._register(metrics, numeric=True)

    def metrics_text(self, *metrics: Any) -> Self:
        """Measure texts."""
        return self._register(metrics, numeric=False)

    def metric_numeric(self, metric: Any) -> Self:
        """Measure a number."""
        return self._register([metric], numeric=True)

    def metric(self, metric: Any) -> Self:
        """Measure a text."""
        return self._register([metric], numeric=False)

    def _register(self, metrics: Sequence[Any], *, numeric: bool) -> Self:
        flat = metrics[0] if len(metrics) == 1 and isinstance(metrics[0], list | tuple) else metrics
        for metric in flat:
            self._metrics.register(metric, numeric=numeric)
        return self

    def renderer(self, renderer: MetricsRenderer) -> Self:
        """Show the evaluation in another way; that of a training goes on being used."""
        self._renderer = renderer
        return self

    def with_metric_logger(self, logger: MetricLogger) -> Self:
        """Write values elsewhere too."""
        self._loggers.append(logger)
        return self

    def with_progress_logger(self, logger: EvaluationProgressLogger) -> Self:
        """Have a logger told how far the evaluation is."""
        self._progress_logger = logger
        return self

    def with_application_logger(self, installer: ApplicationLoggerInstaller | None) -> Self:
        """Write what happens to a log while it lasts."""
        self._application_logger = installer
        return self

    def with_interrupter(self, interrupter: Interrupter) -> Self:
        """Have another interrupter stop the evaluation."""
        self._interrupter = interrupter
        return self

    def summary(self) -> Self:
        """Show a table at the end."""
        self._summary = True
        return self

    def build(self, model: Any) -> Evaluator:
        """An evaluator of a model, which is used as it is: give it ``model.valid()``, or the result of a training.

        Raises:
            TypeError: the model has no method ``valid_step``.
        """
        return Evaluator(self, model)


class Evaluator:
    """Measures a model; made by :class:`EvaluatorBuilder`.

    Source: Burn ``train::Evaluator``.
    """

    def __init__(self, builder: EvaluatorBuilder, model: Any) -> None:
        self._builder = builder
        self._used = False
        self._step = inference_step_of(model)

    def eval(self, name: str, dataloader: Any, *, raise_errors: bool = True) -> EvaluationResult:
        """Measure on one data set; see :meth:`eval_all`."""
        return self.eval_all([(name, dataloader)], raise_errors=raise_errors)

    def eval_all(self, tests: Iterable[tuple[str, Any]], *, raise_errors: bool = True) -> EvaluationResult:
        """Measure on data sets, each by its name.

        Raises:
            ValueError, TypeError: two tests have one name, or one has no text for a name.
            TrainingError: data, a metric or a logger failed; what there is, is in its ``result``.
            KeyboardInterrupt, SystemExit: after a signal, when the batch is done.
        """
        pairs = [(name, TrainingLoader(loader, f"the data loader of {name!r}")) for name, loader in tests]
        names = [name for name, _ in pairs]
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"the name of a test must be a text, got {name!r}")
            if names.count(name) > 1:
                raise ValueError(f"two tests have the name {name!r}")
        builder = self._builder
        if self._used:
            # What ended the last evaluation is over.
            builder._interrupter.reset()
        self._used = True
        signals = StopSignals(builder._interrupter)
        with builder._folder.opened():
            if builder._application_logger is not None:
                builder._application_logger.install()
            try:
                with signals:
                    result = self._run(pairs)
            finally:
                if builder._application_logger is not None:
                    builder._application_logger.uninstall()
                unsent = builder._folder.try_send()
        if unsent is not None and result.error is None:
            result = replace(result, error=failed("event_processor", UNSENT, unsent))
        signals.raise_received()
        if result.error is not None and raise_errors:
            result.error.result = result
            raise result.error
        return result

    def _run(self, tests: Sequence[tuple[str, TrainingLoader]]) -> EvaluationResult:
        builder = self._builder
        loggers = [FileMetricLogger.new_eval(builder._folder.local), *builder._loggers]
        store = EventStore(loggers)
        renderer = builder._renderer or default_renderer(builder._interrupter, None)
        processor = EvaluationProcessor(self._metrics_of, store, renderer, builder._progress_logger)
        found: dict[str, dict[str, float]] = {}
        try:
            self._tell(processor, EvaluatorEvent.Start(len(tests)))
            for name, loader in tests:
                if builder._interrupter.should_stop():
                    break
                found[name] = self._test(name, loader, processor)
            self._guarded(processor.flush)
            self._tell(processor, EvaluatorEvent.End(self._table() if builder._summary else None))
        finally:
            renderer.close()
            self._guarded(store.close)
        error = builder._interrupter.error()
        if error is not None and not isinstance(error, TrainingError):
            error = failed("workers", "the evaluation failed", error)
        return EvaluationResult(renderer, builder._interrupter.interruption(), error, found)

    def _metrics_of(self, name: str) -> MetricsOfSplit:
        metrics = MetricsOfSplit(Split.Test(name))
        for metric in self._builder._metrics.text:
            metrics.register(metric, numeric=False)
        for metric in self._builder._metrics.numeric:
            metrics.register(metric, numeric=True)
        return metrics

    def _test(self, name: str, loader: TrainingLoader, processor: EvaluationProcessor) -> dict[str, float]:
        interrupter = self._builder._interrupter
        self._tell(processor, EvaluatorEvent.StartTest(name, loader.num_items()))
        batches = loader.begin()
        iteration = 0
        try:
            while not interrupter.should_stop():
                try:
                    batch = batches.next()
                except StopIteration:
                    break
                except Exception as error:
                    interrupter.fail(failed("dataset", "the data loader failed", error))
                    break
                iteration += 1
                item = EvaluationItem(self._step(batch), batches.progress(), iteration)
                self._tell(processor, EvaluatorEvent.ProcessedItem(name, item))
        finally:
            batches.close()
        self._tell(processor, EvaluatorEvent.EndTest())
        updates = processor.last.entries_numeric if processor.last is not None else ()
        return {u.entry.metric_id: u.numeric_entry.current() for u in updates if u.numeric_entry is not None}

    def _tell(self, processor: EvaluationProcessor, event: Any) -> None:
        self._guarded(lambda: processor.process_test(event))

    def _guarded(self, act: Callable[[], None]) -> None:
        """Do it; what fails ends the evaluation."""
        try:
            act()
        except Exception as error:
            self._builder._interrupter.fail(failed("event_processor", "metrics or loggers failed", error))

    def _table(self) -> LearnerSummary | None:
        names = sorted(metric.name() for metric in self._builder._metrics.numeric)
        try:
            return LearnerSummary(self._builder._folder.local, names, epochs=0)
        except FileNotFoundError:
            return None
