"""``burnpy meta``: read and change what a file says about itself."""

from __future__ import annotations

import argparse
import sys

from burnpy.cli.arguments import Subparsers
from burnpy.cli.container import Container, opened, opened_file, scalar_json
from burnpy.cli.text import escape, scalar_text
from burnpy.errors import BurnpyError

__all__ = ["add_to"]


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "read or change the metadata"
    parser = commands.add_parser("meta", help=text, description=text)
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    _add_get(actions)
    _add_set(actions)


def _add_get(actions: Subparsers) -> None:
    text = "print the metadata and scalars, or one of them"
    parser = actions.add_parser("get", help=text, description=text)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("key", metavar="KEY", nargs="?", help="print this value alone")
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=get)


def _add_set(actions: Subparsers) -> None:
    text = "write the file again with other metadata"
    about = f"{text}. Tensors, their order and ids, and scalars stay; the old file stays whole until the new one is."
    parser = actions.add_parser("set", help=text, description=about)
    parser.add_argument("file", metavar="FILE")
    parser.add_argument(
        "entries", metavar="KEY=VALUE", nargs="*", type=_entry, help="the key ends at the first ="
    )
    parser.add_argument(
        "--delete", metavar="KEY", action="append", default=[], help="may be given several times"
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="write here, and leave FILE as it is")
    parser.set_defaults(run=set_)


def _entry(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"expected KEY=VALUE, got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no UTF-8") from error
    return key, value


def get(options: argparse.Namespace) -> int:
    """Print all entries, or the value of one."""
    with opened(options.file) as reader:
        if options.json:
            import json

            print(json.dumps(_as_json(reader, options.key), indent=2))
        elif options.key is None:
            for key, text in [*reader.metadata().items(), *_scalar_texts(reader).items()]:
                print(f"{escape(key)}={escape(text)}")
        else:
            text = _value(reader, options.key)
            # A script gets the value as it is; a terminal must not obey what stands in a file.
            print(escape(text) if sys.stdout is not None and sys.stdout.isatty() else text)
    return 0


def _as_json(reader: Container, key: str | None) -> object:
    metadata = reader.metadata()
    scalars = {name: scalar_json(scalar) for name, scalar in reader.scalars().items()}
    if key is None:
        return {"metadata": metadata, "scalars": scalars}
    _value(reader, key)
    return metadata[key] if key in metadata else scalars[key]


def _value(reader: Container, key: str) -> str:
    values = {**_scalar_texts(reader), **reader.metadata()}
    if key not in values:
        raise BurnpyError(f"{reader.path}: no metadata entry or scalar is named {key!r}")
    return values[key]


def _scalar_texts(reader: Container) -> dict[str, str]:
    return {name: scalar_text(scalar.value) for name, scalar in reader.scalars().items()}


def set_(options: argparse.Namespace) -> int:
    """Write the file again, beside itself and then over itself, its tensors streamed from the old one."""
    from burnpy.pack import Writer

    if not options.entries and not options.delete:
        raise BurnpyError("nothing to set and nothing to delete")
    with opened_file(options.file) as reader:
        metadata = _changed(reader, dict(options.entries), options.delete)
        in_data_order = {name: place for place, name in enumerate(reader.keys())}
        tensors = sorted(reader.into_tensors(), key=lambda tensor: in_data_order[tensor.name])
        writer = Writer(tensors, metadata, reader.scalars(), auto_extension=False)
        writer.write_to_file(options.output or reader.path or options.file)
    return 0


def _changed(reader: Container, entries: dict[str, str], deleted: list[str]) -> dict[str, str]:
    metadata = reader.metadata()
    for key in deleted:
        if key not in metadata:
            raise BurnpyError(f"{reader.path}: no metadata entry is named {key!r}, so it cannot be deleted")
    return {key: value for key, value in metadata.items() if key not in deleted} | entries
