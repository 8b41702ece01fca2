"""The page of a run."""

import base64
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.runs import burns_run, csv_run, json_run, small_run

pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra plot)")

VOID = {"meta", "img"}


class Page(HTMLParser):
    """Reads a page strictly: every tag is closed in its place, and nothing is loaded from elsewhere."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.words: list[str] = []
        self.images: dict[str, str] = {}
        self.feed(path.read_text(encoding="utf-8"))
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "iframe", "object")
        if tag not in VOID:
            self.stack.append(tag)
        for name, value in attrs:
            assert name not in ("href", "srcset", "onload")
            if name == "src":
                assert value is not None and value.startswith("data:image/svg+xml;base64,")
                alt = dict(attrs)["alt"]
                assert alt is not None
                self.images[alt] = base64.b64decode(value.split(",")[1], validate=True).decode()

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return "\n".join(self.words)


def png_size(path: Path) -> tuple[int, int]:
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", data[16:24])
    return width, height


def test_the_page_of_burns_run_has_curves_values_evaluations_and_checkpoints(
    run: Run, tmp_path: Path
) -> None:
    folder = burns_run(tmp_path / "mine")
    (folder / "config.json").write_text('{"seed": 42}')
    outcome = run("report", folder)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out == f"wrote {folder / 'report.html'} and 10 pictures in {folder / 'report'}\n"
    page = Page(folder / "report.html")
    for words in (
        "mine",
        "5 epochs",
        "Accuracy, valid",
        "85.714",
        "valid-set",
        "0.52262",
        '"seed": 42',
        "newest",
    ):
        assert words in page.text, words
    assert list(page.images)[:2] == ["Loss over the epochs", "AUC-PR [Micro] over the epochs"]
    for text in page.images.values():
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
        assert 'href="http' not in text
        # A line for each split that was measured.
        assert re.search(r'<g id="line2d_\d+">', text)
    assert png_size(folder / "report" / "Loss.png") == (960, 510)
    assert len(list((folder / "report").iterdir())) == 10


def test_the_same_run_gives_the_same_page(run: Run, tmp_path: Path) -> None:
    folder = burns_run(tmp_path / "run", "regression")
    for name in ("a", "b"):
        run("report", folder, "-o", tmp_path / f"{name}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()
    assert (tmp_path / "a" / "Loss.png").read_bytes() == (tmp_path / "b" / "Loss.png").read_bytes()


def test_the_rate_of_validation_is_not_drawn(run: Run, tmp_path: Path) -> None:
    folder = burns_run(tmp_path / "run", "regression")
    run("report", folder)
    page = Page(folder / "report.html")
    assert "Learning Rate, train" in page.text
    assert "Learning Rate, valid" not in page.text
    images = page.images
    assert "#4c72b0" in images["Loss over the epochs"]
    assert "#4c72b0" not in images["Learning Rate over the epochs"]


@pytest.mark.parametrize("make", [json_run, csv_run])
def test_other_loggers_files_are_read_where_burns_are_missing(run: Run, tmp_path: Path, make: Run) -> None:
    folder = make(tmp_path / "run")  # type: ignore[arg-type, operator]
    assert run("report", folder).status == 0
    assert "Loss, train" in Page(folder / "report.html").text


def test_what_stands_in_files_is_shown_and_not_obeyed(run: Run, tmp_path: Path) -> None:
    folder = small_run(tmp_path / "<b>run", train=[1.0])
    (folder / "config.json").write_text("</pre><script>alert(1)</script>")
    (folder / "experiment.log").write_text("<img src=x>\x1b[31m\n")
    assert run("report", folder).status == 0
    page = Page(folder / "report.html")
    assert "<b>run" in page.text
    assert "<script>alert(1)</script>" in page.text


def test_texts_of_metrics_are_named_and_left_out(run: Run, tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run", train=[1.0])
    (folder / "train" / "epoch-1" / "Words.log").write_text("hello\n")
    run("report", folder)
    assert "no numbers in train/epoch-1/Words.log" in Page(folder / "report.html").text


def test_an_incomplete_set_is_told(run: Run, tmp_path: Path) -> None:
    folder = burns_run(tmp_path / "run", "regression")
    (folder / "checkpoint" / "optim-5.bpk").unlink()
    run("report", folder)
    assert "incomplete" in Page(folder / "report.html").text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path, "No such folder"),
        (lambda path: path.mkdir() or path, "no run is in the folder"),
        (lambda path: path.write_text("") or path, "not the folder of a run"),
    ],
)
def test_what_is_no_run_is_an_error_in_one_line(run: Run, tmp_path: Path, make: Run, words: str) -> None:
    path = tmp_path / "none"
    make(path)  # type: ignore[arg-type]
    outcome = run("report", path)
    assert (outcome.status, outcome.out) == (2, "")
    assert words.lower() in outcome.err.lower()
    assert outcome.err.count("\n") == 1


def test_a_damaged_file_is_told_with_its_line(run: Run, tmp_path: Path) -> None:
    folder = json_run(tmp_path / "run")
    (folder / "metrics.jsonl").write_text('{"split": 3}\n')
    outcome = run("report", folder)
    assert outcome.status == 2
    assert f"{folder / 'metrics.jsonl'}, line 1: not a line of metrics" in outcome.err


def test_a_page_without_an_ending_needs_a_folder_for_the_pictures(run: Run, tmp_path: Path) -> None:
    folder = small_run(tmp_path / "run", train=[1.0])
    assert "--pictures" in run("report", folder, "-o", tmp_path / "page").err
    assert run("report", folder, "-o", tmp_path / "page", "--pictures", tmp_path / "png").status == 0
    assert [path.name for path in (tmp_path / "png").iterdir()] == ["Loss.png"]


def test_a_long_run_makes_a_page_of_ordinary_size(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "run" / "train" / "epoch-1"
    folder.mkdir(parents=True)
    (folder / "Loss.log").write_text("".join(f"{1 / (i + 1)},1\n" for i in range(200_000)))
    assert run("report", tmp_path / "run").status == 0
    assert (tmp_path / "run" / "report.html").stat().st_size < 200_000


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed")
def test_a_browser_opens_the_page_without_errors_and_shows_the_curves(run: Run, tmp_path: Path) -> None:
    assert CHROMIUM is not None
    folder = burns_run(tmp_path / "run")
    run("report", folder)
    picture = tmp_path / "screen.png"
    opened = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
            f"--user-data-dir={tmp_path / 'profile'}", f"--screenshot={picture}", "--window-size=1150,1400",
            (folder / "report.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )  # fmt: skip
    assert "CONSOLE" not in opened.stderr
    assert png_size(picture) == (1150, 1400)
    # A page that failed to show its pictures is white nearly everywhere, and small.
    assert picture.stat().st_size > 50_000
