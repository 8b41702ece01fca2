"""Curves as pictures, by matplotlib."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnpy.train.report.curve import Curve

__all__ = ["plot", "png", "svg"]

_COLORS = {"train": "#c44e52", "valid": "#4c72b0"}
_MOST_POINTS = 1000
"""Of the batches of a run: what a picture cannot show makes the page large for nothing."""


def plot(metric: str, curves: Sequence[Curve]) -> Any:
    """A figure of a metric: a line per split over the epochs, and the batches behind it.

    Raises:
        ImportError: matplotlib is not installed (extra ``plot``).
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError as error:
        raise ImportError("pictures of a run need matplotlib: pip install burnpy[plot]") from error
    # The figure by itself: no pyplot, which keeps figures for the whole process and may open a display.
    figure = Figure(figsize=(6.4, 3.4), layout="constrained")
    axes = figure.add_subplot(title=metric, xlabel="epoch")
    for curve in curves:
        _draw(axes, curve)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
    return figure


def _draw(axes: Any, curve: Curve) -> None:
    color = _COLORS[curve.split]
    label = curve.split
    rate = curve.metric == "Learning Rate"
    # In validation the weights stand still: batches differ by their data alone.
    if curve.split == "train" and curve.batches:
        x, y = _thinned(*batch_points(curve))
        axes.plot(x, y, color=color, alpha=1 if rate else 0.45, linewidth=1, label=f"{label}, batches")
    # The mean rate of an epoch means nothing.
    if curve.epochs and not (rate and curve.batches):
        epochs = sorted(curve.epochs)
        values = [curve.epochs[epoch] for epoch in epochs]
        axes.plot(epochs, values, color=color, marker="o", markersize=3.5, label=label)


def batch_points(curve: Curve) -> tuple[list[float], list[float]]:
    """Batches over the epochs: the last batch of epoch 1 is at 1, where the epoch's value is.

    Example:
        >>> from burnpy.train.report import Curve
        >>> batch_points(Curve("Loss", "train", {}, {1: [3.0, 2.0], 2: [1.0]}))
        ([0.5, 1.0, 2.0], [3.0, 2.0, 1.0])
    """
    x: list[float] = []
    y: list[float] = []
    for epoch, values in sorted(curve.batches.items()):
        x += [epoch - 1 + (index + 1) / len(values) for index in range(len(values))]
        y += values
    return x, y


def _thinned(x: list[float], y: list[float]) -> tuple[list[float], list[float]]:
    """Means of successive points, where there are too many."""
    size = -(-len(x) // _MOST_POINTS)
    if size <= 1:
        return x, y
    starts = range(0, len(x), size)
    return [_mean(x[i : i + size]) for i in starts], [_mean(y[i : i + size]) for i in starts]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def svg(figure: Any, name: str) -> str:
    """The figure as a document of its own: the same text for the same values.

    Args:
        figure: from :func:`plot`.
        name: makes the ids in it its own.
    """
    from matplotlib import rc_context

    file = io.StringIO()
    with rc_context({"svg.hashsalt": name}):
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(file, format="svg", metadata=nothing)
    return file.getvalue()


def png(figure: Any) -> bytes:
    """The figure as pixels, the same bytes for the same values."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=150, metadata={"Software": None})
    return file.getvalue()
