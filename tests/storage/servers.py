"""Servers on loopback: one with ranges of its own, and one that stands before another and can fail."""

import hashlib
import http.client
import random
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Asked:
    """A request as it came."""

    method: str
    path: str
    range: tuple[int, int] | None


@dataclass
class Server:
    """What a test sees of a server.

    Attributes:
        url: where it listens.
        asked: the requests so far.
        sent: the bytes of answers so far.
        fault: decides on each request: ``None``, a status, ``"cut"`` (half a body) or ``"drop"`` (no answer).
        objects: bodies by path, of the server with objects of its own.
    """

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    sent: int = 0
    fault: Callable[[Asked], int | str | None] = lambda asked: None
    objects: dict[str, bytes | Path] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def clear(self) -> None:
        self.asked.clear()
        self.sent = 0

    def of(self, path: str) -> list[Asked]:
        return [asked for asked in self.asked if asked.path.partition("?")[0].endswith(path)]


def at_random(share: float, *faults: int | str, seed: int = 7) -> Callable[[Asked], int | str | None]:
    """Fails that share of all requests."""
    dice, lock = random.Random(seed), threading.Lock()

    def fault(asked: Asked) -> int | str | None:
        with lock:
            return dice.choice(faults) if dice.random() < share else None

    return fault


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    state: Server

    def log_message(self, *_: object) -> None:
        return

    def _asked(self) -> Asked:
        span = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
        found = (int(span[0]), int(span[2]) + 1) if span[0] and span[2] else None
        asked = Asked(self.command, self.path, found)
        self.state.asked.append(asked)
        return asked

    def _refused(self, asked: Asked) -> int | str | None:
        fault = self.state.fault(asked)
        if isinstance(fault, int):
            # The body of a request that is not read would be taken for the next one.
            self.close_connection = True
            self._answer(fault, {"Connection": "close"}, b"refused")
        elif fault == "drop":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        return fault

    def _answer(self, status: int, headers: dict[str, str], body: Any, length: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self._count(len(body))
            self.wfile.write(body)

    def _count(self, length: int) -> None:
        # Before they are sent: who has the answer may look at once.
        with self.state.lock:
            self.state.sent += length


class _Objects(_Handler):
    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        asked = self._asked()
        fault = self._refused(asked)
        if isinstance(fault, int) or fault == "drop":
            return
        found = self.state.objects.get(self.path.partition("?")[0])
        if found is None:
            self._answer(404, {}, b"nothing here")
            return
        size = len(found) if isinstance(found, bytes) else found.stat().st_size
        tag = self.state.tags.get(self.path) or f'"{hashlib.md5(self.path.encode()).hexdigest()}"'
        headers = {"ETag": tag, "Accept-Ranges": "bytes", "Last-Modified": "Sat, 01 Aug 2026 10:00:00 GMT"}
        if self.headers.get("If-Match", tag) != tag:
            self._answer(412, headers, b"changed")
            return
        start, stop = asked.range or (0, size)
        stop = min(stop, size)
        if start >= size and asked.range:
            self._answer(416, {"Content-Range": f"bytes */{size}"}, b"")
            return
        status = 206 if asked.range else 200
        if asked.range:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        self._send(status, headers, found, start, stop, cut=fault == "cut")

    def _send(
        self, status: int, headers: dict[str, str], found: bytes | Path, start: int, stop: int, *, cut: bool
    ) -> None:
        self._answer(status, headers, b"", length=stop - start)
        if self.command == "HEAD":
            return
        end = start + (stop - start) // 2 if cut else stop
        self._count(end - start)
        if isinstance(found, bytes):
            self.wfile.write(found[start:end])
        else:
            with found.open("rb") as file:
                self.connection.sendfile(file, start, end - start)
        self.close_connection = self.close_connection or cut


class _Proxy(_Handler):
    target: tuple[str, int]

    def do_any(self) -> None:
        asked = self._asked()
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        fault = self._refused(asked)
        if isinstance(fault, int) or fault == "drop":
            return
        forward = http.client.HTTPConnection(*self.target)
        forward.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            forward.putheader(name, value)
        forward.endheaders(body)
        answer = forward.getresponse()
        data = answer.read()
        skipped = {"content-length", "transfer-encoding", "connection", "server", "date"}
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in skipped}
        length = int(answer.getheader("Content-Length") or len(data))
        forward.close()
        self.close_connection = self.close_connection or fault == "cut"
        self._answer(answer.status, headers, data[: len(data) // 2] if fault == "cut" else data, length)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = do_any


@contextmanager
def running(handler: type[_Handler], **attributes: Any) -> Iterator[Server]:
    state = Server()
    bound = type("Bound", (handler,), {"state": state, **attributes})

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            return  # a client that went away is no fault of the test

    server = Quiet(("127.0.0.1", 0), bound)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def objects_server() -> Any:
    return running(_Objects)


def proxy_of(host: str, port: int) -> Any:
    return running(_Proxy, target=(host, port))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
