"""Metrics of images and masks."""

from burnpy.train.metric.vision.dice import DiceInput, DiceMetric, DiceMetricConfig
from burnpy.train.metric.vision.ms_ssim import MsSsimInput, MsSsimMetric, MsSsimMetricConfig
from burnpy.train.metric.vision.psnr import PsnrInput, PsnrMetric, PsnrMetricConfig
from burnpy.train.metric.vision.ssim import SsimInput, SsimMetric, SsimMetricConfig

__all__ = [
    "DiceInput",
    "DiceMetric",
    "DiceMetricConfig",
    "MsSsimInput",
    "MsSsimMetric",
    "MsSsimMetricConfig",
    "PsnrInput",
    "PsnrMetric",
    "PsnrMetricConfig",
    "SsimInput",
    "SsimMetric",
    "SsimMetricConfig",
]
