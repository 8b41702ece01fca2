"""Who may import whom: the doors of docs/architecture.md, checked on the sources.

Only imports at module level count. A method that reaches upwards imports by name inside itself.
"""

import ast
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.paths import ROOT

RUST = ROOT / "rust"
PACKAGE = ROOT / "python" / "burnpy"

CRATE_DOORS: dict[str, set[str]] = {
    "burnpy-buffer": set(),
    "burnpy-pickle": set(),
    "burnpy-safetensors": set(),
    "burnpy-pack": {"burnpy-buffer"},
    "burnpy-tensor": {"burnpy-buffer"},
    "burnpy-python": {"burnpy-buffer", "burnpy-pickle", "burnpy-pack", "burnpy-safetensors", "burnpy-tensor"},
}

# What everyone may import: type aliases and the base of the errors hold no behaviour.
LEAVES = {"_typing", "errors"}
# Each room with the rooms below it.
ROOMS: dict[str, set[str]] = {
    "burnpy": {"_core", "safe_open"},  # the top; all else is found on first use
    "_core": set(),
    "_typing": set(),
    "errors": set(),
    "storage": {"_core"},
    "_places": {"_core"},
    "pack": {"_core"},
    "_shards": {"_core", "_places", "pack", "safe_open", "storage"},
    "safe_open": {"_core", "_places", "pack", "storage"},
    "numpy": {"_core", "_places", "pack", "safe_open", "storage"},
    "torch": {"_core", "_places", "pack", "safe_open", "storage"},
    "jax": {"_core", "_places", "pack", "safe_open", "storage"},
    "tensor": {"_core", "config"},
    "autodiff": {"_core", "tensor"},
    "config": set(),
    "module": {"_core", "tensor", "config"},
    "nn": {"tensor", "module", "config"},
    "record.state": {"_core", "pack", "tensor"},
    "optim": {"_core", "tensor", "module", "config", "record.state"},
    "lr_scheduler": {"tensor", "module", "config", "record.state"},
    "record": {"_core", "_places", "pack", "module", "tensor", "record.state"},
    "store": {"_core", "_places", "_shards", "pack", "storage", "safe_open", "module", "record", "tensor"},
    "data": {"_core", "tensor", "storage"},
    "distributed": {"_core", "tensor"},
    "train": {
        "tensor", "module", "nn", "optim", "lr_scheduler", "config",
        "record", "record.state", "store", "data", "distributed", "pack", "storage", "_places",
    },
}  # fmt: skip
# A file that is a room of its own: other rooms import it, and nothing else of the room that it lies in.
INNER_ROOMS = {"record.state"}
# Nobody imports these, and they may import anything.
ROOFS = {"cli", "testing", "__main__"}


def _crates() -> list[Path]:
    return sorted(RUST.glob("*/Cargo.toml"))


def _python_files() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


@pytest.mark.parametrize("manifest", _crates(), ids=lambda path: path.parent.name)
def test_a_crate_depends_only_on_the_rooms_below_it(manifest: Path) -> None:
    crate = tomllib.loads(manifest.read_text())
    name = crate["package"]["name"]
    tables = [crate, *crate.get("target", {}).values()]
    kinds = ("dependencies", "dev-dependencies", "build-dependencies")
    found = {dep for table in tables for kind in kinds for dep in table.get(kind, {})}
    ours = {dep for dep in found if dep.startswith("burnpy-")}
    assert ours <= CRATE_DOORS[name], f"{name} may not depend on {sorted(ours - CRATE_DOORS[name])}"


@pytest.mark.parametrize("manifest", _crates(), ids=lambda path: path.parent.name)
def test_only_the_binding_knows_pyo3(manifest: Path) -> None:
    crate = tomllib.loads(manifest.read_text())
    found = {"pyo3", "numpy"} & set(crate.get("dependencies", {}))
    assert bool(found) == (crate["package"]["name"] == "burnpy-python")


@pytest.mark.parametrize("path", _python_files(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_the_rooms_below_it(path: Path) -> None:
    room = _room(path)
    if room in ROOFS:
        return
    assert room in ROOMS, f"{room} is no room of docs/architecture.md"
    allowed = LEAVES | {room} | ROOMS[room]
    found = set(_imported_rooms(path))
    assert found <= allowed, f"{room} may not import {sorted(found - allowed)}"


def test_the_doors_lead_down_only() -> None:
    """No room can be reached from itself, so there are no circles to untangle later."""
    for start in ROOMS:
        below, frontier = set[str](), {start}
        while frontier:
            frontier = {room for name in frontier for room in ROOMS[name]} - below
            below |= frontier
        assert start not in below


def test_an_import_through_the_wrong_door_is_seen(tmp_path: Path) -> None:
    source = tmp_path / "reader.py"
    source.write_text(
        "from burnpy.train import learner\nimport burnpy.cli.main\nfrom burnpy import nn\n"
        "if TYPE_CHECKING:\n    from burnpy import optim\n"
        "def later():\n    from burnpy import store\n"
        "try:\n    from burnpy.data import dataset\nexcept ImportError:\n    pass\n"
    )
    assert set(_imported_rooms(source)) == {"train", "cli", "nn", "data"}


def _room(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return "burnpy" if parts == ("__init__",) else _room_of(parts)


def _room_of(parts: Sequence[str]) -> str:
    inner = ".".join(parts[:2])
    return inner if inner in INNER_ROOMS else parts[0]


def _imported_rooms(path: Path) -> Iterator[str]:
    for node in _module_level(ast.parse(path.read_text()).body):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif node.level:
            modules = [_absolute(path, node, alias.name) for alias in node.names]
        elif node.module == "burnpy":
            modules = [f"burnpy.{alias.name}" for alias in node.names]
        else:
            modules = [node.module or ""]
        for module in modules:
            parts = module.split(".")
            if parts[0] == "burnpy" and len(parts) > 1:
                yield _room_of(parts[1:])


def _module_level(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports that run when the module is imported: not in functions, not for the type checker alone."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _module_level(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                yield from _module_level(getattr(node, field, []))
            for handler in getattr(node, "handlers", []):
                yield from _module_level(handler.body)


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _absolute(path: Path, node: ast.ImportFrom, name: str) -> str:
    package = ["burnpy", *path.relative_to(PACKAGE).parent.parts]
    base = package[: len(package) - (node.level - 1)]
    return ".".join([*base, *([node.module] if node.module else []), name])
