"""Every example in a docstring runs."""

import doctest
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from tests.paths import ROOT

SOURCES = ROOT / "python"
# Importing `__main__` is running it.
MODULES = sorted(
    ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCES / "burnpy").rglob("*.py")
    if path.name != "__main__.py"
)
# What the core keeps to itself; the classes that it gives to other modules are found there.
MODULES.append("burnpy._core")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


def _needs(examples: list[doctest.Example]) -> set[str]:
    """The packages outside the small environment that examples import."""
    source = "".join(example.source for example in examples)
    return set(
        re.findall(r"^(?:import|from) (?:burnpy\.)?(torch|jax|fsspec|obstore)\b", source, flags=re.MULTILINE)
    )


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_give_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        if all(importlib.util.find_spec(package) for package in _needs(test.examples)):
            runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
