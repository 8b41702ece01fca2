"""The dashboard: plots, keys, what it shows, and that the terminal is given back."""

import io
import logging
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.renderer import MetricState, default_renderer
from burnpy.train.renderer.run_state import RunState
from burnpy.train.renderer.tui import TuiMetricsRendererWrapper
from burnpy.train.renderer.tui.canvas import Canvas
from burnpy.train.renderer.tui.chart import PlotKind, chart
from burnpy.train.renderer.tui.dashboard import Dashboard
from burnpy.train.renderer.tui.history import History
from burnpy.train.renderer.tui.keys import Keys, parse
from tests.paths import ROOT
from tests.train.renderer.runs import LOSS, Clock, loss, run_evaluation, run_split, run_training
from tests.train.updates import entry

rich = pytest.importorskip("rich")

ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"
HIDE, SHOW = "\x1b[?25l", "\x1b[?25h"


def push(history: History, group: str, *values: float) -> None:
    for value in values:
        history.push(group, NumericEntry.Value(value))


def test_the_whole_run_is_kept_in_bounded_memory() -> None:
    history = History(limit=10, ratio=lambda group: 1.0 if group == "Train" else 0.6)
    push(history, "Train", *map(float, range(100)))
    push(history, "Valid", *map(float, range(60)))
    assert history.series["Train"].full == [(x, float(x)) for x in (0, 16, 32, 48, 64, 80, 96)]
    assert history.series["Valid"].full == [(100, 0.0), (116, 16.0), (128, 28.0), (144, 44.0)]


def test_updates_without_a_value_move_the_count_on() -> None:
    history = History()
    for _ in range(3):
        history.push("Train", None)
    push(history, "Train", 10.0)
    assert (history.series["Train"].full, history.steps) == ([(3, 10.0)], 4)


def test_the_value_of_an_epoch_is_the_bar_and_no_point() -> None:
    history = History()
    push(history, "Train", 1.0, 2.0)
    assert history.series["Train"].bar == 1.5
    history.push("Train", NumericEntry.Final(1.25))
    assert history.series["Train"].full == [(0, 1.0), (1, 2.0)] == list(history.series["Train"].recent)
    assert history.series["Train"].bar == 1.25


def test_the_value_of_an_epoch_is_the_point_where_batches_have_none() -> None:
    history = History()
    history.push("Train", NumericEntry.Final(0.75))
    assert history.series["Train"].full == [(0, 0.75)]


def test_the_bar_counts_units() -> None:
    history = History()
    history.push("Train", NumericEntry.Aggregated(1.0, 3))
    history.push("Train", NumericEntry.Aggregated(5.0, 1))
    assert history.series["Train"].bar == 2.0


@pytest.mark.parametrize(
    ("first", "bounds", "then"), [([15, 10, 14], (10, 15), (10, 14)), ([5, 10, 14], (5, 14), (10, 14))]
)
def test_recent_values_go_back_a_window(first: list[float], bounds: tuple[float, float], then: Any) -> None:
    history = History(window=3)
    assert history.recent_bounds() is None
    push(history, "Train", *first)
    assert history.recent_bounds() == bounds
    push(history, "Train", 10.0)
    assert history.recent_bounds() == then


def test_points_are_set_where_they_belong() -> None:
    canvas = Canvas(2, 1, (0, 3), (0, 3))
    canvas.scatter(0, [(0, 0), (0, 3)])
    canvas.scatter(1, [(3, 3)])
    assert canvas.rows() == [[("⡁", 0), ("⠈", 1)]]
    alone = Canvas(1, 1, (5, 5), (2, 2))
    alone.line(0, [(5, 2)])
    assert alone.rows()[0][0][0] != " "


@pytest.mark.parametrize("kind", PlotKind)
def test_a_chart_of_nothing_says_so(kind: PlotKind) -> None:
    history = History()
    assert str(chart(history, kind, 40, 10)) == "no values yet"
    push(history, "Train", float("nan"))
    assert str(chart(history, kind, 40, 10)) == "no values yet"


