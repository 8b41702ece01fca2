"""One page that tells of a run, and needs nothing else."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from burnpy.train.report.plot import plot, png, svg

if TYPE_CHECKING:
    from burnpy._typing import PathLike
    from burnpy.train.report.curve import Curve
    from burnpy.train.report.run_folder import RunFolder

__all__ = ["write_report"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #ddd; }
.about { color: #666; margin-top: .2rem; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(480px, 1fr)); gap: 1rem; }
.plots img { width: 100%; } figure { margin: 0; }
table { border-collapse: collapse; } th, td { padding: .25rem .8rem; border-bottom: 1px solid #eee; text-align: right; }
th { background: #f6f6f6; } th:first-child, td:first-child, td.text, th.text { text-align: left; }
pre { background: #f6f6f6; padding: .8rem; overflow-x: auto; }
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""The browser itself keeps the page from asking the network for anything."""
_LOG_LINES = 40


def write_report(run: RunFolder, path: PathLike | None = None, *, pictures: PathLike | None = None) -> Path:
    """Write a page of HTML with everything in it: curves, values, evaluations, checkpoints, configuration, log.

    Args:
        run: what is told of.
        path: of the page; by default ``report.html`` in the run's folder, and ``<name>.html`` here of a run elsewhere.
        pictures: a folder for the curves as PNG files, too; none are written without it.

    Returns:
        The path of the page.

    Raises:
        ImportError: matplotlib is not installed (extra ``plot``).
        OSError: a file cannot be written.
    """
    path = page_of(run) if path is None else Path(os.fspath(path))
    figures = {metric: plot(metric, _curves(run, metric)) for metric in run.metrics()}
    images = [(metric, svg(figure, metric)) for metric, figure in figures.items()]
    text = "\n".join(_page(run, images)) + "\n"
    path.write_text(text, encoding="utf-8")
    if pictures is not None:
        folder = Path(os.fspath(pictures))
        folder.mkdir(parents=True, exist_ok=True)
        for metric, figure in figures.items():
            (folder / f"{_file_name(metric)}.png").write_bytes(png(figure))
    return path


def page_of(run: RunFolder) -> Path:
    """Where the page of a run is written if nobody says otherwise."""
    return run.directory / "report.html" if isinstance(run.directory, Path) else Path(f"{run.name}.html")


def _curves(run: RunFolder, metric: str) -> list[Curve]:
    """Both splits; a learning rate is told of the training alone: validation has none, and Burn writes 0."""
    splits = ("train",) if metric == "Learning Rate" else ("train", "valid")
    return [curve for split in splits if (curve := run.curve(metric, split)) is not None]


def _file_name(metric: str) -> str:
    return re.sub(r"[^\w().@\[\]-]", "_", metric)


def _page(run: RunFolder, images: Sequence[tuple[str, str]]) -> Iterator[str]:
    name = escape(run.name)
    yield "<!DOCTYPE html>"
    yield f'<html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield f"<style>{_STYLE}</style></head><body>"
    yield f'<h1>{name}</h1><p class="about">{escape(_about(run))}</p>'
    yield from _section("Curves", _plots(images))
    yield from _section("Values", _values(run))
    yield from _section("Evaluations", _tests(run))
    yield from _section("Checkpoints", _checkpoints(run))
    yield from _section("Configuration", _preformatted(run.config()))
    yield from _section("Log", _preformatted("\n".join(run.log()[-_LOG_LINES:])))
    yield "</body></html>"


def _about(run: RunFolder) -> str:
    parts = [f"{run.num_epochs} epochs" if run.num_epochs != 1 else "1 epoch"]
    if times := run.times():
        first, last = (f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S}" for moment in times)
        parts.append(f"{first} to {last} (UTC)")
    if run.unread:
        parts.append(f"no numbers in {', '.join(run.unread[:3])}{' …' if len(run.unread) > 3 else ''}")
    return " · ".join(parts)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield f"<h2>{title}</h2>"
        yield from body


def _plots(images: Sequence[tuple[str, str]]) -> Iterator[str]:
    if not images:
        return
    yield '<div class="plots">'
    for metric, text in images:
        data = base64.b64encode(text.encode()).decode()
        alt = escape(f"{metric} over the epochs")
        yield f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{data}"></figure>'
    yield "</div>"


def _values(run: RunFolder) -> Iterator[str]:
    rows = []
    for curve in (curve for metric in run.metrics() for curve in _curves(run, metric)):
        if curve.last is None or curve.lowest is None or curve.highest is None:
            continue
        cells = [text for epoch, value in (curve.last, curve.lowest, curve.highest)
                 for text in (f"{value:.5g}", str(epoch))]  # fmt: skip
        rows.append([f"{curve.metric}, {curve.split}", *cells])
    yield from _table(("metric", "last", "epoch", "lowest", "epoch", "highest", "epoch"), rows)


def _tests(run: RunFolder) -> Iterator[str]:
    metrics = sorted({metric for values in run.tests.values() for metric in values})
    rows = [
        [tag, *(f"{values[metric]:.5g}" if metric in values else "" for metric in metrics)]
        for tag, values in run.tests.items()
    ]
    yield from _table(("test", *metrics), rows)


def _checkpoints(run: RunFolder) -> Iterator[str]:
    complete = [each for each in run.checkpoints if each.complete]
    rows = []
    for each in run.checkpoints:
        newest = bool(complete) and each is complete[-1]
        said = {"newest": newest, "best": each.best, "incomplete": not each.complete}
        notes = [note for note, holds in said.items() if holds]
        told = [str(number) if number is not None else "" for number in (each.epoch, each.optimizer_steps)]
        rows.append([str(each.key), *told, f"{each.num_bytes / 1e6:,.3f}", ", ".join(notes)])
    yield from _table(("set", "epoch", "optimizer steps", "size in MB", ""), rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    if not rows:
        return
    yield f"<table><thead><tr>{''.join(f'<th>{escape(text)}</th>' for text in header)}</tr></thead><tbody>"
    for row in rows:
        yield f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>"
    yield "</tbody></table>"


def _preformatted(text: str | None) -> Iterator[str]:
    if text:
        yield f"<pre>{escape(text)}</pre>"
