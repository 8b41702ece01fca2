"""Ctrl-C and SIGTERM during a run."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from burnpy.train.interrupter import Interrupter

__all__ = ["StopSignals"]

_REASONS = {signal.SIGINT: "keyboard interrupt", signal.SIGTERM: "terminated"}


class StopSignals:
    """While it lasts, the first SIGINT or SIGTERM stops a run after its batch, a second one at once.

    Only in the main thread, and only where Python's own handler or the system's default is in place: a program that
    handles signals itself keeps doing so. The old handlers are back afterwards.
    """

    def __init__(self, interrupter: Interrupter) -> None:
        self._interrupter = interrupter
        self._old: dict[signal.Signals, Any] = {}
        self._received: int | None = None

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in _REASONS:
                if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self._old[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._old.clear()

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._received is not None:
            raise _exception(number)
        self._received = number
        self._interrupter.stop(_REASONS[signal.Signals(number)])

    def raise_received(self) -> None:
        """Go on with what the signal means, after everything has ended.

        Raises:
            KeyboardInterrupt: it was SIGINT.
            SystemExit: it was SIGTERM; the code is 143.
        """
        if self._received is not None:
            raise _exception(self._received)


def _exception(number: int) -> BaseException:
    return KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