@pytest.mark.parametrize("kind", [PlotKind.FULL, PlotKind.RECENT])
def test_a_chart_fits_its_cells_and_has_labels_and_a_legend(kind: PlotKind) -> None:
    history = History()
    push(history, "Train", *(1.0 + i / 10 for i in range(90)), float("inf"))
    push(history, "Valid", 0.5, 0.75)
    lines = str(chart(history, kind, 40, 10)).split("\n")
    assert len(lines) == 10 and max(map(len, lines)) <= 40
    assert lines[0].startswith("9.90│") and lines[7].startswith("0.50│")
    assert lines[8].split() == ["0", "92"]
    assert lines[9].split() == ["●", "Train", "●", "Valid"]


def test_a_summary_has_a_bar_per_group() -> None:
    history = History()
    push(history, "Train", 1.0)
    push(history, "Valid", 0.5)
    train, valid = str(chart(history, PlotKind.SUMMARY, 40, 10)).splitlines()
    assert train.endswith(" 1.00") and valid.endswith(" 0.50")
    assert train.count("█") == pytest.approx(2 * valid.count("█"), abs=1)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"", []),
        (b"qs", ["q", "s"]),
        (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
        (b"\x1bOA", ["up"]),
        (b"\x1b[1;5Cq\x1b[3~x", ["q", "x"]),
        (b"\x1b", []),
        (b"\x1bq", ["q"]),
        (b"\x1b[", []),
        (b"\x00\xff\nq", ["q"]),
    ],
)
def test_bytes_of_a_terminal_are_keys(data: bytes, keys: list[str]) -> None:
    assert parse(data) == keys


def test_there_are_no_keys_without_a_terminal() -> None:
    with Keys(io.StringIO()) as keys:
        assert keys.read() == []


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")
def test_keys_are_read_at_once_and_the_terminal_is_as_before() -> None:
    import pty
    import termios

    leader, follower = pty.openpty()
    before = termios.tcgetattr(follower)
    with open(follower, "rb", buffering=0, closefd=False) as terminal, Keys(terminal) as keys:
        assert termios.tcgetattr(follower) != before
        os.write(leader, b"q\x1b[C")
        assert keys.read() == ["q", "right"]
        assert keys.read() == []
    assert termios.tcgetattr(follower) == before
    os.close(leader)
    os.close(follower)


def dashboard() -> Dashboard:
    state = RunState(Clock())
    state.start(4, 1, "digits")
    state.definitions["Loss"] = LOSS
    board = Dashboard(state, {"Loss": History(), "Accuracy": History()})
    state.start_split("train", "Train", 20)
    for line in ("0.5,1", "0.25,1"):
        update = loss(line)
        state.update("Train", update)
        push(board.histories["Loss"], "Train", float(line.split(",")[0]))
    state.update_split(10)
    state.count("Iteration")
    return board


def shown(board: Dashboard, width: int = 120, height: int = 40) -> str:
    from rich.console import Console

    console = Console(width=width, height=height, file=io.StringIO(), record=True, color_system=None)
    console.print(board.layout(width, height))
    return console.export_text()


def test_the_dashboard_has_progress_metrics_status_and_plots() -> None:
    text = shown(dashboard())
    for part in (
        "Status: digits", "Mode: Training", "Epoch: 1/4", "Items: 10/20", "Iteration: 1", "stop after this batch",
        "epoch 0.25,1", "Full History", "● Train", "50 %", "12 % (---)",
    ):  # fmt: skip
        assert part in text, part
    assert len(text.rstrip("\n").split("\n")) == 40


def test_the_dashboard_shows_best_values() -> None:
    board = dashboard()
    board.state.end_split()
    assert "0.250 (epoch 1)" in shown(board)


@pytest.mark.parametrize("size", [(20, 8), (1, 1), (300, 90)])
def test_the_dashboard_is_drawn_in_any_size(size: tuple[int, int]) -> None:
    assert shown(dashboard(), *size)


def test_the_dashboard_is_drawn_before_anything_is_known() -> None:
    text = shown(Dashboard(RunState(Clock())))
    assert "no metrics of numbers" in text and "Mode: -" in text


