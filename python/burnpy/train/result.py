"""What a run gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnpy.errors import TrainingError
    from burnpy.train.interrupter import Interruption

__all__ = ["EvaluationResult", "LearningResult"]


@dataclass(frozen=True)
class LearningResult:
    """What ``launch`` gives.

    Attributes:
        model: the trained model, for inference; ``model.train()`` makes it trainable again.
        renderer: for a training or evaluation that follows.
        interrupted: the stop by hand, or ``None``.
        error: what ended the run, or ``None``.
        history: by split and metric, the value of each epoch.

    Source: Burn ``train::LearningResult``.
    """

    model: Any
    renderer: Any
    interrupted: Interruption | None = None
    error: TrainingError | None = None
    history: dict[str, dict[str, dict[int, float]]] = field(default_factory=dict)


@dataclass(frozen=True)
class EvaluationResult:
    """What an evaluation gives.

    Attributes:
        renderer: for what follows.
        interrupted: the stop by hand, or ``None``.
        error: what ended it, or ``None``.
        metrics: by test and metric, its value.

    Source: Burn ``train::EvaluationResult``.
    """

    renderer: Any
    interrupted: Interruption | None = None
    error: TrainingError | None = None
    metrics: dict[str, dict[str, float]] = field(default_factory=dict)
