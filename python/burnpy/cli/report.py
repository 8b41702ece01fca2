"""``burnpy report``: one page about a run, and its curves as pictures."""

from __future__ import annotations

import argparse
from pathlib import Path

from burnpy.cli.arguments import Subparsers, place
from burnpy.cli.text import escape
from burnpy.errors import BurnpyError

__all__ = ["add_to"]


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "make a page about a training run, and pictures of its curves"
    about = (
        f"{text}: losses and other metrics, learning rate, evaluations, checkpoints, configuration, end of the log. "
        "The page is one file of HTML that asks no network for anything. Needs matplotlib (burnpy[plot])."
    )
    parser = commands.add_parser("report", help=text, description=about)
    parser.add_argument(
        "folder", metavar="RUN", type=place, help="the artifact folder of a run by burnpy or Burn"
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the page; by default RUN/report.html, and of a URL its last part with .html, here",
    )
    parser.add_argument(
        "--pictures",
        metavar="FOLDER",
        help="where the PNG files go; by default a folder named as the page, beside it",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the page and the pictures, and say where."""
    from burnpy.train.report import RunFolder, write_report
    from burnpy.train.report.page import page_of

    try:
        found = RunFolder(options.folder)
        page = Path(options.output) if options.output else page_of(found)
        pictures = Path(options.pictures) if options.pictures else page.with_suffix("")
        if pictures == page:
            raise BurnpyError(
                f"{page}: the page needs an ending, or the pictures a folder: --pictures FOLDER"
            )
        write_report(found, page, pictures=pictures)
    except (ValueError, ImportError) as error:
        # A damaged file, or the extra that is not installed: both say what to do.
        raise BurnpyError(str(error)) from error
    print(f"wrote {escape(str(page))} and {len(found.metrics())} pictures in {escape(str(pictures))}")
    return 0
