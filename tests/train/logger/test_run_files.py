"""Loggers that write one file for a whole run."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from burnpy.train.logger import CsvMetricLogger, JsonLinesMetricLogger
from burnpy.train.logger.run_file import RunFile
from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split
from tests.train.updates import entry, numbers, numeric

KINDS = [JsonLinesMetricLogger, CsvMetricLogger]


def json_lines(directory: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]


def rows(directory: Path) -> list[list[str]]:
    with open(directory / "metrics.csv", newline="") as file:
        return list(csv.reader(file))


def run(logger: RunFile, epoch: int = 1, split: Split = Split.Train) -> None:
    logger.log(numbers(Loss="0.5,4", Accuracy="50,4"), epoch, split)
    logger.log(numbers(Loss="1e-7,4", Accuracy="N/A"), epoch, split)
    logger.log(numbers(Loss="0.25,final", final=True), epoch, split)
    logger.log_epoch_summary(EpochSummary(epoch, split))


def test_a_json_line_has_all_metrics_of_a_batch(tmp_path: Path) -> None:
    logger = JsonLinesMetricLogger(tmp_path, clock=iter([1.0, 2.0, 3.0]).__next__)
    run(logger)
    logger.close()
    head = {"split": "train", "epoch": 1}
    assert json_lines(tmp_path) == [
        {"time": 1.0, **head, "batch": 1, "values": {"Loss": 0.5, "Accuracy": 50.0}},
        {"time": 2.0, **head, "batch": 2, "values": {"Loss": 1e-7}},
        {"time": 3.0, **head, "batch": None, "values": {"Loss": 0.25}},
    ]


def test_a_json_line_has_texts_tags_and_numbers_that_json_does_not_have(tmp_path: Path) -> None:
    logger = JsonLinesMetricLogger(tmp_path, clock=lambda: 0.0)
    update = MetricsUpdate(
        [entry("Text", "naïve"), entry("None", "")], [numeric("Loss", "NaN"), numeric("A", "-inf")]
    )
    logger.log(update, 1, Split.Test("a b"))
    logger.close()
    (line,) = json_lines(tmp_path)
    assert line["tag"] == "a b"
    assert line["texts"] == {"Text": "naïve"}
    assert line["values"] == {"Loss": "NaN", "A": "-inf"}
    assert math.isnan(float("NaN"))


def test_a_row_is_written_per_number_below_one_line_of_headings(tmp_path: Path) -> None:
    for epoch in (1, 2):
        logger = CsvMetricLogger(tmp_path)
        run(logger, epoch)
        logger.close()
    first, *rest = rows(tmp_path)
    assert first == ["split", "tag", "epoch", "batch", "metric", "value"]
    assert rest[:4] == [
        ["train", "", "1", "1", "Loss", "0.5"],
        ["train", "", "1", "1", "Accuracy", "50"],
        ["train", "", "1", "2", "Loss", "0.0000001"],
        ["train", "", "1", "", "Loss", "0.25"],
    ]
    assert [row[2] for row in rest[4:]] == ["2"] * 4


def test_a_name_with_a_comma_stays_one_cell(tmp_path: Path) -> None:
    logger = CsvMetricLogger(tmp_path)
    logger.log(MetricsUpdate((), [numeric('a,"b"', "1")]), 1, Split.Test("x,y"))
    logger.close()
    assert rows(tmp_path)[1] == ["test", "x,y", "1", "1", 'a,"b"', "1"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_there_is_appended_to(tmp_path: Path, kind: Any) -> None:
    sizes = []
    for _ in range(2):
        logger = kind(tmp_path)
        run(logger)
        logger.close()
        sizes.append(len(logger.path.read_bytes().splitlines()))
    assert sizes[1] == 2 * sizes[0] - (kind is CsvMetricLogger)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_goes_on_inside_an_epoch_cuts_off_what_came_later(tmp_path: Path, kind: Any) -> None:
    whole = kind(tmp_path / "whole", **_still(kind))
    for loss in ("1", "2", "3"):
        whole.log(numbers(Loss=loss), 1, Split.Train)
    whole.close()

    stopped = kind(tmp_path / "stopped", **_still(kind))
    stopped.log(numbers(Loss="1"), 1, Split.Train)
    positions = json.loads(json.dumps(stopped.positions()))
    stopped.log(numbers(Loss="100"), 1, Split.Train)
    stopped.close()
    resumed = kind(tmp_path / "stopped", **_still(kind))
    resumed.restore(positions)
    for loss in ("2", "3"):
        resumed.log(numbers(Loss=loss), 1, Split.Train)
    resumed.close()
    assert resumed.path.read_bytes() == whole.path.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_shorter_than_it_was_is_not_gone_on_with(tmp_path: Path, kind: Any) -> None:
    logger = kind(tmp_path)
    with pytest.raises(ValueError, match="should have at least 10 bytes, it has 0"):
        logger.restore({logger.path.name: 10})


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_read_from_it(tmp_path: Path, kind: Any) -> None:
    with pytest.raises(NotImplementedError, match=f"{kind.__name__} only writes"):
        kind(tmp_path).read_numeric("Loss", 1, Split.Train)


def _still(kind: Any) -> dict[str, Any]:
    return {"clock": lambda: 0.0} if kind is JsonLinesMetricLogger else {}
