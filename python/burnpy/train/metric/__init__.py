"""Metrics: what is measured of a model while it is trained, and of its outputs afterwards.

Example:
    >>> metric = AccuracyMetric()
    >>> _ = metric.update([[0.9, 0.1], [0.2, 0.8]], [0, 0])
    >>> _ = metric.update([[0.9, 0.1]], [0])
    >>> round(metric.result(), 2)
    66.67
"""

from burnpy.train.metric.accuracy import AccuracyInput, AccuracyMetric
from burnpy.train.metric.auc_pr import AucPrMetric
from burnpy.train.metric.auroc import AurocMetric
from burnpy.train.metric.bleu import BleuInput, BleuScore, BleuSmoothing
from burnpy.train.metric.cer import CerInput, CharErrorRate
from burnpy.train.metric.classification import ClassificationMetricConfig, ClassReduction, DecisionRule
from burnpy.train.metric.confusion_metric import ConfusionMetric, ConfusionStatsState
from burnpy.train.metric.confusion_stats import ConfusionStats, ConfusionStatsInput
from burnpy.train.metric.cpu_memory import CpuMemory
from burnpy.train.metric.cpu_temperature import CpuTemperature
from burnpy.train.metric.cpu_use import CpuUse
from burnpy.train.metric.cuda import CudaMetric
from burnpy.train.metric.fbetascore import FBetaScoreMetric
from burnpy.train.metric.hamming import HammingScore, HammingScoreInput
from burnpy.train.metric.iteration_speed import IterationSpeedMetric
from burnpy.train.metric.learning_rate import LearningRateMetric
from burnpy.train.metric.loss import LossInput, LossMetric
from burnpy.train.metric.matthews import MatthewsCorrelationCoefficientMetric
from burnpy.train.metric.mean_metric import MeanMetric
from burnpy.train.metric.metric import (
    Adaptor,
    Metric,
    MetricAttributes,
    MetricDefinition,
    MetricEntry,
    MetricId,
    MetricMetadata,
    Numeric,
    NumericAttributes,
)
from burnpy.train.metric.metric_input import MetricInput
from burnpy.train.metric.number_text import format_float, plain_float
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.numeric_state import NumericMetricState
from burnpy.train.metric.perplexity import PerplexityInput, PerplexityMetric
from burnpy.train.metric.precision import PrecisionMetric
from burnpy.train.metric.prediction_metric import PredictionAccumulatorState, PredictionMetric
from burnpy.train.metric.recall import RecallMetric
from burnpy.train.metric.rouge import RougeLInput, RougeLScore
from burnpy.train.metric.serialized_entry import FormatOptions, SerializedEntry
from burnpy.train.metric.top_k_accuracy import TopKAccuracyInput, TopKAccuracyMetric
from burnpy.train.metric.vision import (
    DiceInput,
    DiceMetric,
    DiceMetricConfig,
    MsSsimInput,
    MsSsimMetric,
    MsSsimMetricConfig,
    PsnrInput,
    PsnrMetric,
    PsnrMetricConfig,
    SsimInput,
    SsimMetric,
    SsimMetricConfig,
)
from burnpy.train.metric.wer import WerInput, WordErrorRate

__all__ = [
    "AccuracyInput",
    "AccuracyMetric",
    "Adaptor",
    "AucPrMetric",
    "AurocMetric",
    "BleuInput",
    "BleuScore",
    "BleuSmoothing",
    "CerInput",
    "CharErrorRate",
    "ClassReduction",
    "ClassificationMetricConfig",
    "ConfusionMetric",
    "ConfusionStats",
    "ConfusionStatsInput",
    "ConfusionStatsState",
    "CpuMemory",
    "CpuTemperature",
    "CpuUse",
    "CudaMetric",
    "DecisionRule",
    "DiceInput",
    "DiceMetric",
    "DiceMetricConfig",
    "FBetaScoreMetric",
    "FormatOptions",
    "HammingScore",
    "HammingScoreInput",
    "IterationSpeedMetric",
    "LearningRateMetric",
    "LossInput",
    "LossMetric",
    "MatthewsCorrelationCoefficientMetric",
    "MeanMetric",
    "Metric",
    "MetricAttributes",
    "MetricDefinition",
    "MetricEntry",
    "MetricId",
    "MetricInput",
    "MetricMetadata",
    "MsSsimInput",
    "MsSsimMetric",
    "MsSsimMetricConfig",
    "Numeric",
    "NumericAttributes",
    "NumericEntry",
    "NumericMetricState",
    "PerplexityInput",
    "PerplexityMetric",
    "PrecisionMetric",
    "PredictionAccumulatorState",
    "PredictionMetric",
    "PsnrInput",
    "PsnrMetric",
    "PsnrMetricConfig",
    "RecallMetric",
    "RougeLInput",
    "RougeLScore",
    "SerializedEntry",
    "SsimInput",
    "SsimMetric",
    "SsimMetricConfig",
    "TopKAccuracyInput",
    "TopKAccuracyMetric",
    "WerInput",
    "WordErrorRate",
    "format_float",
    "plain_float",
]
