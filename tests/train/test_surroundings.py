"""One run on a terminal, into a file, under pytest and in a notebook: each has clean output."""

import importlib.util
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.paths import ROOT

COMMAND = [sys.executable, "-m", "tests.train.small_run"]
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f\x9b]")
SUMMARY = ("Learner Summary", "| Train | Accuracy |", "| Valid | Loss     |")


def environment(**more: str) -> dict[str, str]:
    """That of a shell; what tells of colours, sizes and terminals comes from the test."""
    dropped = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM", "PYTEST_CURRENT_TEST", "PYTEST_ADDOPTS")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return kept | {"PYTHONPATH": os.pathsep.join(path)} | more


def test_a_file_gets_plain_lines(tmp_path: Path) -> None:
    with open(tmp_path / "out.txt", "wb") as out:
        done = subprocess.run(
            [*COMMAND, tmp_path / "run"],
            stdout=out,
            stderr=subprocess.PIPE,
            env=environment(),
            cwd=ROOT,
            check=True,
        )
    assert done.stderr == b""
    text = (tmp_path / "out.txt").read_text(encoding="utf-8")
    assert CONTROL.search(text) is None
    lines = text.splitlines()
    assert lines[0] == "small: epochs 1 to 2"
    assert lines[-1] == "after: ['Accuracy', 'Loss']"
    assert sum(line.startswith("epoch 2/2") for line in lines) >= 2
    for words in SUMMARY:
        assert text.count(words) == 1, words


def test_a_pipe_that_is_read_line_by_line_gets_each_line_when_it_happens(tmp_path: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, tmp_path / "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        first = child.stdout.readline()
        rest, complaints = child.stdout.read(), child.stderr.read()
    assert first == b"small: epochs 1 to 2\n"
    assert b"\x1b" not in rest
    assert complaints == b""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.skipif(importlib.util.find_spec("rich") is None, reason="rich is not installed (extra ui)")
def test_a_terminal_gets_the_dashboard_and_is_as_it_was_afterwards(tmp_path: Path) -> None:
    text, before, after = on_a_terminal([*COMMAND, str(tmp_path / "run")])
    assert before == after
    # The alternate screen and the cursor: whatever was switched is switched back.
    for switch in (r"\?1049", r"\?25"):
        modes = re.findall(rf"\x1b\[{switch}([hl])", text)
        assert modes, switch
        assert modes[-1] == ("l" if "1049" in switch else "h"), switch
    shown, _, left = text.rpartition("\x1b[?1049l")
    for words in ("small", "Accuracy", "Loss", "Train", "Valid"):
        assert words in shown, words
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", left).replace("\r\n", "\n")
    assert CONTROL.search(plain) is None
    for words in (*SUMMARY, "after: ['Accuracy', 'Loss']"):
        assert plain.count(words) == 1, words
    assert "Traceback" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
def test_a_terminal_that_can_do_nothing_gets_plain_lines(tmp_path: Path) -> None:
    text, before, after = on_a_terminal([*COMMAND, str(tmp_path / "run")], TERM="dumb")
    assert before == after
    assert CONTROL.search(text.replace("\r\n", "\n")) is None
    assert text.startswith("small: epochs 1 to 2\r\n")


def on_a_terminal(command: list[str], **more: str) -> tuple[str, list[Any], list[Any]]:
    """Run on a pseudo-terminal of 120 by 40; all that was written, and the terminal's settings before and after."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    try:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        before = termios.tcgetattr(theirs)
        env = environment(**{"TERM": "xterm-256color"} | more)
        child = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=ROOT, start_new_session=True
        )
        written = _read_all(ours, child)
        assert child.wait(timeout=10) == 0, written.decode(errors="replace")
        after = termios.tcgetattr(theirs)
    finally:
        os.close(theirs)
        os.close(ours)
    return written.decode(), before, after


def _read_all(terminal: int, child: "subprocess.Popen[bytes]") -> bytes:
    written = b""
    give_up = time.monotonic() + 120
    while time.monotonic() < give_up:
        ready, _, _ = select.select([terminal], [], [], 0.1)
        if ready:
            written += os.read(terminal, 65536)
        elif child.poll() is not None:
            return written
    child.kill()
    raise AssertionError(f"the run did not end: {written.decode(errors='replace')[-2000:]}")


TEST = """
from pathlib import Path
from tests.train.small_run import main

def test_training(tmp_path, capsys):
    main(str(tmp_path))
    out, err = capsys.readouterr()
    assert err == ""
    assert "\\x1b" not in out and "\\r" not in out
    assert out.startswith("small: epochs 1 to 2\\n")
"""


@pytest.mark.parametrize("arguments", [[], ["-s"]])
def test_under_pytest_a_run_is_plain_and_quiet_on_standard_error(
    tmp_path: Path, arguments: list[str]
) -> None:
    (tmp_path / "test_it.py").write_text(TEST)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "error",
        "test_it.py",
        *arguments,
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout
    assert done.stderr == ""
    # What was printed belongs to the test.
    assert re.fullmatch(r"\.( +\[100%\])?\n1 passed in [\d.]+s", done.stdout.strip()), done.stdout


@pytest.mark.notebook
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("nbconvert", "ipykernel")),
    reason="nbconvert and ipykernel are not installed (dependency group notebook)",
)
@pytest.mark.filterwarnings("default")
def test_a_notebook_has_one_display_that_is_drawn_anew_and_the_summary(tmp_path: Path) -> None:
    import nbformat
    from nbconvert.preprocessors import ExecutePreprocessor

    code = "from tests.train.small_run import main\nmain('run')"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    kernel = ExecutePreprocessor(timeout=300, kernel_name="python3")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment().items():
            patch.setenv(name, value)
        kernel.preprocess(book, {"metadata": {"path": str(tmp_path)}})
    outputs = book.cells[0].outputs
    (display,) = [each for each in outputs if each.output_type == "display_data"]
    html = display.data["text/html"]
    for words in ("<b>small</b>", "epoch 2/2", "Accuracy", "Loss", "valid"):
        assert words.lower() in html.lower(), words
    streams = [each for each in outputs if each.output_type == "stream"]
    assert {each.name for each in streams} == {"stdout"}
    text = "".join(each.text for each in streams)
    assert CONTROL.search(text) is None
    for words in (*SUMMARY, "after: ['Accuracy', 'Loss']"):
        assert text.count(words) == 1, words
    assert len(outputs) == 2
