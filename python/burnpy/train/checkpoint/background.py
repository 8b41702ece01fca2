"""Work in the background, one piece at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable

__all__ = ["Background"]


class Background:
    """A thread for what may take its time: at most one piece of work runs, none waits.

    :meth:`submit` waits until the piece before has ended, so memory of at most one is held. An error of a piece is
    raised by the next call.

    Example:
        >>> done = []
        >>> with Background("example") as background:
        ...     background.submit(lambda: done.append(1))
        >>> done
        [1]
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def submit(self, work: Callable[[], None]) -> None:
        """Start a piece of work after the one before.

        Raises:
            BaseException: what the piece before raised; this one is not begun.
        """
        self.join()

        def run() -> None:
            try:
                work()
            except BaseException as error:
                self._error = error

        # Not a daemon: the interpreter waits for a file that is being written.
        self._thread = threading.Thread(target=run, name=self._name)
        self._thread.start()

    def join(self) -> None:
        """Wait for the piece that runs.

        Raises:
            BaseException: what it raised.
        """
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def __enter__(self) -> Background:
        return self

    def __exit__(self, kind: object, *rest: object) -> None:
        if kind is None:
            self.join()
            return
        try:
            self.join()
        except BaseException:
            # The first error is the one that is told.
            return
