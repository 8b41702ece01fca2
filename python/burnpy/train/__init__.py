"""Training: what steps give out, and metrics; loops, checkpoints and logs are built on them."""

from burnpy.train.item import (
    ClassificationOutput,
    ItemLazy,
    MultiLabelClassificationOutput,
    RegressionOutput,
    SequenceOutput,
)

__all__ = [
    "ClassificationOutput",
    "ItemLazy",
    "MultiLabelClassificationOutput",
    "RegressionOutput",
    "SequenceOutput",
]
