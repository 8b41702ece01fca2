"""What happens in a run, as those are told who watch it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

if TYPE_CHECKING:
    from burnpy.data import Progress
    from burnpy.lr_scheduler import ModuleLearningRate
    from burnpy.train.summary import LearnerSummary

__all__ = [
    "AnyEvaluatorEvent",
    "AnyLearnerEvent",
    "EvaluationItem",
    "EvaluatorEvent",
    "LearnerEvent",
    "TrainingItem",
]


@dataclass(slots=True)
class TrainingItem:
    """A processed batch.

    Attributes:
        item: what the step gave.
        progress: items so far in this pass, those of the batch included.
        iteration: the batch's number in its epoch, from 1.
        lr: the rate of the last optimizer step; ``None`` in validation.

    Source: Burn ``train::TrainingItem``.
    """

    item: Any
    progress: Progress
    iteration: int
    lr: ModuleLearningRate | float | None


@dataclass(slots=True)
class EvaluationItem:
    """A batch processed in an evaluation, as :class:`TrainingItem`.

    Source: Burn ``train::EvaluationItem``.
    """

    item: Any
    progress: Progress
    iteration: int


@dataclass(frozen=True, slots=True)
class _Start:
    total_epochs: int
    starting_epoch: int
    label: str | None = None


@dataclass(frozen=True, slots=True)
class _StartSplit:
    epoch_number: int
    total_items: int | None


@dataclass(slots=True)
class _ProcessedItem:
    item: TrainingItem


@dataclass(frozen=True, slots=True)
class _EndSplit:
    epoch: int


@dataclass(frozen=True, slots=True)
class _EndEpoch:
    epoch: int


@dataclass(frozen=True, slots=True)
class _End:
    summary: LearnerSummary | None = None


@dataclass(frozen=True, slots=True)
class _StartTests:
    total_tests: int


@dataclass(frozen=True, slots=True)
class _StartTest:
    name: str
    total_items: int | None


@dataclass(frozen=True, slots=True)
class _ProcessedTestItem:
    name: str
    item: EvaluationItem


@dataclass(frozen=True, slots=True)
class _EndTest:
    pass


class LearnerEvent:
    """What happens in a training.

    ``Start(total_epochs, starting_epoch, label)``, ``StartSplit(epoch_number, total_items)``, ``ProcessedItem(item)``,
    ``EndSplit(epoch)``, ``EndEpoch(epoch)``, ``End(summary)``.

    Example:
        >>> LearnerEvent.EndSplit(2).epoch
        2

    Source: Burn ``train::LearnerEvent``.
    """

    Start: ClassVar[type[_Start]] = _Start
    StartSplit: ClassVar[type[_StartSplit]] = _StartSplit
    ProcessedItem: ClassVar[type[_ProcessedItem]] = _ProcessedItem
    EndSplit: ClassVar[type[_EndSplit]] = _EndSplit
    EndEpoch: ClassVar[type[_EndEpoch]] = _EndEpoch
    End: ClassVar[type[_End]] = _End


class EvaluatorEvent:
    """What happens in an evaluation.

    ``Start(total_tests)``, ``StartTest(name, total_items)``, ``ProcessedItem(name, item)``, ``EndTest()``,
    ``End(summary)``.

    Example:
        >>> EvaluatorEvent.Start(2).total_tests
        2

    Source: Burn ``train::EvaluatorEvent``.
    """

    Start: ClassVar[type[_StartTests]] = _StartTests
    StartTest: ClassVar[type[_StartTest]] = _StartTest
    ProcessedItem: ClassVar[type[_ProcessedTestItem]] = _ProcessedTestItem
    EndTest: ClassVar[type[_EndTest]] = _EndTest
    End: ClassVar[type[_End]] = _End


AnyLearnerEvent: TypeAlias = _Start | _StartSplit | _ProcessedItem | _EndSplit | _EndEpoch | _End
AnyEvaluatorEvent: TypeAlias = _StartTests | _StartTest | _ProcessedTestItem | _EndTest | _End
