"""A checkpointer that saves in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from burnpy.train.checkpoint.background import Background

if TYPE_CHECKING:
    from burnpy.train.checkpoint.checkpointer import Checkpointer
    from burnpy.train.interrupter import Interrupter

__all__ = ["AsyncCheckpointer"]


class AsyncCheckpointer:
    """Saves and deletes on a thread of its own, one after the other; at most one record is on its way.

    A failure stops the run, if an interrupter is attached, and is raised by the next call in any case.

    Example:
        >>> import tempfile
        >>> from burnpy.record import LrSchedulerRecord
        >>> from burnpy.train.checkpoint import FileCheckpointer
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with AsyncCheckpointer(FileCheckpointer(folder, "scheduler")) as checkpointer:
        ...         checkpointer.save(1, LrSchedulerRecord().with_scalar("0.step", 3))
        ...         checkpointer.restore(1, LrSchedulerRecord).scalar("0.step")
        3

    Source: Burn ``train::checkpoint::AsyncCheckpointer``.
    """

    def __init__(self, checkpointer: Checkpointer) -> None:
        self.checkpointer = checkpointer
        self._background = Background("burnpy-checkpoint")
        self._interrupter: Interrupter | None = None

    def with_interrupter(self, interrupter: Interrupter) -> AsyncCheckpointer:
        """Have failures stop a run; returns itself."""
        self._interrupter = interrupter
        return self

    def save(self, key: int | str, record: Any, /) -> None:
        """Start to save a record; waits for the work before."""
        self._background.submit(lambda: self._run(lambda: self.checkpointer.save(key, record)))

    def delete(self, key: int | str, /) -> None:
        """Start to delete a record; waits for the work before."""
        self._background.submit(lambda: self._run(lambda: self.checkpointer.delete(key)))

    def restore(self, key: int | str, kind: type[Any], /) -> Any:
        """The record, all saves before included."""
        self._background.join()
        return self.checkpointer.restore(key, kind)

    def join(self) -> None:
        """Wait for what runs.

        Raises:
            BaseException: what it raised.
        """
        self._background.join()

    def _run(self, work: Any) -> None:
        try:
            work()
        except BaseException as error:
            if self._interrupter is not None:
                self._interrupter.fail(error)
            raise

    def __enter__(self) -> AsyncCheckpointer:
        return self

    def __exit__(self, *error: object) -> None:
        self._background.__exit__(*error)
