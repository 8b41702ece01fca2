"""The table of ratios: every row with all peers in turn, beside what the machine can do.

    python benches/python/table.py                                  everything, an hour or two
    python benches/python/table.py --quick --out build/quick        shows that all of it runs
    python benches/python/table.py --case B --row save --peers safetensors.numpy
    python benches/python/table.py --suite checkpoints              PyTorch's, safetensors' and NumPy's files

Writes OUT.csv (a line per row and call) and OUT.md (the table).
"""

import argparse
import csv
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benches.python import machine
from benches.python.cases import Case
from benches.python.machine import ROOT
from benches.python.measure import Timings, measure
from benches.python.report import Line, line_of, markdown
from benches.python.rows import open_row
from benches.python.suites import SUITES

PLACES = ("tmpfs", "disk", "memory")


def main() -> None:
    args = arguments()
    lines: list[Line] = []
    notes: list[str] = []
    with folders(args) as places:
        cases = args.suite.cases(quick=args.quick)
        for case in (cases[key] for key in args.case):
            for place in args.place:
                if shutil.disk_usage(places[place]).free < args.suite.room_factor * case.num_bytes:
                    notes.append(f"{case.key} on {place}: no room")
                    continue
                for row in (name for name in args.row if args.suite.makes_sense(case, name, place)):
                    lines += run(case, row, place, places[place], args, notes)
        about = machine.description(places)
    write(args.out, args.suite.title, lines, notes, about)


def run(
    case: Case, row: str, place: str, folder: Path, args: argparse.Namespace, notes: list[str]
) -> list[Line]:
    """Measures one row; what it had to leave out goes to the notes."""
    with open_row(args.suite.builder(case, row, place, folder, quick=args.quick), args.peers) as opened:
        timings = measure(opened, rounds=args.rounds, budget_s=args.budget)
        notes += [f"{case.key}: {name} {why}" for name, why in opened.left_out.items()]
        lines = [line_of(opened, found) for found in timings]
    show(lines, timings)
    return lines


def show(lines: list[Line], timings: list[Timings]) -> None:
    for line, found in zip(lines, timings, strict=True):
        what = f"{line.case} {line.place:6} {line.row:34} {line.name:36}"
        print(f"{what} {line.text:>12} x{len(found.figures)}", flush=True)


def write(out: Path, title: str, lines: list[Line], notes: list[str], about: dict[str, str]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.with_name(out.name + ".csv").open("w", newline="") as file:
        for key, value in about.items():
            file.write(f"# {key}: {value}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Line.FIELDS)
        writer.writerows(line.fields() for line in lines)
    out.with_name(out.name + ".md").write_text(markdown(title, lines, notes, about))
    print(f"wrote {out}.csv and {out}.md")


@contextmanager
def folders(args: argparse.Namespace) -> Iterator[dict[str, Path]]:
    """A folder per place, gone afterwards. Rows that are about memory keep what files they need on the disk."""
    args.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="run-") as disk:
        places = {"disk": Path(disk), "memory": Path(disk)}
        if "tmpfs" not in args.place:
            yield places
            return
        with tempfile.TemporaryDirectory(dir=args.tmpfs, prefix="burnpy-bench-") as tmpfs:
            yield {**places, "tmpfs": Path(tmpfs)}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--suite", default="container", choices=list(SUITES))
    suite = SUITES[parser.parse_known_args(_without_help())[0].suite]  # the other choices depend on it
    add("--case", nargs="+", default=suite.keys, choices=suite.keys)
    add(
        "--row",
        nargs="+",
        default=list(suite.rows),
        choices=list(suite.rows),
        metavar="ROW",
        help="its full name",
    )
    add("--place", nargs="+", default=list(PLACES), choices=PLACES)
    peers = suite.names[1:]
    add(
        "--peers",
        nargs="+",
        default=peers,
        choices=suite.names,
        metavar="PEER",
        help=f"of {', '.join(peers)}",
    )
    add("--quick", action="store_true", help="small cases, to see that everything runs")
    add("--rounds", type=int, default=9)
    add("--budget", type=float, default=60, help="seconds a row after which three rounds are enough")
    add("--folder", type=Path, default=ROOT / "target" / "bench", help="a folder on the disk to measure")
    add("--tmpfs", type=Path, default=Path("/dev/shm"))
    record = ROOT / "benches" / "record" / f"{machine.slug()}{suite.record}"
    add("--out", type=Path, default=record, help="without .csv, .md")
    args = parser.parse_args()
    args.suite = suite
    args.peers = list(dict.fromkeys(["burnpy", *args.peers]))  # without it there is nothing to compare
    return args


def _without_help() -> list[str]:
    return [argument for argument in sys.argv[1:] if argument not in ("-h", "--help")]


if __name__ == "__main__":
    main()
