"""Keys of a terminal, without waiting for the end of a line."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from types import TracebackType
from typing import IO, Any, Self

__all__ = ["Keys"]

_ARROWS = {b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left"}
_ARROWS |= {key.replace(b"[", b"O"): name for key, name in _ARROWS.items()}


class Keys:
    """Reads keys while it is entered; the terminal is as before afterwards. Without a terminal there are no keys.

    Signals keep their keys: Ctrl-C still interrupts.

    Args:
        file: the terminal; standard input if it is not given.
    """

    def __init__(self, file: IO[Any] | None = None) -> None:
        self._file = file
        self._fd: int | None = None
        self._before: list[Any] | None = None

    def __enter__(self) -> Self:
        file = self._file or sys.stdin
        try:
            self._fd = file.fileno() if file is not None and file.isatty() else None
        except (OSError, ValueError):
            self._fd = None
        if self._fd is not None and sys.platform != "win32":
            import termios
            import tty

            self._before = termios.tcgetattr(self._fd)
            tty.setcbreak(self._fd)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._fd is not None and self._before is not None and sys.platform != "win32":
            import termios

            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)
        self._fd = self._before = None

    def read(self) -> list[str]:
        """The keys since the last time: letters, ``left``, ``right``, ``up``, ``down``."""
        if self._fd is None:
            return []
        if sys.platform == "win32":
            return _windows_keys()
        import select

        data = b""
        while select.select([self._fd], [], [], 0.0)[0]:
            part = os.read(self._fd, 64)
            if not part:
                break
            data += part
        return parse(data)


def parse(data: bytes) -> list[str]:
    r"""The keys that bytes of a terminal stand for; what is not known is left out.

    Example:
        >>> parse(b"q\x1b[C\x1b[Zx")
        ['q', 'right', 'x']
    """
    keys: list[str] = []
    while data:
        arrow = _ARROWS.get(data[:3])
        if arrow is not None:
            keys.append(arrow)
            data = data[3:]
        elif data[:1] == b"\x1b":
            data = _after_sequence(data)
        else:
            keys += [chr(data[0])] if 32 <= data[0] < 127 else []
            data = data[1:]
    return keys


def _after_sequence(data: bytes) -> bytes:
    """What follows an escape sequence, which ends at its first letter or ``~``."""
    if data[1:2] not in (b"[", b"O"):
        return data[1:]
    end = next((i for i in range(2, len(data)) if 64 <= data[i] < 127), len(data))
    return data[end + 1 :]


def _windows_keys() -> list[str]:
    msvcrt: Any = import_module("msvcrt")
    keys = []
    while msvcrt.kbhit():
        key = msvcrt.getwch()
        if key in ("\x00", "\xe0"):
            keys.append({"H": "up", "P": "down", "M": "right", "K": "left"}.get(msvcrt.getwch(), ""))
        else:
            keys.append(key)
    return [key for key in keys if key]
