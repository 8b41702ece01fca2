"""Renderers of plain lines, of notebooks, of nothing, and the choice of one."""

import io
import sys
import types
from typing import Any

import pytest

from burnpy.train.renderer import (
    CliMetricsRenderer,
    EvaluationName,
    MetricsRenderer,
    MetricState,
    NotebookMetricsRenderer,
    QuietMetricsRenderer,
    default_renderer,
)
from burnpy.train.renderer.run_state import RunState
from tests.train.renderer.runs import LOSS, Clock, loss, run_evaluation, run_split, run_training
from tests.train.updates import entry


def printed(**keywords: Any) -> list[str]:
    clock, file = Clock(), io.StringIO()
    run_training(CliMetricsRenderer(file=file, clock=clock, **keywords), clock, "the summary")
    return file.getvalue().splitlines()


def test_plain_lines_tell_splits_and_values() -> None:
    assert printed() == [
        "digits: epochs 1 to 2",
        "epoch 1/2, Training: 20 items",
        "epoch 1/2, Training, 20 items in 8.0 s, Loss: epoch 0.5,final",
        "epoch 1/2, Validating: 10 items",
        "epoch 1/2, Validating, 10 items in 4.0 s, Loss: epoch 0.25,final",
        "epoch 2/2, Training: 20 items",
        "epoch 2/2, Training, 20 items in 8.0 s, Loss: epoch 0.4,final",
        "epoch 2/2, Validating: 10 items",
        "epoch 2/2, Validating, 10 items in 4.0 s, Loss: epoch 0.75,final",
        "digits: done",
        "the summary",
    ]


def test_plain_lines_come_no_more_often_than_the_interval() -> None:
    batches = [line for line in printed(interval_s=4.0) if "/20 items" in line]
    assert batches == [
        "epoch 1/2, Training, 10/20 items, Loss: epoch 0.9,1",
        "epoch 1/2, Training, 20/20 items, Loss: epoch 0.5,1",
        "epoch 2/2, Training, 10/20 items, 4 secs left, Loss: epoch 0.9,1",
        "epoch 2/2, Training, 20/20 items, 0 secs left, Loss: epoch 0.4,1",
    ]


def test_plain_lines_of_an_evaluation_name_the_tests() -> None:
    file = io.StringIO()
    run_evaluation(CliMetricsRenderer(file=file, clock=Clock()), "the summary")
    assert file.getvalue().splitlines() == [
        "evaluation: 2 tests",
        "test 1/2, first: 20 items",
        "test 1/2, first, 20 items in 0.0 s, Loss: epoch 0.5,1",
        "test 2/2, second: 20 items",
        "test 2/2, second, 20 items in 0.0 s, Loss: epoch 0.5,1",
        "evaluation: done",
        "the summary",
    ]


def test_items_that_nobody_knows_are_left_out() -> None:
    clock, file = Clock(), io.StringIO()
    renderer = CliMetricsRenderer(file=file, clock=clock, interval_s=0.0)
    renderer.start(1, 1)
    renderer.start_split("train", None)
    renderer.update_split(8)
    assert file.getvalue().splitlines() == [
        "training: epochs 1 to 1",
        "epoch 1/1, Training",
        "epoch 1/1, Training, 8 items",
    ]


def test_lines_go_where_standard_output_is_then(capsys: pytest.CaptureFixture[str]) -> None:
    renderer = CliMetricsRenderer()
    renderer.on_train_end("the summary")
    renderer.on_train_end(None)
    assert capsys.readouterr().out == "the summary\n"


@pytest.mark.parametrize("kind", [CliMetricsRenderer, NotebookMetricsRenderer])
def test_an_interval_below_zero_is_refused(kind: Any) -> None:
    with pytest.raises(ValueError, match=r"interval_s must be at least 0, got -1\.0"):
        kind(interval_s=-1.0)


def test_nothing_is_shown_by_the_quiet_renderer(capsys: pytest.CaptureFixture[str]) -> None:
    run_training(QuietMetricsRenderer(), summary="the summary")
    run_evaluation(QuietMetricsRenderer(), "the summary")
    assert capsys.readouterr() == ("", "")


