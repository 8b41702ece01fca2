"""How a run is told to stop."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

__all__ = ["Interrupter", "Interruption"]

_LOG = logging.getLogger("burnpy.train")


@dataclass(frozen=True)
class Interruption:
    """Why a run was stopped by hand.

    Attributes:
        reason: the last text given to :meth:`Interrupter.stop`, or ``None``.

    Source: Burn ``train::Interruption``.
    """

    reason: str | None


class Interrupter:
    """Stops a training or an evaluation from anywhere: another thread, a metric, a renderer, a signal.

    The running batch is finished, and with gradient accumulation its group; then the run ends. An error takes
    precedence over a stop, whichever came first.

    Example:
        >>> interrupter = Interrupter()
        >>> interrupter.stop("seen enough")
        >>> interrupter.should_stop(), interrupter.interruption()
        (True, Interruption(reason='seen enough'))

    Source: Burn ``train::Interrupter``.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stopped = False
        self._message: str | None = None
        self._error: BaseException | None = None

    def stop(self, reason: str | None = None) -> None:
        """Ask the run to end; without a reason an earlier one stays."""
        # No lock: a signal handler may come in the middle of any other method of this thread.
        if reason is not None:
            self._message = reason
        self._stopped = True

    def fail(self, error: BaseException) -> None:
        """Ask the run to end because of an error; the first one is kept."""
        _LOG.error("%s: %s", type(error).__name__, error)
        with self._lock:
            if self._error is None:
                self._error = error
            self._stopped = True

    def reset(self) -> None:
        """Forget stop and error; the message stays."""
        with self._lock:
            self._stopped, self._error = False, None

    def should_stop(self) -> bool:
        """Whether the run is to end."""
        return self._stopped

    def interruption(self) -> Interruption | None:
        """The stop by hand, if there was one and no error."""
        return Interruption(self._message) if self._stopped and self._error is None else None

    def error(self) -> BaseException | None:
        """The first error, or ``None``."""
        return self._error

    def get_message(self) -> str | None:
        """The last reason given, or ``None``."""
        return self._message
