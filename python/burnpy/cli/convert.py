"""``burnpy convert``: a checkpoint of one format written as another."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from burnpy.cli.arguments import Subparsers, place
from burnpy.cli.text import escape
from burnpy.errors import BurnpyError, CheckpointError

if TYPE_CHECKING:
    from burnpy.store.report import ConversionReport

__all__ = ["add_to"]

_ABOUT = (
    "Reads .bpk, .safetensors (also several files, by their index), .pt, .pth, .ckpt, .bin and .npz, whatever they are "
    "called; writes .bpk, .safetensors and .npz. Nothing in a file is executed, and torch is not needed. The target "
    "appears whole or not at all; what it cannot hold is told before anything is written."
)


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert", help="write a checkpoint in another format, and tell what was carried", description=_ABOUT
    )
    parser.add_argument("source", metavar="SRC", type=place, help="the checkpoint")
    parser.add_argument("target", metavar="DST", type=place, help="the new file; its suffix tells the format")
    parser.add_argument(
        "--map", action="append", default=[], metavar="REGEX=NEW", type=_mapping,
        help="rename: what matches becomes NEW, in which $1 is a group; several are applied in turn",
    )  # fmt: skip
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="REGEX",
        help="carry only the tensors in whose names it is found",
    )
    parser.add_argument(
        "--drop",
        action="append",
        default=[],
        metavar="REGEX",
        help="leave out tensors and scalars in whose names it is found",
    )
    parser.add_argument("--dtype", metavar="DTYPE", help="what floats become: f64, f32, f16, bf16, flex32")
    parser.add_argument(
        "--adapter", choices=("pytorch", "burn-to-pytorch"),
        help="transpose weights of linear layers and rename those of norms, into Burn's conventions or back",
    )  # fmt: skip
    parser.add_argument(
        "--top-level-key", default="auto", metavar="KEY",
        help="the part of a PyTorch checkpoint to take; found by itself (auto), or all of it (none)",
    )  # fmt: skip
    parser.add_argument(
        "--shard", metavar="SIZE", help="several files of at most so much, like 5GB, and an index"
    )
    parser.add_argument("--format", metavar="F", help="burnpack, safetensors or npz, where DST does not tell")
    parser.add_argument(
        "--allow-loss", action="store_true", help="leave out what the target cannot hold, instead of stopping"
    )
    parser.add_argument("--dry-run", action="store_true", help="check and report, but write nothing")
    parser.add_argument("--no-overwrite", action="store_true", help="stop if something is at DST")
    parser.add_argument("--durable", action="store_true", help="wait until the disk has the files")
    parser.add_argument("--quiet", "-q", action="store_true", help="do not print the report")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Convert, and print the report."""
    from burnpy.cli.progress import ProgressBar
    from burnpy.store.convert import convert

    with _told_in_a_line(), ProgressBar() as progress:
        report = convert(
            options.source,
            options.target,
            map=options.map,
            only=options.only,
            drop=options.drop,
            dtype=options.dtype,
            adapter=options.adapter,
            top_level_key=None if options.top_level_key == "none" else options.top_level_key,
            shard=options.shard,
            allow_loss=options.allow_loss,
            dry_run=options.dry_run,
            overwrite=not options.no_overwrite,
            durable=options.durable,
            progress=progress,
            format=options.format,
        )
    if not options.quiet:
        _print(report)
    return 0


def _print(report: ConversionReport) -> None:
    # A dry run is asked for to see everything.
    for line in report.lines(limit=None if report.dry_run else 20):
        print(line)


def _mapping(text: str) -> tuple[str, str]:
    """A pattern and what takes its place. A pattern may have an equals sign in it, a name has none."""
    pattern, equals, new = text.rpartition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"must be REGEX=NEW, got {text!r}")
    return pattern, new


@contextmanager
def _told_in_a_line() -> Iterator[None]:
    """What is wrong with an argument, as what is wrong with a file."""
    try:
        yield
    except CheckpointError as error:
        head, *listed = str(error).splitlines()
        if not hasattr(error, "report"):
            raise
        print("\n".join(map(escape, listed)), file=sys.stderr)
        raise BurnpyError(head.removesuffix(":")) from error
    except BurnpyError:
        raise
    except ValueError as error:
        raise BurnpyError(str(error)) from error
