"""Workers: threads or processes that answer the question for a batch."""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import threading
import traceback
from typing import TYPE_CHECKING, Any, Literal, Protocol

from burnpy.errors import DatasetError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from burnpy.data.dataloader.reader import Reader

__all__ = ["Pool", "WorkerKind"]

WorkerKind = Literal["thread", "process"]
Question = tuple[int, int, int]  # ticket, epoch, number of the batch
Answer = tuple[int, bool, Any]  # ticket, whether it went well, (items, batch) or the exception


class Worker(Protocol):
    """One who answers questions in the order in which they come."""

    def ask(self, question: Question) -> None:
        """Hands over a question, and does not wait."""

    def answer(self) -> Answer:
        """Waits for the next answer; raises ``EOFError`` if none will come."""

    def close(self) -> None:
        """Ends the worker; what was asked and not answered is lost."""

    def fate(self) -> str:
        """What became of a worker that no longer answers."""


class Pool:
    """Some workers, asked in turn, so that who answers which question never depends on speed.

    A ticket that nobody waits for any more, from a pass that was left early, is skipped when its answer comes.
    """

    def __init__(self, reader: Reader, kind: WorkerKind, num_workers: int) -> None:
        self.pid = os.getpid()
        self.is_broken = False
        self._ticket = 0
        self._workers: list[Worker] = []
        make = _thread_workers if kind == "thread" else _process_workers
        self._workers = make(reader, num_workers)

    def ask(self, epoch: int, number: int) -> int:
        """Asks for a batch; returns the ticket for its answer."""
        self._ticket += 1
        worker = self._workers[self._ticket % len(self._workers)]
        try:
            worker.ask((self._ticket, epoch, number))
        except BaseException:
            self.is_broken = True
            raise
        return self._ticket

    def answer(self, ticket: int) -> tuple[bool, Any]:
        """Waits for the answer to a question; tickets are redeemed in the order in which they were given.

        Raises:
            DatasetError: the worker died.
        """
        index = ticket % len(self._workers)
        worker = self._workers[index]
        try:
            while True:
                answered, is_good, value = worker.answer()
                if answered == ticket:
                    return is_good, value
        except (EOFError, OSError) as error:
            self.is_broken = True
            raise DatasetError(f"loader worker {index} {worker.fate()}", kind="Worker") from error
        except BaseException:
            # An interrupt in the middle of a message: what follows cannot be told from its rest.
            self.is_broken = True
            raise

    def close(self) -> None:
        """Ends all workers."""
        # After a fork they are those of the parent, who still needs them.
        if self.pid == os.getpid():
            for worker in self._workers:
                worker.close()


def answer_to(reader: Reader, question: Question, who: str) -> Answer:
    """What a worker says to a question: a batch, or the exception, with a note that has the traceback."""
    ticket, epoch, number = question
    try:
        return ticket, True, reader.read(epoch, number)
    except (
        BaseException
    ) as error:  # `SystemExit` in a data set must neither end the consumer nor leave it waiting
        text = "".join(traceback.format_exception(error)).rstrip()
        told = error if isinstance(error, Exception) else DatasetError(repr(error), kind="Worker")
        told.add_note(f"raised in {who}, at batch {number} of epoch {epoch}:\n{text}")
        return ticket, False, told.with_traceback(None)


class _ThreadWorker:
    def __init__(self, reader: Reader, index: int) -> None:
        self._questions: queue.SimpleQueue[Question | None] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        arguments = (reader, self._questions, self._answers, f"dataloader-{index}")
        # A daemon: it only ever waits or reads, and must not keep the interpreter from ending.
        threading.Thread(target=_serve_thread, args=arguments, name=arguments[-1], daemon=True).start()

    def ask(self, question: Question) -> None:
        self._questions.put(question)

    def answer(self) -> Answer:
        return self._answers.get()

    def close(self) -> None:
        self._questions.put(None)

    def fate(self) -> str:
        return "ended"


def _serve_thread(
    reader: Reader,
    questions: queue.SimpleQueue[Question | None],
    answers: queue.SimpleQueue[Answer],
    name: str,
) -> None:
    while (question := questions.get()) is not None:
        answers.put(answer_to(reader, question, f"thread {name}"))


def _thread_workers(reader: Reader, num_workers: int) -> list[Worker]:
    return [_ThreadWorker(reader, index) for index in range(num_workers)]


class _ProcessWorker:
    def __init__(self, context: Any, payload: bytes, index: int) -> None:
        self._connection, far_end = context.Pipe()
        name = f"dataloader-{index}"
        self._process = context.Process(target=_serve_process, args=(far_end, name), name=name, daemon=True)
        self._process.start()
        # The child has the only other end: when either side dies, the other one reads the end of the stream.
        far_end.close()
        self._send(payload)

    def _send(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # it died; `answer` says how
            self._connection.send_bytes(data)

    def ask(self, question: Question) -> None:
        self._send(pickle.dumps(question))

    def answer(self) -> Answer:
        answer: Answer = pickle.loads(self._connection.recv_bytes())
        return answer

    def close(self) -> None:
        self._connection.close()
        self._process.join(timeout=0.2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def fate(self) -> str:
        self._process.join(timeout=5)
        code = self._process.exitcode
        how = f"ended with code {code}"
        if code is not None and code < 0:
            how = f"was ended by signal {-code} ({signal.strsignal(-code)})"
        return f"(process {self._process.pid}) {how}"


def _process_workers(reader: Reader, num_workers: int) -> list[Worker]:
    import multiprocessing

    try:
        payload = pickle.dumps(reader, protocol=5)
    except Exception as error:
        raise TypeError(
            f"the data set or the batcher cannot be sent to a worker process, worker='thread' needs no copy: {error}"
        ) from error
    # Never "fork": the child of a process with threads may find any lock taken for ever.
    context = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")
    return [_ProcessWorker(context, payload, index) for index in range(num_workers)]


def _serve_process(connection: Connection, name: str) -> None:
    # An interrupt goes to all processes of a terminal; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from burnpy._core import set_num_threads

    set_num_threads(1)
    who = f"process {name} ({os.getpid()})"
    try:
        reader = _received(connection.recv_bytes(), who)
        while True:
            question: Question = pickle.loads(connection.recv_bytes())
            is_ready = not isinstance(reader, DatasetError)
            answer = answer_to(reader, question, who) if is_ready else (question[0], False, reader)
            connection.send_bytes(_pickled(answer))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the parent has gone, or needs no more


def _received(payload: bytes, who: str) -> Any:
    """The reader; or the error that every question is answered with."""
    try:
        return pickle.loads(payload)
    except Exception as error:
        told = DatasetError(
            f"the data set or the batcher cannot be made in a worker process: {type(error).__name__}: {error}",
            kind="Worker",
        )
        told.add_note(f"raised in {who}:\n{traceback.format_exc().rstrip()}")
        return told


def _pickled(answer: Answer) -> bytes:
    ticket, is_good, value = answer
    try:
        data = pickle.dumps(answer, protocol=5)
        if not is_good:
            pickle.loads(data)  # some exceptions can be written and not read
        return data
    except Exception as error:
        problem = value if not is_good else error
        told = DatasetError(f"{type(problem).__name__}: {problem}", kind="Worker")
        for note in getattr(problem, "__notes__", ()):
            told.add_note(note)
        return pickle.dumps((ticket, False, told))
