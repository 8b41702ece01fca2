"""Paired timing of computations: the peers of a row in turn, many calls a sample, the median of the samples."""

import csv
import gc
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAMPLE_S = 0.02


@dataclass
class Row:
    """Calls that compute the same thing, and how much of ``unit`` one call is worth.

    ``work`` is in the unit's base: floating-point operations for GFLOP/s, bytes for GB/s, samples for samples/s, calls
    for us (then less is better).
    """

    name: str
    unit: str
    work: float
    calls: dict[str, Callable[[], Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """What one peer reached in one row."""

    row: str
    peer: str
    threads: int
    unit: str
    value: float
    spread: float
    samples: int


def set_threads(count: int) -> None:
    """For the libraries that read it when they are imported: call it first."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BURNPY_NUM_THREADS"):
        os.environ[variable] = str(count)


def measure(row: Row, *, threads: int, rounds: int) -> list[Line]:
    """One line a peer. In every round each peer runs once, another one first each time."""
    repeats = {name: _repeats(call) for name, call in row.calls.items()}
    seconds: dict[str, list[float]] = {name: [] for name in row.calls}
    names = list(row.calls)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            seconds[name].append(_sample(row.calls[name], repeats[name]))
    return [_line(row, name, threads, found) for name, found in seconds.items()]


def _repeats(call: Callable[[], Any]) -> int:
    call()
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-8)
    return max(1, round(SAMPLE_S / once))


def _sample(call: Callable[[], Any], repeats: int) -> float:
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    seconds = (time.perf_counter() - start) / repeats
    gc.enable()
    return seconds


def _line(row: Row, peer: str, threads: int, seconds: list[float]) -> Line:
    middle = statistics.median(seconds)
    spread = (max(seconds) - min(seconds)) / middle
    scale = {"GFLOP/s": 1e-9, "GB/s": 1e-9, "samples/s": 1.0}
    value = middle * 1e6 / row.work if row.unit == "us" else row.work / middle * scale[row.unit]
    return Line(row.name, peer, threads, row.unit, value, spread, len(seconds))


def write(out: Path, title: str, lines: list[Line], about: dict[str, str]) -> None:
    """OUT.csv and OUT.md."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{out}.csv").open("w", newline="") as file:
        for key, value in about.items():
            file.write(f"# {key}: {value}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["row", "peer", "threads", "unit", "value", "spread", "samples"])
        for line in lines:
            writer.writerow(
                [
                    line.row,
                    line.peer,
                    line.threads,
                    line.unit,
                    f"{line.value:.5g}",
                    f"{line.spread:.2f}",
                    line.samples,
                ]
            )
    Path(f"{out}.md").write_text(_markdown(title, lines, about))
    print(f"wrote {out}.csv and {out}.md")


def _markdown(title: str, lines: list[Line], about: dict[str, str]) -> str:
    peers = list(dict.fromkeys(line.peer for line in lines))
    head = [f"# {title}", "", *[f"- {key}: {value}" for key, value in about.items()], ""]
    table = [
        "| row | threads | unit | " + " | ".join(peers) + " | burnpy / best peer |",
        "|---" * (len(peers) + 4) + "|",
    ]
    for key in dict.fromkeys((line.row, line.threads) for line in lines):
        found = {line.peer: line for line in lines if (line.row, line.threads) == key}
        unit = next(iter(found.values())).unit
        cells = [f"{found[peer].value:.4g}" if peer in found else "" for peer in peers]
        table.append(f"| {key[0]} | {key[1]} | {unit} | " + " | ".join(cells) + f" | {_ratio(found, unit)} |")
    return "\n".join([*head, *table, ""])


def _ratio(found: dict[str, Line], unit: str) -> str:
    others = [line.value for peer, line in found.items() if peer not in ("burnpy", "peak")]
    if "burnpy" not in found or not others:
        return ""
    own = found["burnpy"].value
    return f"{min(others) / own:.2f}" if unit in ("us", "s") else f"{own / max(others):.2f}"
