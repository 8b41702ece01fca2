"""The log of a run in words."""

import logging
import re
from pathlib import Path

import pytest

from burnpy.train.logger import FileApplicationLoggerInstaller

LOGGER = logging.getLogger("burnpy")


def test_messages_of_burnpy_are_written_with_time_level_and_source(tmp_path: Path) -> None:
    path = tmp_path / "run" / "experiment.log"
    with FileApplicationLoggerInstaller(path):
        logging.getLogger("burnpy.train.learner").info("epoch %d", 1)
        LOGGER.warning("odd")
        LOGGER.critical("bad")
        LOGGER.debug("small")
        logging.getLogger("other").error("not ours")
    lines = path.read_text().splitlines()
    assert [re.sub(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z ", "", line) for line in lines] == [
        " INFO burnpy.train.learner: epoch 1",
        " WARN burnpy: odd",
        "ERROR burnpy: bad",
    ]


def test_lines_have_the_form_of_burn(tmp_path: Path) -> None:
    path = tmp_path / "experiment.log"
    with FileApplicationLoggerInstaller(path):
        LOGGER.info("text")
    form = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z  INFO \S+: text\n$"
    assert re.match(form, path.read_text())


def test_runs_in_the_same_folder_add_up_and_leave_nothing_behind(tmp_path: Path) -> None:
    level, handlers = LOGGER.level, list(LOGGER.handlers)
    path = tmp_path / "experiment.log"
    for text in ("first", "second"):
        installer = FileApplicationLoggerInstaller(path)
        installer.install()
        installer.install()
        LOGGER.info(text)
        installer.uninstall()
        installer.uninstall()
        LOGGER.warning("between")
    assert [line.split(": ")[1] for line in path.read_text().splitlines()] == ["first", "second"]
    assert (LOGGER.level, LOGGER.handlers) == (level, handlers)


def test_a_level_that_shows_more_is_left_alone(tmp_path: Path) -> None:
    level = LOGGER.level
    LOGGER.setLevel(logging.DEBUG)
    try:
        with FileApplicationLoggerInstaller(tmp_path / "experiment.log"):
            assert LOGGER.level == logging.DEBUG
            LOGGER.debug("small")
        assert (tmp_path / "experiment.log").read_text() == ""
    finally:
        LOGGER.setLevel(level)


def test_a_file_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        FileApplicationLoggerInstaller(tmp_path).install()
