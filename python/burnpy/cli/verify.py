"""``burnpy verify``: whether files are what their format says; burnpacks, what Burn's own writer would have written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from burnpy.cli.arguments import Subparsers, place
from burnpy.cli.container import opened
from burnpy.cli.text import escape
from burnpy.errors import CheckpointError, Error, IoError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from burnpy._typing import Place

__all__ = ["add_to"]


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "check files strictly, and tell every reason why one is not valid"
    about = (
        f"{text}: header and metadata, layout, padding, the values of booleans. Of other formats, that every tensor "
        "can be read. The status is 1 where a file is not "
        "valid, 2 where one cannot be read."
    )
    parser = commands.add_parser("verify", help=text, description=about)
    parser.add_argument("files", metavar="FILE", nargs="+", type=place)
    parser.add_argument("--quiet", "-q", action="store_true", help="say nothing of valid files")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print a line for each valid file and one for each reason why another is not."""
    status = 0
    for path in options.files:
        problems = _problems(path)
        if problems:
            status = 1
        for problem in problems:
            print(f"{escape(str(path))}: {escape(problem)}")
        if not problems and not options.quiet:
            print(f"{escape(str(path))}: ok")
    return status


def _problems(path: Place) -> Sequence[str]:
    try:
        with opened(path) as reader:
            return [_told(problem, reader.path or path) for problem in reader.problems()]
    except IoError:
        raise  # the disk's fault, not the file's
    except (CheckpointError, Error) as error:
        return [_told(error, error.path)]


def _told(error: CheckpointError | Error, path: object) -> str:
    """The reason, without the name of the file that is checked; a file of a set keeps its own."""
    return error.message.removeprefix(f"{path}: ")
