"""Loggers of anything, one item after another."""

from __future__ import annotations

import os
import queue
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from burnpy.train.logger.text_file import open_fresh

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["AsyncLogger", "FileLogger", "InMemoryLogger", "Logger"]

T_contra = TypeVar("T_contra", contravariant=True)
T = TypeVar("T")


class Logger(Protocol[T_contra]):
    """Takes items."""

    def log(self, item: T_contra, /) -> None:
        """Keep an item."""


class FileLogger:
    r"""One line per item, in a file that is emptied first.

    Args:
        path: the file; folders that lead to it are made.

    Raises:
        OSError: it cannot be made.

    Example:
        >>> with FileLogger("logs/steps.log") as logger:
        ...     logger.log(3)
        >>> Path("logs/steps.log").read_text()
        '3\n'

    Source: Burn ``logger::FileLogger``.
    """

    def __init__(self, path: PathLike) -> None:
        self._file = open_fresh(Path(os.fspath(path)))

    def log(self, item: Any) -> None:
        """Write a line."""
        self._file.write(f"{item}\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class InMemoryLogger:
    """Keeps the text of each item.

    Example:
        >>> logger = InMemoryLogger()
        >>> logger.log(0.5)
        >>> logger.values
        ['0.5']

    Source: Burn ``logger::InMemoryLogger``.
    """

    def __init__(self) -> None:
        self.values: list[str] = []

    def log(self, item: Any) -> None:
        """Keep a text."""
        self.values.append(str(item))


class AsyncLogger(Generic[T]):
    """Runs another logger on a thread of its own, so that logging never waits.

    Args:
        logger: the other one.

    Raises:
        Exception: from ``close``: what the other logger raised first; later items were dropped.

    Example:
        >>> kept = InMemoryLogger()
        >>> with AsyncLogger(kept) as logger:
        ...     for step in range(3):
        ...         logger.log(step)
        >>> kept.values
        ['0', '1', '2']

    Source: Burn ``logger::AsyncLogger``.
    """

    def __init__(self, logger: Logger[T]) -> None:
        self._logger = logger
        self._items: queue.SimpleQueue[tuple[T] | None] = queue.SimpleQueue()
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="burnpy-logger", daemon=True)
        self._thread.start()

    def log(self, item: T) -> None:
        """Hand an item over.

        Raises:
            ValueError: the logger is closed.
        """
        if not self._thread.is_alive():
            raise ValueError("the logger is closed")
        self._items.put((item,))

    def close(self) -> None:
        """Wait until all items are logged."""
        self._items.put(None)
        self._thread.join()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure

    def _run(self) -> None:
        while (item := self._items.get()) is not None:
            try:
                if self._failure is None:
                    self._logger.log(item[0])
            except Exception as failure:
                self._failure = failure

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
