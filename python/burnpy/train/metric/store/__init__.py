"""The values of metrics over a run: what happens, who keeps it, and who asks for it."""

from burnpy.train.metric.store.event import (
    BatchUpdate,
    EpochSummary,
    Event,
    MetricsUpdate,
    NumericMetricUpdate,
)
from burnpy.train.metric.store.event_store import EventStore, EventStoreClient, mean_of
from burnpy.train.metric.store.split import Aggregate, Direction, Split

__all__ = [
    "Aggregate",
    "BatchUpdate",
    "Direction",
    "EpochSummary",
    "Event",
    "EventStore",
    "EventStoreClient",
    "MetricsUpdate",
    "NumericMetricUpdate",
    "Split",
    "mean_of",
]
