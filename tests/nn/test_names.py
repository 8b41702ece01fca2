"""What `burnpy.nn` offers, and where it is."""

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from burnpy import nn
from burnpy.config import Config
from burnpy.module import Module


def _imports_for_type_checkers() -> set[str]:
    tree = ast.parse(Path(nn.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    found = [alias.name for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    return set(found) - {"Any"}


def test_type_checkers_and_python_are_told_of_the_same_names() -> None:
    assert _imports_for_type_checkers() == set(nn.__all__) == nn._GROUPS | set(nn._HOMES)
    assert list(nn.__all__) == sorted(nn.__all__, key=lambda name: (not name.isupper(), name))


@pytest.mark.parametrize("name", sorted(nn.__all__))
def test_every_name_is_there(name: str) -> None:
    assert getattr(nn, name) is not None


@pytest.mark.parametrize("group", sorted(nn._GROUPS))
def test_what_a_group_shares_with_nn_is_the_same(group: str) -> None:
    package = importlib.import_module(f"burnpy.nn.{group}")
    for name in set(package.__all__) & set(nn.__all__):
        assert getattr(package, name) is getattr(nn, name)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Conv9d'"):
        nn.Conv9d  # noqa: B018


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = "import sys; from burnpy import nn; print([m for m in sys.modules if m.startswith('burnpy.nn.')])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[]"


def _layers() -> list[str]:
    """Names of modules that have a configuration."""
    names = [name.removesuffix("Config") for name in nn.__all__ if name.endswith("Config")]
    return [name for name in names if name in nn.__all__ and issubclass(getattr(nn, f"{name}Config"), Config)]


@pytest.mark.parametrize("name", _layers())
def test_a_configuration_makes_the_module_of_its_name(name: str) -> None:
    assert issubclass(getattr(nn, name), Module)
    assert inspect.signature(getattr(nn, f"{name}Config").init).return_annotation == name