def test_markup_in_names_is_shown_as_it_is() -> None:
    board = dashboard()
    board.state.label = "[red]x[/red]"
    board.state.update("[bold]", MetricState.Generic(entry("[/]", "[link]")))
    text = shown(board)
    assert all(part in text for part in ("[red]x[/red]", "[bold]", "[/]", "[link]"))


def test_arrows_choose_metric_and_plot() -> None:
    board = dashboard()
    board.press("right")
    assert "no values yet" in shown(board)
    board.press("right")
    board.press("left")
    board.press("left")
    assert board.chosen == 0
    board.press("down")
    assert "Recent History" in shown(board)
    board.press("up")
    board.press("up")
    assert board.kind is PlotKind.SUMMARY
    Dashboard(RunState(Clock())).press("right")


class FakeKeys(Keys):
    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.pressed: list[str] = []

    def read(self) -> list[str]:
        pressed, self.pressed = self.pressed, []
        return pressed


class Stopper:
    def __init__(self) -> None:
        self.stopped = threading.Event()
        self.reasons: list[str | None] = []

    def stop(self, reason: str | None = None) -> None:
        self.reasons.append(reason)
        self.stopped.set()


def renderer(**keywords: Any) -> tuple[TuiMetricsRendererWrapper, io.StringIO, FakeKeys, Stopper]:
    from rich.console import Console

    file, keys, stopper = io.StringIO(), FakeKeys(), Stopper()
    console = Console(file=file, force_terminal=True, width=100, height=30, color_system=None)
    made = TuiMetricsRendererWrapper(stopper, console=console, keys=keys, interval_s=0.01, **keywords)
    return made, file, keys, stopper


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "burnpy-renderer"]


def test_a_run_is_shown_and_the_terminal_given_back_with_table_and_summary(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made, file, _, stopper = renderer()
    run_training(made, summary="the summary")
    text = file.getvalue()
    assert text.count(ENTER) == text.count(LEAVE) == 1 and text.index(ENTER) < text.index(LEAVE)
    assert text.count(HIDE) == text.count(SHOW)
    after = text[text.index(LEAVE) :]
    assert "0.250 (epoch 1)" in after and "0.400 (epoch 2)" in after
    assert capsys.readouterr().out == "the summary\n"
    assert threads() == [] and stopper.reasons == []


def test_a_renderer_shows_one_run_after_another(capsys: pytest.CaptureFixture[str]) -> None:
    made, file, _, _ = renderer()
    run_training(made)
    run_evaluation(made, "the summary")
    assert file.getvalue().count(ENTER) == file.getvalue().count(LEAVE) == 2
    assert "first Test" in file.getvalue()
    assert capsys.readouterr().out == "the summary\n"


def test_q_stops_the_run_once() -> None:
    made, file, keys, stopper = renderer()
    made.start(1, 1)
    keys.pressed = ["q", "q"]
    assert stopper.stopped.wait(10.0)
    made.close()
    assert stopper.reasons == ["stopped by the user"]
    assert "stopping after this batch" in file.getvalue()


def test_what_is_printed_meanwhile_comes_out_afterwards(capsys: pytest.CaptureFixture[str]) -> None:
    made, file, _, _ = renderer()
    made.start(1, 1)
    print("from the model")
    print("a warning", file=sys.stderr)
    assert capsys.readouterr() == ("", "")
    made.close()
    assert capsys.readouterr() == ("from the model\n", "a warning\n")
    assert "from the model" not in file.getvalue()


def test_closing_twice_and_before_a_run_does_nothing() -> None:
    made, file, _, _ = renderer()
    made.close()
    made.manual_close()
    made.start(1, 1)
    made.close()
    made.close()
    made.manual_close()
    assert file.getvalue().count(LEAVE) == 1


def test_a_persistent_dashboard_waits_for_q() -> None:
    made, file, keys, stopper = renderer()
    made.persistent()
    ended = threading.Thread(target=run_training, args=(made,))
    ended.start()
    deadline = time.monotonic() + 10.0
    while "done: q  close" not in file.getvalue() and time.monotonic() < deadline:
        ended.join(0.01)
    assert ended.is_alive() and LEAVE not in file.getvalue()
    keys.pressed = ["q"]
    ended.join(10.0)
    assert not ended.is_alive() and LEAVE in file.getvalue()
    assert stopper.reasons == []


def test_a_failure_to_draw_leaves_the_run_and_the_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(self: Dashboard, width: int, height: int) -> Any:
        raise RuntimeError("no layout")

    monkeypatch.setattr(Dashboard, "layout", fail)
    made, file, _, _ = renderer()
    with caplog.at_level(logging.ERROR, "burnpy"):
        run_training(made)
    assert "the run goes on" in caplog.text and "no layout" in caplog.text
    assert file.getvalue().count(LEAVE) == 1 and sys.stdout is not None
    assert threads() == []


def test_the_plot_of_the_validation_has_points_by_its_share_of_items() -> None:
    made, _, _, _ = renderer()
    made.register_metric(LOSS)
    made.state.start(1, 1, None)
    run_split(made, "train", ["1,1"] * 10 + ["1,final"])
    run_split(made, "valid", ["1,1"] * 5 + ["1,final"])
    limits = {group: series.limit for group, series in made.dashboard.histories["Loss"].series.items()}
    assert limits == {"Train": 250, "Valid": 125}


def test_a_dashboard_that_cannot_be_opened_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.live import Live

    def fail(self: Live, refresh: bool = False) -> None:
        raise OSError("no terminal")

    monkeypatch.setattr(Live, "start", fail)
    made, _, _, _ = renderer()
    stdout = sys.stdout
    with pytest.raises(OSError, match="no terminal"):
        made.start(1, 1)
    made.close()
    assert sys.stdout is stdout and threads() == []


def test_an_interval_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match=r"interval_s must be above 0, got 0\.0"):
        TuiMetricsRendererWrapper(interval_s=0.0)


