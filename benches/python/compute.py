"""Paired timing of computations: the peers of a row in turn, many calls a sample, the median of the samples."""

import argparse
import csv
import gc
import os
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SAMPLE_S = 0.02
LIMITS = ("memcpy", "triad", "scale", "fma")
"""Columns that are no peers: what the machine gives."""

REST_S = 0.15
"""Before each sample: a thread of OpenBLAS goes on spinning after its work for 2^28 ticks (110 ms at 2.4 GHz), OpenMP's
for less, on the cores of who comes next."""


@dataclass
class Row:
    """Calls that compute the same thing, and how much of ``unit`` one call is worth.

    ``work`` is in the unit's base: floating-point operations for GFLOP/s, bytes for GB/s, samples for samples/s, calls
    for us (then less is better). What a call uses up, ``prepare`` makes for so many calls before the clock starts.
    """

    name: str
    unit: str
    work: float
    calls: dict[str, Callable[[], Any]] = field(default_factory=dict)
    prepare: dict[str, Callable[[int], None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """What one peer reached in one row, round by round."""

    row: str
    peer: str
    threads: int
    unit: str
    values: Sequence[float]

    @property
    def value(self) -> float:
        return statistics.median(self.values)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third."""
        if len(self.values) < 2:
            return self.values[0], self.values[0]
        first, _, third = statistics.quantiles(self.values, n=4, method="inclusive")
        return first, third

    @property
    def spread(self) -> float:
        return (max(self.values) - min(self.values)) / self.value if self.value else 0.0

    def times_better_than(self, peer: "Line") -> float:
        """The median of the rounds' own ratios: neighbours on the machine disturb a round of all peers alike."""
        pairs = zip(self.values, peer.values, strict=True)
        is_less_better = self.unit in ("us", "s")
        return statistics.median(theirs / own if is_less_better else own / theirs for own, theirs in pairs)


def set_threads(count: int) -> None:
    """For the libraries that read it when they are imported: call it first."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BURNPY_NUM_THREADS"):
        os.environ[variable] = str(count)


def table(
    suite: str,
    title: str,
    rows: Callable[[int, list[str], str], Iterable[Row]],
    *,
    doc: str | None,
    rounds: int,
    peers: list[str],
) -> None:
    """A whole script: its arguments, its rows one after the other, and the record.

    Args:
        suite: the record's name.
        title: the record's title.
        rows: of so many threads, peers by name, and a text that is in the names of rows.
        doc: the script's.
        rounds: by default.
        peers: by default.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", default="", help="rows whose name contains this")
    parser.add_argument("--peers", nargs="*", default=peers)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    set_threads(args.threads)
    told, lines = about(), []
    for row in rows(args.threads, args.peers, args.only):
        found = measure(row, threads=args.threads, rounds=args.rounds)
        lines += found
        print(f"{row.name:36}", *(f"{line.peer} {line.value:.4g}" for line in found), row.unit, flush=True)
    write(args.out or place(suite, args.threads, is_whole=not args.only), title, lines, told)


def measure(row: Row, *, threads: int, rounds: int) -> list[Line]:
    """One line a peer. In every round each peer runs once, another one first each time."""
    repeats = {name: _repeats(row, name) for name in row.calls}
    seconds: dict[str, list[float]] = {name: [] for name in row.calls}
    names = list(row.calls)
    for turn in range(rounds):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            seconds[name].append(_sample(row, name, repeats[name]))
    return [
        Line(row.name, name, threads, row.unit, [_value(row, each) for each in found])
        for name, found in seconds.items()
    ]


def _repeats(row: Row, name: str) -> int:
    _sample(row, name, 1)
    once = max(_sample(row, name, 1), 1e-8)
    return max(1, round(SAMPLE_S / once))


def _sample(row: Row, name: str, repeats: int) -> float:
    call = row.calls[name]
    if name in row.prepare:
        row.prepare[name](repeats + 1)
    gc.collect()
    gc.disable()
    time.sleep(REST_S)
    call()
    start = time.perf_counter()
    for _ in range(repeats):
        call()
    seconds = (time.perf_counter() - start) / repeats
    gc.enable()
    return seconds


def _value(row: Row, seconds: float) -> float:
    scale = {"GFLOP/s": 1e-9, "GB/s": 1e-9, "samples/s": 1.0}
    return seconds * 1e6 / row.work if row.unit == "us" else row.work / seconds * scale[row.unit]


def about() -> dict[str, str]:
    """Machine, versions and commit, and how busy the machine is: call it before the work begins."""
    from benches.python import machine  # imports burnpy, which reads the number of threads

    left_out = ("places", "burn-pack")
    found = {key: value for key, value in machine.description({}).items() if key not in left_out}
    return found | {"load": f"{os.getloadavg()[0]:.1f} processes before the run"}


def place(suite: str, threads: int, *, is_whole: bool) -> Path:
    """Where a table goes: a whole one to the records, a part of it to ``target``."""
    from benches.python import machine

    name = f"{suite}-{threads}-thread{'s' if threads > 1 else ''}"
    if not is_whole:
        return machine.ROOT / "target" / name
    return machine.ROOT / "benches" / "record" / f"{machine.slug()}-{name}"


def write(out: Path, title: str, lines: list[Line], about: dict[str, str]) -> None:
    """OUT.csv and OUT.md."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with Path(f"{out}.csv").open("w", newline="") as file:
        for key, value in about.items():
            file.write(f"# {key}: {value}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ["row", "peer", "threads", "unit", "value", "quartile 1", "quartile 3", "spread", "samples"]
        )
        for line in lines:
            figures = [f"{value:.5g}" for value in (line.value, *line.quartiles)]
            about_it = [line.row, line.peer, line.threads, line.unit]
            writer.writerow([*about_it, *figures, f"{line.spread:.2f}", len(line.values)])
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
        cells = [_cell(found[peer]) if peer in found else "" for peer in peers]
        table.append(f"| {key[0]} | {key[1]} | {unit} | " + " | ".join(cells) + f" | {_ratio(found)} |")
    return "\n".join([*head, *table, ""])


def _cell(line: Line) -> str:
    """The median, and the quartiles where there was more than one round."""
    if len(line.values) < 2:
        return _number(line.value)
    first, third = line.quartiles
    return f"{_number(line.value)} ({_number(first)}–{_number(third)})"


def _number(value: float) -> str:
    """Four digits, and no exponent."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _ratio(found: dict[str, Line]) -> str:
    own = found.get("burnpy")
    peers = [line for name, line in found.items() if name not in ("burnpy", *LIMITS)]
    return f"{min(own.times_better_than(peer) for peer in peers):.2f}" if own and peers else ""
