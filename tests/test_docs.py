"""The pages that are made when the guide is built, and its pictures."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.paths import ROOT

DOCS = ROOT / "docs"
PICTURES = sorted((DOCS / "pictures").glob("*.py"))


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = (DOCS / "index.md").read_text().split("maxdepth: 1\n")[1].split("```")[0].split()
    assert sorted(listed) == sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "index")


def test_what_a_page_includes_is_made(generate: ModuleType, tmp_path: Path) -> None:
    generate.write(tmp_path)
    wanted = {
        name
        for page in DOCS.glob("*.md")
        for name in re.findall(r"^```\{include\} _generated/(\S+)$", page.read_text(), re.MULTILINE)
    }
    assert wanted == {path.name for path in tmp_path.iterdir()}
    assert all(path.read_text().strip() for path in tmp_path.iterdir())


def test_every_note_unlike_burn_is_on_the_page_of_differences(generate: ModuleType) -> None:
    said = sum(path.read_text().count("Unlike Burn") for path in generate.sources())
    page = generate.differences()
    assert page.count("\n- **") == said > 50
    assert '"""' not in page


@pytest.mark.parametrize(
    ("source", "place", "text"),
    [
        (
            'class A:\n    """B.\n\n    Unlike Burn: this\n    and that.\n\n    More.\n    """',
            "A",
            "This and that.",
        ),
        ('def f():\n    """Does it. Unlike Burn, gladly."""', "f", "Does it. Unlike Burn, gladly."),
        ('def g():\n    """It stays (Unlike Burn: it\n    goes). More."""', "g", "It goes."),
        ("def f():\n    # Unlike Burn: which\n    # fails.\n    return 1", "f", "Unlike Burn, which fails."),
    ],
)
def test_a_note_ends_where_its_paragraph_does(
    generate: ModuleType, tmp_path: Path, source: str, place: str, text: str
) -> None:
    (tmp_path / "a.py").write_text(source)
    assert list(generate.notes(tmp_path / "a.py")) == [(f"`{place}`", text)]


def test_the_newest_record_of_each_kind_is_shown(generate: ModuleType) -> None:
    page = generate.performance()
    suites = [
        match[3]
        for path in (ROOT / "benches" / "record").iterdir()
        if path.suffix != ".csv" and (match := generate.RECORD.fullmatch(path.name))
    ]
    assert len(re.findall(r"^### \d{4}-", page, re.MULTILINE)) == len(set(suites))


def test_every_metric_is_in_the_table(generate: ModuleType) -> None:
    page = generate.metrics()
    assert all(
        f"| `{name}` |" in page for name in ("AccuracyMetric", "AurocMetric", "WordErrorRate", "DiceMetric")
    )


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_drawn_by_its_code(picture: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code = f"exec(open({str(picture)!r}).read()); figure.savefig('out.png')"
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.png").stat().st_size > 10_000


def test_every_picture_is_on_a_page() -> None:
    shown = re.findall(
        r"^\.\. plot:: (\S+)$", "".join(page.read_text() for page in DOCS.glob("*.md")), re.MULTILINE
    )
    assert sorted(shown) == [f"pictures/{path.name}" for path in PICTURES]
