"""``burnpy diff``: in what two files differ."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

from burnpy.cli.arguments import Subparsers, place
from burnpy.cli.compare import Difference, compare_values
from burnpy.cli.container import Container, Info, opened, scalar_json
from burnpy.cli.text import escape, json_float, name_text, shape_text

__all__ = ["add_to"]


def add_to(commands: Subparsers) -> None:
    """Declare the command."""
    text = "tell in what two files differ"
    about = (
        f"{text}: tensors that only one has, dtypes, shapes, parameter ids, values to the bit, metadata, scalars. "
        "The status is 1 where they differ. The order of the data does not count."
    )
    parser = commands.add_parser("diff", help=text, description=about)
    parser.add_argument("a", metavar="A", type=place)
    parser.add_argument("b", metavar="B", type=place)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--ignore-ids", action="store_true", help="parameter ids may differ")
    parser.add_argument(
        "--top-level-key", metavar="KEY",
        help="compare this part of a PyTorch checkpoint, under names without the key; auto finds the model",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the differences; with ``--json`` all at the end, else each as soon as it is found."""
    key = options.top_level_key
    with (
        opened(options.a, backend="auto", top_level_key=key) as a,
        opened(options.b, backend="auto", top_level_key=key) as b,
    ):
        found = _differences(a, b, ids=not options.ignore_ids)
        if options.json:
            return _print_json(str(a.path or options.a), str(b.path or options.b), found)
        status = 0
        for kind, name, difference in found:
            status = 1
            print(_line(kind, name, difference))
        return status


def _differences(a: Container, b: Container, *, ids: bool) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each as (section, name, what); tensors in the order of A, then those that only B has."""
    names = list(dict.fromkeys([*a.keys(), *b.keys()]))
    for name in names:
        difference = _tensor_difference(a, b, name, ids=ids)
        if difference:
            yield "tensors", name, difference
    yield from _entry_differences("metadata", a.metadata(), b.metadata())
    scalars = ({name: scalar_json(s) for name, s in reader.scalars().items()} for reader in (a, b))
    yield from _entry_differences("scalars", *scalars)


def _tensor_difference(a: Container, b: Container, name: str, *, ids: bool) -> dict[str, Any]:
    if name not in b:
        return {"only_in": "a"}
    if name not in a:
        return {"only_in": "b"}
    left, right = _facts(a.info(name), ids=ids), _facts(b.info(name), ids=ids)
    facts = {key: [left[key], right[key]] for key in left if left[key] != right[key]}
    if facts.keys() - {"param_id"}:
        return facts
    values = compare_values(a.info(name), a.view(name), b.view(name))
    return facts | ({"values": _values_json(values)} if values is not None else {})


def _facts(info: Info, *, ids: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {"dtype": info.dtype, "shape": list(info.shape)}
    if info.scheme is not None:
        facts["scheme"] = vars(info.scheme)
    if ids:
        facts["param_id"] = info.param_id
    return facts


def _values_json(values: Difference) -> dict[str, Any]:
    maximum = values.max_abs_difference
    return {
        "differing": values.differing,
        "of": values.size,
        "max_abs_difference": json_float(maximum) if isinstance(maximum, float) else maximum,
    }


def _entry_differences(
    section: str, a: Mapping[str, Any], b: Mapping[str, Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for key in sorted({*a, *b}):
        if key not in b:
            yield section, key, {"only_in": "a", "value": a[key]}
        elif key not in a:
            yield section, key, {"only_in": "b", "value": b[key]}
        elif a[key] != b[key]:
            yield section, key, {"value": [a[key], b[key]]}


def _print_json(a: str, b: str, found: Iterator[tuple[str, str, dict[str, Any]]]) -> int:
    import json

    report: dict[str, Any] = {
        "a": a,
        "b": b,
        "equal": True,
        "tensors": {},
        "metadata": {},
        "scalars": {},
    }
    for section, name, difference in found:
        report["equal"] = False
        report[section][name] = difference
    print(json.dumps(report, indent=2))
    return 0 if report["equal"] else 1


def _line(section: str, name: str, difference: Mapping[str, Any]) -> str:
    label = {"tensors": "tensor", "metadata": "metadata", "scalars": "scalar"}[section]
    told = "; ".join(_told(what, value) for what, value in difference.items() if value is not None)
    return f"{label} {name_text(name)}: {told}"


def _told(what: str, value: Any) -> str:
    if what == "only_in":
        return f"only in {value.upper()}"
    if what == "values":
        return _values_text(value)
    if what == "shape":
        return f"shape {shape_text(value[0])} and {shape_text(value[1])}"
    if isinstance(value, list):
        return f"{what} {_value_text(value[0])} and {_value_text(value[1])}"
    return _value_text(value)


def _values_text(values: Mapping[str, Any]) -> str:
    text = f"{values['differing']:,} of {values['of']:,} values differ"
    maximum = values["max_abs_difference"]
    return text if maximum is None else f"{text}, by up to {maximum}"


def _value_text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and value.keys() == {"kind", "value"}:
        return f"{value['value']} ({value['kind']})"
    return escape(value if isinstance(value, str) and value else repr(value))
