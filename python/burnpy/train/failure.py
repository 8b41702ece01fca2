"""What can go wrong in a run beside the model itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from burnpy.errors import BurnpyError, TrainingError

if TYPE_CHECKING:
    from burnpy.train.metric.store import Split

__all__ = ["MetricError", "failed"]


class MetricError(BurnpyError):
    """A metric failed; what it raised is the ``__cause__``.

    Attributes:
        metric: its name.
        split: where it was measured.

    Source: Burn ``train::MetricError``.
    """

    def __init__(self, message: str = "", *, metric: str | None = None, split: Split | None = None) -> None:
        super().__init__(message)
        self.metric = metric
        self.split = split


def failed(kind: str, what: str, error: BaseException) -> TrainingError:
    """The error that a run ends with because of another one."""
    told = TrainingError(f"{what}: {error}" if str(error) else f"{what}: {type(error).__name__}", kind=kind)
    told.__cause__ = error
    return told
