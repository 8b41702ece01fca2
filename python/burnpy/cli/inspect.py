"""``burnpy inspect``: what is in a file of any format, from its header and metadata alone."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from burnpy.cli.arguments import Subparsers, at_least, place
from burnpy.cli.container import Container, Info, opened, scalar_json
from burnpy.cli.table import lines, terminal_width
from burnpy.cli.text import cells, escape, name_text, scalar_text, shape_text, size_text

__all__ = ["add_to"]

_COLUMNS = ("name", "dtype", "shape", "size", "param id")
_SORT_KEYS: dict[str, Callable[[Info], Any] | None] = {
    "data": None,  # the reader's own order
    "name": lambda info: info.name,
    "size": lambda info: -info.nbytes,
}


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "list tensors, metadata and scalars; no tensor's data is read"
    parser = commands.add_parser("inspect", help=text, description=text)
    parser.add_argument("file", metavar="FILE", type=place)
    parser.add_argument("--json", action="store_true", help="one JSON object, nothing shortened")
    parser.add_argument(
        "--sort", choices=_SORT_KEYS, default="data", help="order of the tensors: of their data (default), "
        "by name, or the largest first",
    )  # fmt: skip
    parser.add_argument("--limit", type=at_least(0), metavar="N", help="list the first N tensors only")
    parser.add_argument(
        "--top-level-key", metavar="KEY",
        help="show this part of a PyTorch checkpoint, under names without the key; auto finds the model",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the file's table, or its JSON."""
    with opened(options.file, top_level_key=options.top_level_key) as reader:
        infos = [reader.info(name) for name in reader.keys()]  # noqa: SIM118 (not a mapping)
        name = str(reader.path or options.file)
        key = _SORT_KEYS[options.sort]
        shown = (infos if key is None else sorted(infos, key=key))[: options.limit]
        if options.json:
            import json

            print(json.dumps(_as_json(name, reader, infos, shown), indent=2))
        else:
            for line in _as_text(name, reader, infos, shown):
                print(line)
    return 0


def _as_text(file: str, reader: Container, infos: Sequence[Info], shown: Sequence[Info]) -> Iterator[str]:
    from burnpy._shards import ShardedReader
    from burnpy.pack import Reader

    format = getattr(reader, "format", None)
    yield f"{escape(file)}: {'' if format is None else f'{format}, '}{_total_text(infos)}"
    if shown:
        yield ""
        yield from lines(_COLUMNS, [_row(info) for info in shown], right=(3,), width=terminal_width())
    if len(shown) < len(infos):
        yield f"... and {len(infos) - len(shown):,} more"
    yield from _section("metadata", reader.metadata().items())
    scalars = reader.scalars().items()
    yield from _section("scalars", ((name, f"{scalar_text(s.value)} ({s.kind})") for name, s in scalars))
    if not isinstance(reader, Reader | ShardedReader):
        yield from _section("ties", ((tie[0], ", ".join(tie[1:])) for tie in reader.ties()))
        yield from _section("no data, not built", reader.skipped())


def _total_text(infos: Sequence[Info]) -> str:
    count = len(infos)
    elements, num_bytes = _totals(infos)
    return f"{count:,} tensor{'s' * (count != 1)}, {elements:,} elements, {size_text(num_bytes)}"


def _totals(infos: Iterable[Info]) -> tuple[int, int]:
    pairs = [(math.prod(info.shape), info.nbytes) for info in infos]
    return sum(elements for elements, _ in pairs), sum(num_bytes for _, num_bytes in pairs)


def _row(info: Info) -> tuple[str, ...]:
    param_id = "-" if info.param_id is None else str(info.param_id)
    return name_text(info.name), _dtype_text(info), shape_text(info.shape), size_text(info.nbytes), param_id


def _dtype_text(info: Info) -> str:
    if info.scheme is None:
        return info.dtype
    return f"{info.dtype}({info.scheme.value})"


def _section(title: str, items: Iterable[tuple[str, str]]) -> Iterator[str]:
    pairs = [(name_text(name), escape(value)) for name, value in items]
    if not pairs:
        return
    yield ""
    yield title
    # One name of 5,000 characters must not push every value off the screen.
    widest = min(max(cells(name) for name, _ in pairs), 40)
    for name, value in pairs:
        yield f"  {name}{' ' * (widest - cells(name))} = {value}"


def _as_json(file: str, reader: Container, infos: Sequence[Info], shown: Sequence[Info]) -> dict[str, Any]:
    elements, num_bytes = _totals(infos)
    return {
        "file": file,
        **_layout_json(reader),
        "total": {"tensors": len(infos), "elements": elements, "bytes": num_bytes},
        "tensors": [_info_json(info) for info in shown],
        "metadata": reader.metadata(),
        "scalars": {name: scalar_json(scalar) for name, scalar in reader.scalars().items()},
    }


def _layout_json(reader: Container) -> dict[str, Any]:
    """What only a single file has."""
    from burnpy._shards import ShardedReader
    from burnpy.pack import Reader

    if isinstance(reader, ShardedReader):
        return {}
    if not isinstance(reader, Reader):
        return {"format": reader.format, "ties": reader.ties(), "skipped": dict(reader.skipped())}
    header = reader.header
    return {
        "version": header.version,
        "metadata_size": header.metadata_size,
        "data_start": reader.data_start,
    }


def _info_json(info: Info) -> dict[str, Any]:
    told = {
        "name": info.name,
        "dtype": info.dtype,
        "shape": list(info.shape),
        "param_id": info.param_id,
        "data_offsets": None if info.offsets is None else list(info.offsets),
        "nbytes": info.nbytes,
    }
    return told if info.scheme is None else told | {"scheme": vars(info.scheme)}
