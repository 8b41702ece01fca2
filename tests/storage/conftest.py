"""An S3 server and an HTTP server on loopback, and places in them."""

import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from burnpy.storage import Location, Transfer, at
from tests.storage.servers import Server, free_port, objects_server, proxy_of

QUICK = Transfer(backoff_s=0.002, max_backoff_s=0.01, retries=20)


@pytest.fixture
def http() -> Iterator[Server]:
    pytest.importorskip("obstore")
    with objects_server() as server:
        yield server


@pytest.fixture(scope="session")
def moto() -> Iterator[tuple[str, int]]:
    """A server of S3's protocol in a process of its own."""
    pytest.importorskip("moto")
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(f"http://127.0.0.1:{port}/")
        yield "127.0.0.1", port
    finally:
        process.terminate()
        process.wait()


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise TimeoutError(f"{url} does not answer")


@dataclass
class Bucket:
    """A bucket behind a server that counts and can fail.

    Attributes:
        server: what was asked.
        name: the bucket.
    """

    server: Server
    name: str

    def at(self, key: str, engine: str = "obstore", transfer: Transfer = QUICK, **more: Any) -> Location:
        url = f"s3://{self.name}/{key}"
        if engine == "obstore":
            options: dict[str, Any] = {
                "endpoint": self.server.url,
                "access_key_id": "key",
                "secret_access_key": "secret",
                "region": "us-east-1",
                "virtual_hosted_style_request": False,
            }
        else:
            pytest.importorskip("s3fs")
            config = {"retries": {"max_attempts": 1}}
            client = {"endpoint_url": self.server.url, "region_name": "us-east-1"}
            options = {"key": "key", "secret": "secret", "client_kwargs": client, "config_kwargs": config}
        return at(url, options=options, engine=engine, transfer=transfer, **more)


@pytest.fixture
def s3(moto: tuple[str, int]) -> Iterator[Bucket]:
    pytest.importorskip("obstore")
    name = f"bucket-{uuid.uuid4().hex[:12]}"
    with proxy_of(*moto) as server:
        urllib.request.urlopen(urllib.request.Request(f"{server.url}/{name}", method="PUT")).close()
        server.clear()
        yield Bucket(server, name)


@pytest.fixture
def web(http: Server) -> Callable[..., Location]:
    """Puts a body on the HTTP server and tells where it is."""

    def put(path: str, body: Any, transfer: Transfer = QUICK, **more: Any) -> Location:
        http.objects[f"/{path}"] = body
        return at(f"{http.url}/{path}", transfer=transfer, **more)

    return put