def test_the_base_prints_the_summary_alone(capsys: pytest.CaptureFixture[str]) -> None:
    run_training(MetricsRenderer(), summary="the summary")
    run_evaluation(MetricsRenderer(), "another")
    MetricsRenderer().manual_close()
    assert capsys.readouterr().out == "the summary\nanother\n"


def test_a_cell_has_progress_and_a_table_with_best_values() -> None:
    shown: list[str] = []
    run_training(NotebookMetricsRenderer(display=shown.append, interval_s=0.0, clock=Clock()))
    assert "<b>digits</b> · epoch 1/2 · --- left" in shown[0]
    assert any("Validating 10/10" in text for text in shown)
    assert "<td>Loss</td><td>Train</td><td>epoch 0.4,final</td><td>0.400 (epoch 2)</td>" in shown[-1]
    assert "<td>Loss</td><td>Valid</td><td>epoch 0.75,final</td><td>0.250 (epoch 1)</td>" in shown[-1]
    assert '<progress value="1.0000"></progress>' in shown[-1]


def test_a_cell_is_drawn_no_more_often_than_the_interval() -> None:
    clock, shown = Clock(), list[str]()
    renderer = NotebookMetricsRenderer(display=shown.append, interval_s=10.0, clock=clock)
    renderer.start(1, 1)
    run_split(renderer, "train", ["1,1"] * 6 + ["1,final"], clock)
    assert len(shown) == 1 + 1 + 2 + 1


def test_names_are_escaped_in_a_cell() -> None:
    shown: list[str] = []
    renderer = NotebookMetricsRenderer(display=shown.append)
    renderer.start(1, 1, None, "<b>")
    renderer.update_train(MetricState.Generic(entry("<script>", "&")))
    renderer.end()
    assert "<script>" not in shown[-1] and "&lt;script&gt;" in shown[-1] and "&lt;b&gt;" in shown[-1]


def test_a_cell_needs_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match="needs IPython"):
        NotebookMetricsRenderer().start(1, 1)


def test_a_cell_is_shown_by_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    updates: list[Any] = []
    module = types.ModuleType("IPython.display")
    handle = types.SimpleNamespace(update=updates.append)
    module.HTML = str  # type: ignore[attr-defined]
    module.display = lambda html, display_id: handle  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    NotebookMetricsRenderer().start(1, 1, None, "digits")
    assert "digits" in updates[0]


class ZMQInteractiveShell:
    pass


def test_plain_lines_are_chosen_where_there_is_no_terminal() -> None:
    assert isinstance(default_renderer(), CliMetricsRenderer)


def test_a_cell_is_chosen_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.SimpleNamespace(get_ipython=ZMQInteractiveShell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert isinstance(default_renderer(), NotebookMetricsRenderer)


def test_the_best_value_is_the_lowest_where_lower_is_better_and_never_nan() -> None:
    state = RunState(Clock())
    state.start(4, 1, None)
    state.definitions["Loss"] = LOSS
    for epoch, line in enumerate(["NaN,final", "0.5,final", "0.75,final", "0.5,final"], start=1):
        state.start_split("train", "Train", 1)
        state.update("Train", loss(line))
        state.end_split()
        state.update_epoch(epoch)
    assert state.readings["Loss"]["Train"].best == (0.5, 2)


def test_a_resumed_run_is_as_far_as_its_epoch_says() -> None:
    state = RunState(Clock())
    state.start(4, 3, None)
    state.start_split("train", "Train", 10)
    state.update_split(5)
    assert state.run_fraction() == 0.625
    state.end_split()
    state.start_split("valid", "Valid", 4)
    state.update_split(4)
    assert state.run_fraction() == 0.625
    state.update_epoch(3)
    assert state.run_fraction() == 0.75


def test_the_name_of_a_test_is_its_text() -> None:
    assert str(EvaluationName("a")) == "a"
