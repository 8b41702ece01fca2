"""How scores become decisions, and classes one number."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import ClassVar

from burnpy.config.variant import Variants
from burnpy.train.metric.number_text import debug_float
from burnpy.train.metric.top_k_accuracy import checked_top_k

__all__ = ["ClassReduction", "ClassificationMetricConfig", "DecisionRule"]


class ClassReduction(enum.Enum):
    """``Micro``: counts of all classes together. ``Macro``: each class for itself, then the mean over classes."""

    Micro = "Micro"
    Macro = "Macro"


class DecisionRule(Variants):
    """When a class counts as predicted: ``Threshold(t)``, its score is above; ``TopK(k)``, among the row's best.

    Raises:
        ConfigError: ``k`` is below 1.

    Example:
        >>> str(DecisionRule.Threshold(1.0)), str(DecisionRule.TopK(2))
        ('Threshold(1.0)', 'TopK(2)')
    """

    Threshold: ClassVar[type[_Threshold]]
    TopK: ClassVar[type[_TopK]]


class _Threshold(DecisionRule, of=DecisionRule, name="Threshold"):
    """The score is above ``value``."""

    value: float

    def __str__(self) -> str:
        return f"Threshold({debug_float(self.value)})"


class _TopK(DecisionRule, of=DecisionRule, name="TopK"):
    """The score is among the ``value`` highest of its row."""

    value: int

    def __post_init__(self) -> None:
        super().__post_init__()
        checked_top_k(self.value)

    def __str__(self) -> str:
        return f"TopK({self.value})"


@dataclass(frozen=True)
class ClassificationMetricConfig:
    """What metrics of classes agree on."""

    decision_rule: DecisionRule = field(default_factory=lambda: DecisionRule.Threshold(0.5))
    class_reduction: ClassReduction = ClassReduction.Macro

    def __str__(self) -> str:
        return f"{self.decision_rule} [{self.class_reduction.name}]"
