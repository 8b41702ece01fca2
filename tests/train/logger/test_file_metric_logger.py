"""Metric files, as Burn has them."""

from pathlib import Path

import pytest

from burnpy.train.logger import FileMetricLogger, MetricLogger
from burnpy.train.metric.metric import MetricDefinition
from burnpy.train.metric.numeric_entry import NumericEntry
from burnpy.train.metric.store import EpochSummary, MetricsUpdate, Split, mean_of
from tests.paths import GOLDEN
from tests.train.updates import entry, numbers, numeric

TRAINING = GOLDEN / "burn" / "training"


def log_lines(logger: MetricLogger, split: Split, epoch: int, **lines: list[str]) -> None:
    for batch in zip(*lines.values(), strict=True):
        logger.log(numbers(dict(zip(lines, batch, strict=True))), epoch, split)


def test_a_line_is_written_per_batch_and_one_at_the_end(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    log_lines(logger, Split.Train, 1, Loss=["0.5,1", "1.25,1", "0.875,final"])
    log_lines(logger, Split.Valid, 1, Accuracy=["50,64", "75,36", "59,final"])
    logger.log_epoch_summary(EpochSummary(1, Split.Valid))
    assert (tmp_path / "train/epoch-1/Loss.log").read_bytes() == b"0.5,1\n1.25,1\n0.875,final\n"
    assert (tmp_path / "valid/epoch-1/Accuracy.log").read_bytes() == b"50,64\n75,36\n59,final\n"


@pytest.mark.parametrize(
    ("split", "path"),
    [
        (Split.Train, "train/epoch-12/Top-K_Accuracy_@_TopK(2).log"),
        (Split.Valid, "valid/epoch-12/Top-K_Accuracy_@_TopK(2).log"),
        (Split.Test(), "test/epoch-12/Top-K_Accuracy_@_TopK(2).log"),
        (Split.Test(" First Set "), "test/first-set/epoch-12/Top-K_Accuracy_@_TopK(2).log"),
    ],
)
def test_files_lie_by_split_and_epoch(tmp_path: Path, split: Split, path: str) -> None:
    assert FileMetricLogger(tmp_path).path("Top-K Accuracy @ TopK(2)", 12, split) == tmp_path / path


@pytest.mark.parametrize(
    ("split", "path"), [(Split.Test("First Set"), "test/first-set/Loss.log"), (Split.Test(), "Loss.log")]
)
def test_an_evaluation_has_no_folders_of_epochs(tmp_path: Path, split: Split, path: str) -> None:
    logger = FileMetricLogger.new_eval(tmp_path)
    logger.log(numbers(Loss="0.5,3"), 1, split)
    logger.log(numbers(Loss="0.25,3"), 2, split)
    assert logger.read_numeric("Loss", 1, split) == [
        NumericEntry.Aggregated(0.5, 3),
        NumericEntry.Aggregated(0.25, 3),
    ]
    logger.close()
    assert (tmp_path / path).read_text() == "0.5,3\n0.25,3\n"


def test_what_is_not_available_makes_no_file(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    logger.log(MetricsUpdate([entry("Text", "")], [numeric("AUROC", "N/A")]), 1, Split.Train)
    logger.close()
    assert list(tmp_path.iterdir()) == []


def test_texts_are_written_before_numbers(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    logger.log(MetricsUpdate([entry("Same", "text")], [numeric("Same", "1")]), 1, Split.Train)
    logger.close()
    assert (tmp_path / "train/epoch-1/Same.log").read_text() == "text\n1\n"


def test_an_epoch_that_is_run_again_begins_its_files_anew(tmp_path: Path) -> None:
    for lines in (["1", "2"], ["3"]):
        logger = FileMetricLogger(tmp_path)
        log_lines(logger, Split.Train, 1, Loss=lines)
        logger.log_epoch_summary(EpochSummary(1, Split.Train))
    assert (tmp_path / "train/epoch-1/Loss.log").read_text() == "3\n"


def test_files_are_complete_once_the_epoch_has_changed(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    log_lines(logger, Split.Train, 1, Loss=["1"])
    log_lines(logger, Split.Train, 2, Loss=["2"])
    assert (tmp_path / "train/epoch-1/Loss.log").read_text() == "1\n"
    logger.flush()
    assert (tmp_path / "train/epoch-2/Loss.log").read_text() == "2\n"
    logger.close()


def test_lines_that_are_still_held_are_read(tmp_path: Path) -> None:
    logger = FileMetricLogger(tmp_path)
    log_lines(logger, Split.Train, 1, Loss=["1", "2,3"])
    assert logger.read_numeric("Loss", 1, Split.Train) == [
        NumericEntry.Value(1.0),
        NumericEntry.Aggregated(2.0, 3),
    ]
    assert logger.read_numeric("Loss", 2, Split.Train) == []
    logger.close()


def test_a_line_that_is_no_number_is_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "train" / "epoch-1" / "Loss.log"
    path.parent.mkdir(parents=True)
    path.write_text("0.5,1\n\nmany\n")
    with pytest.raises(ValueError, match=r"Loss\.log, line 3: .*'many'"):
        FileMetricLogger(tmp_path).read_numeric("Loss", 1, Split.Train)


@pytest.mark.parametrize("name", ["a/b", "a\\b", "", "..", "a\nb"])
def test_a_name_that_is_not_fit_for_a_file_is_refused(tmp_path: Path, name: str) -> None:
    logger = FileMetricLogger(tmp_path)
    with pytest.raises(ValueError, match="the name of a metric must be fit for a file"):
        logger.log_metric_definition(MetricDefinition(name, name, None, None))
    with pytest.raises(ValueError, match="the name of a metric must be fit for a file"):
        logger.log(MetricsUpdate([entry(name, "1")]), 1, Split.Train)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("tag", ["../up", " ", "a/b"])
def test_a_tag_that_is_not_fit_for_a_folder_is_refused(tmp_path: Path, tag: str) -> None:
    with pytest.raises(ValueError, match="the tag of a test must be fit for a file"):
        FileMetricLogger(tmp_path).path("Loss", 1, Split.Test(tag))


def test_a_file_that_is_shorter_than_it_was_is_not_gone_on_with(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Loss\.log should have at least 6 bytes, it has 0"):
        FileMetricLogger(tmp_path).restore({"train/epoch-1/Loss.log": 6})


def _golden_files() -> list[Path]:
    return sorted(TRAINING.glob("*/*/epoch-*/*.log"))


@pytest.mark.golden
def test_files_of_burn_are_read_and_written_to_the_byte(tmp_path: Path) -> None:
    files = _golden_files()
    assert len(files) > 100
    for file in files:
        folder, split, epoch, name = file.relative_to(TRAINING).parts
        which = Split(split)
        number = int(epoch.removeprefix("epoch-"))
        logger = FileMetricLogger(tmp_path / folder)
        metric = name.removesuffix(".log")
        for line in FileMetricLogger(TRAINING / folder).read_numeric(metric, number, which):
            logger.log(numbers({metric: line.serialize()}), number, which)
        logger.close()
        assert (tmp_path / folder / split / epoch / name).read_bytes() == file.read_bytes()


@pytest.mark.golden
def test_the_final_value_of_burn_is_the_mean_of_its_batches() -> None:
    for file in TRAINING.glob("*/*/epoch-*/Accuracy.log"):
        *batches, final = [NumericEntry.deserialize(line) for line in file.read_text().split()]
        assert mean_of(batches) == pytest.approx(final.current(), rel=1e-12)
