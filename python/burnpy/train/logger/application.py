"""``experiment.log``: what happened during a run, in words."""

from __future__ import annotations

import logging
import os
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["ApplicationLoggerInstaller", "FileApplicationLoggerInstaller"]


class ApplicationLoggerInstaller(ABC):
    """Base of what listens to Python's logger ``burnpy`` while a run lasts; also a context manager.

    Source: Burn ``train::ApplicationLoggerInstaller``.
    """

    @abstractmethod
    def install(self) -> None:
        """Begin to listen.

        Raises:
            OSError: it cannot; the training warns then, and goes on.
        """

    @abstractmethod
    def uninstall(self) -> None:
        """Listen no longer; does nothing if it does not."""

    def __enter__(self) -> Self:
        self.install()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.uninstall()


class FileApplicationLoggerInstaller(ApplicationLoggerInstaller):
    r"""Appends a line per message of level INFO and above, with the time in UTC.

    Unlike Burn: it can be installed more than once in a process, and listens to ``burnpy`` alone and only while a run
    lasts.

    Args:
        path: the file; folders that lead to it are made.

    Example:
        >>> import logging
        >>> from pathlib import Path
        >>> with FileApplicationLoggerInstaller("run/experiment.log"):
        ...     logging.getLogger("burnpy.train").info("epoch 1")
        >>> Path("run/experiment.log").read_text()
        '...Z  INFO burnpy.train: epoch 1\n'

    Source: Burn ``train::FileApplicationLoggerInstaller``.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = Path(os.fspath(path))
        self._handler: logging.Handler | None = None
        self._level = logging.NOTSET

    def install(self) -> None:
        """Open the file and begin to listen; does nothing if it does already."""
        if self._handler is not None:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handler = logging.FileHandler(self.path, encoding="utf-8")
        handler.setLevel(logging.INFO)
        handler.setFormatter(_Line("%(asctime)s %(level)s %(name)s: %(message)s"))
        logger = logging.getLogger("burnpy")
        self._level = logger.level
        if logger.getEffectiveLevel() > logging.INFO:
            logger.setLevel(logging.INFO)
        logger.addHandler(handler)
        self._handler = handler

    def uninstall(self) -> None:
        """Close the file; the logger has its level back."""
        if self._handler is None:
            return
        logger = logging.getLogger("burnpy")
        logger.removeHandler(self._handler)
        logger.setLevel(self._level)
        self._handler.close()
        self._handler = None


class _Line(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        name = {"WARNING": "WARN", "CRITICAL": "ERROR"}.get(record.levelname, record.levelname)
        record.level = f"{name:>5}"
        return super().format(record)

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return datetime.fromtimestamp(record.created, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
