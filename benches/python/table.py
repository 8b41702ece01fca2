"""The table of ratios: every row with all peers in turn, beside what the machine can do.

    python benches/python/table.py                                  everything, an hour or two
    python benches/python/table.py --quick --out build/quick        shows that all of it runs
    python benches/python/table.py --case B --row save --peers safetensors.numpy

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

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benches.python import burn_pack, machine
from benches.python.cases import all_cases
from benches.python.measure import Timings, measure
from benches.python.peers import PEERS
from benches.python.report import Line, line_of, markdown
from benches.python.rows import ROWS, makes_sense, open_row

PLACES = ("tmpfs", "disk", "memory")
ALL_NAMES = [*PEERS, burn_pack.NAME, "limit"]
# The formats side by side on one place, and some air.
ROOM_FACTOR = 6


def main() -> None:
    args = arguments()
    lines: list[Line] = []
    notes: list[str] = []
    with folders(args) as places:
        for case in (all_cases(quick=args.quick)[key] for key in args.case):
            for place in args.place:
                if shutil.disk_usage(places[place]).free < ROOM_FACTOR * case.num_bytes:
                    notes.append(f"{case.key} on {place}: no room")
                    continue
                for row in (name for name in args.row if makes_sense(case, name, place)):
                    lines += run(case, row, place, places[place], args, notes)
        about = machine.description(places)
    write(args.out, lines, notes, about)


def run(case, row, place, folder, args, notes) -> list[Line]:
    with open_row(case, row, place, folder, args.peers, quick=args.quick) as opened:
        timings = measure(opened, rounds=args.rounds, budget_s=args.budget)
        notes += [f"{case.key}, {row}, {place}: no {name}, it {why}" for name, why in opened.left_out.items()]
        lines = [line_of(opened, found) for found in timings]
    show(lines, timings)
    return lines


def show(lines: list[Line], timings: list[Timings]) -> None:
    for line, found in zip(lines, timings, strict=True):
        print(f"{line.case} {line.place:6} {line.row:34} {line.name:36} {line.text:>12} x{len(found.figures)}", flush=True)


def write(out: Path, lines: list[Line], notes: list[str], about: dict[str, str]) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.with_name(out.name + ".csv").open("w", newline="") as file:
        for key, value in about.items():
            file.write(f"# {key}: {value}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Line.FIELDS)
        writer.writerows(line.fields() for line in lines)
    out.with_name(out.name + ".md").write_text(markdown(lines, notes, about))
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", default=list("ABCDE"), choices=list("ABCDE"))
    parser.add_argument("--row", nargs="+", default=list(ROWS), choices=list(ROWS), metavar="ROW")
    parser.add_argument("--place", nargs="+", default=list(PLACES), choices=PLACES)
    parser.add_argument(
        "--peers", nargs="+", default=ALL_NAMES[1:], choices=ALL_NAMES, metavar="PEER",
        help=f"beside burnpy, which always runs: {', '.join(ALL_NAMES[1:])}",
    )  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small cases, to see that everything runs")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--budget", type=float, default=60, help="seconds a row after which three rounds are enough")
    parser.add_argument("--folder", type=Path, default=ROOT / "target" / "bench", help="a folder on the disk to measure")
    parser.add_argument("--tmpfs", type=Path, default=Path("/dev/shm"))
    parser.add_argument("--out", type=Path, default=ROOT / "benches" / "record" / machine.slug())
    args = parser.parse_args()
    args.peers = list(dict.fromkeys(["burnpy", *args.peers]))
    return args


if __name__ == "__main__":
    main()
