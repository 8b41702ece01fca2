"""From words on the command line to a command, and from what happened to an exit status."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from burnpy.cli import bench, convert, diff, inspect, meta, report, runs, verify
from burnpy.cli.text import escape
from burnpy.errors import BurnpyError

__all__ = ["main"]

OK = 0
ERROR = 2
"""1 is the answer "no": a file that is not valid, two files that differ."""
INTERRUPTED = 130
BROKEN_PIPE = 141
"""What a shell reports of a program that the signal ended: 128 plus its number."""

COMMANDS = (inspect, verify, diff, convert, meta, bench, report, runs)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    Args:
        arguments: the words behind the program's name; those of this process where there are none.

    Returns:
        0; 1 where a file is not valid or two files differ; 2 on an error, told in one line on standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        # A name that the terminal's encoding does not have is no reason to fail.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    options = _parser().parse_args(arguments)
    try:
        status: int = options.run(options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except (BurnpyError, OSError, MemoryError) as error:
        print(f"burnpy: {escape(_message(error))}", file=sys.stderr)
        _silence_stdout()
        return ERROR
    return status


class _Parser(argparse.ArgumentParser):
    """Tells what is wrong in one line, as every other error of the program."""

    def error(self, message: str) -> NoReturn:
        self.exit(ERROR, f"burnpy: {escape(message)} (see `{self.prog} --help`)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="burnpy",
        description="Look at, check, compare and convert burnpacks (.bpk) and checkpoints of other formats; label "
        "burnpacks; tell what became of training runs.",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return parser


class _Version(argparse.Action):
    """As argparse's own, which wants to know the version before anybody asks."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        import burnpy

        print(f"burnpy {burnpy.__version__}")
        parser.exit()


def _message(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, OSError) and not isinstance(error, BurnpyError) and error.strerror:
        where = f"{os.fsdecode(error.filename)}: " if error.filename else ""
        also = (
            f" (nor {os.fsdecode(error.filename2)})" if _is_another(error.filename2, error.filename) else ""
        )
        return f"{where}{error.strerror}{also}"
    return str(error)


def _is_another(path: Any, other: Any) -> bool:
    """Whether there is a second path that is not the first one, made absolute."""
    return bool(path) and os.path.abspath(path) != os.path.abspath(other)


def _silence_stdout() -> None:
    """Keep the interpreter from flushing what nobody reads: it would complain a second time when it ends."""
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except OSError:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
