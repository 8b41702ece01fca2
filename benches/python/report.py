"""Figures as text: the lines of the CSV and the Markdown table made from them."""

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from benches.python.measure import Timings
from benches.python.rows import Row

TIE = 1.05
"""Within five hundredths nobody is ahead; single runs on a shared machine differ by more."""

LITTLE_MEMORY = 1e6
"""Peaks below a megabyte are equal: they are the interpreter's."""


@dataclass(frozen=True)
class Line:
    """One call of one row."""

    FIELDS: ClassVar = (
        "case", "row", "place", "kind", "name", "rounds", "unit", "median", "min", "max", "bytes", "gb_per_s",
    )  # fmt: skip

    case: str
    row: str
    place: str
    kind: str
    name: str
    unit: str
    num_bytes: int
    figures: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.figures)

    @property
    def text(self) -> str:
        return _size(self.median) if self.unit == "bytes" else _time(self.median)

    def fields(self) -> tuple[object, ...]:
        numbers = [f"{number:.6g}" for number in (self.median, min(self.figures), max(self.figures))]
        rate = f"{self.num_bytes / self.median / 1e9:.4g}" if self.unit == "s" else ""
        about = (self.case, self.row, self.place, self.kind, self.name, len(self.figures), self.unit)
        return (*about, *numbers, self.num_bytes, rate)

    def ratio_to(self, other: "Line") -> float:
        """Median of the rounds' own ratios: what disturbs a whole round disturbs both."""
        floor = LITTLE_MEMORY if self.unit == "bytes" else 0.0
        pairs = zip(self.figures, other.figures, strict=True)
        return median(max(mine, floor) / max(theirs, floor) for mine, theirs in pairs)


def line_of(row: Row, timings: Timings) -> Line:
    call = timings.call
    about = (row.case.key, row.name, row.place, call.kind, call.name, row.unit, row.num_bytes)
    return Line(*about, tuple(timings.figures))


def markdown(title: str, lines: list[Line], notes: list[str], about: dict[str, str]) -> str:
    """The table, the rows where burnpy is not first, what was left out, and the machine."""
    rows: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for line in lines:
        rows[line.case, line.row, line.place].append(line)
    parts = [f"# {title}", "", _ABOUT, ""]
    parts += [f"- {key}: {value}" for key, value in about.items()]
    parts += ["", *_table(rows), "", "## Where burnpy is not first", "", *_behind(rows)]
    parts += ["", "## Everybody", "", *_everybody(rows)]
    if notes:
        parts += ["", "## Left out", "", *[f"- {note}" for note in dict.fromkeys(notes)]]
    return "\n".join(parts) + "\n"


_ABOUT = (
    "Medians of rounds in which every entry of a row runs once (A B C A B C). Ratios are medians of the rounds' own "
    "ratios: `peer ÷ burnpy` above 1 means that burnpy is ahead, `limit ÷ burnpy` is the share of what the machine "
    "can do with these bytes."
)


def _table(rows: dict[tuple[str, str, str], list[Line]]) -> list[str]:
    out = [
        "| case | row | place | burnpy | best peer | | peer ÷ burnpy | limit | | limit ÷ burnpy |",
        "|---|---|---|--:|---|--:|--:|---|--:|--:|",
    ]
    for (case, row, place), lines in rows.items():
        ours, peer, limit = _best(lines, "burnpy"), _best(lines, "peer"), _best(lines, "limit")
        cells = [case, row, place, ours.text if ours else "", *_against(peer, ours), *_against(limit, ours)]
        out.append(f"| {' | '.join(cells)} |")
    return out


def _against(other: Line | None, ours: Line | None) -> tuple[str, str, str]:
    if other is None:
        return "", "", ""
    return other.name, other.text, f"{other.ratio_to(ours):.2f}" if ours else ""


def _behind(rows: dict[tuple[str, str, str], list[Line]]) -> list[str]:
    out = []
    for (case, row, place), lines in rows.items():
        ours, peer = _best(lines, "burnpy"), _best(lines, "peer")
        if ours and peer and ours.ratio_to(peer) > TIE:
            out.append(f"- {case}, {row}, {place}: {peer.name} {peer.text}, burnpy {ours.text}")
    return out or ["Nowhere."]


def _everybody(rows: dict[tuple[str, str, str], list[Line]]) -> list[str]:
    names = list(
        dict.fromkeys(line.name for lines in rows.values() for line in lines if line.kind != "limit")
    )
    out = [f"| case | row | place | {' | '.join(names)} |", f"|---|---|---|{'--:|' * len(names)}"]
    for (case, row, place), lines in rows.items():
        found = {line.name: line.text for line in lines}
        out.append(f"| {case} | {row} | {place} | {' | '.join(found.get(name, '') for name in names)} |")
    return out


def _best(lines: list[Line], kind: str) -> Line | None:
    return min((line for line in lines if line.kind == kind), key=lambda line: line.median, default=None)


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError("unreachable")


def _size(num_bytes: float) -> str:
    return f"{num_bytes / 1e6:.1f} MB"
