"""Who is told how far a run has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from burnpy.data.dataloader import Progress

__all__ = ["EvaluationProgressLogger", "ProgressSnapshot", "TrainingProgressLogger"]


class TrainingProgressLogger:
    """Base of those who are told how far a training has come; every method does nothing here.

    The calls of a run, in order: ``start``; for each epoch, for train and then valid: ``start_split``, for each batch
    ``update_split`` and ``log_event_training("Iteration")``, ``end_split``; then ``update_epoch``; at last ``end``.

    Source: Burn ``logger::TrainingProgressLogger``.
    """

    def start(
        self, total_epochs: int, starting_epoch: int, total_items: int | None = None, label: str | None = None
    ) -> None:
        """A run begins.

        Args:
            total_epochs: number of its last epoch.
            starting_epoch: number of its first epoch, from 1; more where it is resumed.
            total_items: how many items it has in all, if that is known.
            label: its name.
        """

    def start_split(self, name: str, total_items: int | None) -> None:
        """An epoch of ``"train"`` or ``"valid"`` begins; ``total_items`` is ``None`` where nobody knows."""

    def update_split(self, items_processed: int) -> None:
        """So many items of the split have been processed: once per batch."""

    def end_split(self) -> None:
        """The epoch of the split is over, or was left."""

    def update_epoch(self, epoch: int) -> None:
        """An epoch is complete, with its validation."""

    def end(self) -> None:
        """The run is over, or was stopped."""

    def log_event_training(self, event: str) -> None:
        """Something has happened, as ``"Iteration"``."""


class EvaluationProgressLogger:
    """Base of those who are told how far an evaluation has come; every method does nothing here.

    Source: Burn ``logger::EvaluationProgressLogger``.
    """

    def start_global_progress(self, total_tests: int) -> None:
        """An evaluation of so many tests begins."""

    def start_test(self, name: str, total_items: int | None) -> None:
        """A test begins; ``total_items`` is ``None`` where nobody knows."""

    def update_test_progress(self, items_processed: int) -> None:
        """So many items of the test have been processed: once per batch."""

    def end_test(self) -> None:
        """The test is over."""

    def end_global_progress(self) -> None:
        """The evaluation is over."""

    def log_event_evaluation(self, event: str) -> None:
        """Something has happened, as ``"Iteration"``."""


@dataclass(frozen=True, slots=True)
class ProgressSnapshot:
    """How far all of it has come, and the split at hand.

    Source: Burn ``logger::ProgressSnapshot``.
    """

    global_: Progress
    split: Progress
