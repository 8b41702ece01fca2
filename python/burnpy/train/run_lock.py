"""One run at a time in an artifact folder."""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import socket
import sys
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Self

from burnpy.errors import TrainingError

__all__ = ["RunLock"]

_LOG = logging.getLogger("burnpy.train")
# Behind what is written there: on Windows nobody else can read a byte that is locked.
_LOCKED_BYTE: Final = 2**30
_held: set[int] = set()


class RunLock:
    """While it lasts, no other run can have a folder. The system lets go of it for a process that dies in any way.

    The file ``run.lock`` tells who has the folder, and is removed at the end; one that a killed run left means nothing.
    A forked child does not have its parent's lock. Where files cannot be locked (some network file systems, a folder
    that cannot be written) a warning says so, and nobody is kept out.

    Args:
        folder: of the run; made if it is not there.

    Raises:
        TrainingError: on entering: another run has the folder; ``kind`` is ``"directory"``.

    Example:
        >>> with RunLock(Path("runs/1")):
        ...     sorted(path.name for path in Path("runs/1").iterdir())
        ['run.lock']
        >>> list(Path("runs/1").iterdir())
        []
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "run.lock"
        self._file = -1

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._taken()
        except OSError as error:
            _LOG.warning("%s cannot be locked, so a second run in it goes unnoticed: %s", self._path, error)
            return self
        _held.add(self._file)
        # A full disk: the lock holds, but does not tell whose it is.
        with contextlib.suppress(OSError):
            os.truncate(self._file, 0)
            os.write(self._file, json.dumps(_myself()).encode())
        return self

    def _taken(self) -> int:
        """The open file, locked."""
        while True:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                _lock(file)
                # Between the two, another run may have ended and removed it.
                with contextlib.suppress(FileNotFoundError):
                    if os.path.samestat(os.fstat(file), os.stat(self._path)):
                        return file
            except BlockingIOError:
                told = os.pread(file, 4096, 0) if hasattr(os, "pread") else os.read(file, 4096)
                os.close(file)
                raise self._refusal(told) from None
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def _refusal(self, told: bytes) -> TrainingError:
        try:
            owner = json.loads(told)
            whose = f"process {owner['process']} on {owner['host']}, since {owner['since']}"
        except (ValueError, KeyError, TypeError):
            whose = f"{self._path} does not tell whose"
        return TrainingError(
            f"another run is at work in {self._path.parent}: {whose}; wait for it, stop it, or give this run a folder "
            f"of its own",
            kind="directory",
        )

    def __exit__(self, *_: object) -> None:
        # A child that was forked meanwhile has closed the file, and it is not the child's to remove.
        if self._file not in _held:
            return
        _held.discard(self._file)
        remove = contextlib.suppress(OSError)
        if sys.platform == "win32":
            os.close(self._file)
            with remove:
                self._path.unlink()
            return
        # Still locked: who opens it from now on makes another one, and who has it open sees that it is gone.
        with remove:
            self._path.unlink()
        os.close(self._file)


def _myself() -> dict[str, Any]:
    since = datetime.now().astimezone().isoformat(sep=" ", timespec="seconds")
    return {"process": os.getpid(), "host": socket.gethostname(), "since": since}


def _lock(file: int) -> None:
    """Lock an open file.

    Raises:
        BlockingIOError: somebody else has it.
        OSError: it cannot be locked at all.
    """
    try:
        if sys.platform == "win32":
            msvcrt: Any = import_module("msvcrt")
            os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
            try:
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            finally:
                os.lseek(file, 0, os.SEEK_SET)
        else:
            fcntl: Any = import_module("fcntl")
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except PermissionError as error:
        # Windows', and that of network file systems that make another kind of lock of it.
        raise BlockingIOError(errno.EAGAIN, "locked by another process") from error
    except ImportError as error:
        raise OSError(errno.ENOLCK, "this platform has no locks") from error


def _let_go() -> None:
    """In a forked child: the lock belongs to the open file, which would live on in a child that outlives the run."""
    for file in _held:
        os.close(file)
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)