def test_the_dashboard_needs_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.live", None)
    with pytest.raises(ImportError, match=r"needs rich: pip install burnpy\[ui\]"):
        TuiMetricsRendererWrapper().start(1, 1)
    assert sys.stdout is not None


def test_the_dashboard_is_chosen_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(default_renderer(Stopper(), 3), TuiMetricsRendererWrapper)
    monkeypatch.setenv("TERM", "dumb")
    assert not isinstance(default_renderer(), TuiMetricsRendererWrapper)


ON_A_TERMINAL = """
    import sys
    sys.path.insert(0, {root!r})
    from burnpy.train.renderer import default_renderer
    class Stopper:
        def stop(self, reason=None): print("stopped:", reason, flush=True)
    renderer = default_renderer(Stopper())
    renderer.start(1, 1)
    renderer.start_split("train", 10)
    {end}
"""


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are Unix's")
@pytest.mark.parametrize(
    "end",
    [
        "raise RuntimeError('broken')",
        "raise KeyboardInterrupt",
        "raise SystemExit(143)",
        "renderer.close()",
        "pass",
    ],
)
def test_a_process_leaves_the_terminal_as_it_was_however_it_ends(tmp_path: Path, end: str) -> None:
    import pty
    import termios

    leader, follower = pty.openpty()
    before = termios.tcgetattr(follower)
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(ON_A_TERMINAL).format(root=str(ROOT / "python"), end=end))
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": str(ROOT / "python")}
    child = subprocess.Popen(
        [sys.executable, str(script)], stdin=follower, stdout=follower, stderr=follower, env=environment
    )
    output = _read_until_end(leader, child)
    assert termios.tcgetattr(follower) == before
    os.close(leader)
    os.close(follower)
    assert output.count(ENTER) == output.count(LEAVE) == 1
    assert output.rindex(SHOW) > output.rindex(HIDE)
    assert re.search("broken", output[output.index(LEAVE) :]) if "broken" in end else True


def _read_until_end(leader: int, child: "subprocess.Popen[bytes]") -> str:
    import select

    data = b""
    while True:
        if select.select([leader], [], [], 0.05)[0]:
            data += os.read(leader, 65536)
        elif child.poll() is not None:
            return data.decode(errors="replace")
