"""The house as a whole: one version everywhere, dependencies as promised, documentation that runs."""

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def _workspace_version() -> str:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    version = workspace["package"]["version"]
    assert isinstance(version, str)
    return version


def test_the_package_has_the_version_of_the_workspace() -> None:
    import burnpy

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert "version" in project["dynamic"] and "version" not in project
    assert burnpy.__version__ == _workspace_version()


@pytest.mark.parametrize(
    "manifest", sorted((ROOT / "rust").glob("*/Cargo.toml")), ids=lambda p: p.parent.name
)
def test_every_crate_takes_its_version_from_the_workspace(manifest: Path) -> None:
    assert tomllib.loads(manifest.read_text())["package"]["version"] == {"workspace": True}


def test_crates_that_depend_on_each_other_agree_on_the_version() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    ours = {name: dep for name, dep in workspace["dependencies"].items() if name.startswith("burnpy-")}
    assert {dep["version"] for dep in ours.values()} == {_workspace_version()}


def test_the_changelog_tells_of_this_version() -> None:
    headings = re.findall(r"^## \[([^\]]+)\]", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)
    assert _workspace_version() in headings


def test_run_time_dependencies_are_numpy_and_ml_dtypes_alone() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=!~ ]", requirement)[0] for requirement in project["dependencies"]}
    assert names == {"numpy", "ml-dtypes"}


def test_unsafe_code_stands_where_the_architecture_lists_it() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    section = page.split("## Unsafe code lives in")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(rust/[\w/-]+\.rs)`", section))
    code = re.compile(r"^[^/\n]*\bunsafe\s*(?:\{|fn\b|impl\b|extern\b)", re.MULTILINE)
    sources = (ROOT / "rust").glob("*/src/**/*.rs")
    assert {str(path.relative_to(ROOT)) for path in sources if code.search(path.read_text())} == listed


def test_every_verb_of_the_readme_is_in_the_makefile() -> None:
    verbs = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    told = set(re.findall(r"\bmake ([a-z-]+)", "".join(page.read_text() for page in PAGES)))
    assert told <= verbs, f"no such verb: {sorted(told - verbs)}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for language, block in _blocks(page):
        if language == "python" and not _needs_missing_package(block):
            exec(compile(block, f"{page.name} (example)", "exec"), names)
        elif language == "console":
            _run_console(block)


def _blocks(page: Path) -> list[tuple[str, str]]:
    return re.findall(r"^```(python|console)\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def _needs_missing_package(block: str) -> bool:
    """Whether a block imports a package of an extra that this environment has not."""
    wanted = set(
        re.findall(r"^(?:import|from) (?:burnpy\.)?(torch|jax|fsspec|obstore)\b", block, flags=re.MULTILINE)
    )
    return any(importlib.util.find_spec(name) is None for name in wanted)


def _run_console(block: str) -> None:
    for line in block.splitlines():
        if line.startswith("$ burnpy "):
            command = [sys.executable, "-m", *shlex.split(line.removeprefix("$ "), comments=True)]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
