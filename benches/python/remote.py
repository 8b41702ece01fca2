"""A model over loopback: how near loading comes to the raw transfer, beside fsspec and safetensors.

    python -m benches.python.remote [--gb 1] [--repeat 5] [--url http://...]

The server is a process of its own that sends out of the page cache (``sendfile``), so the client's work is what
counts. Best of the repeats, in GB/s of the file; all rows end with every byte in the client's memory.
"""

import argparse
import http.client
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from burnpy.numpy import load_file, save_file
from burnpy.storage import Transfer, at
from tests.storage.servers import objects_server

MODEL, PEER = "model.bpk", "model.safetensors"


def tensors(nbytes: int) -> dict[str, np.ndarray]:
    """Blocks of a transformer: four matrices of 16 MiB and two vectors each."""
    side, found = 2048, {}
    rng = np.random.default_rng(0)
    for block in range(max(nbytes // (4 * 4 * side * side), 1)):
        for name in ("query", "key", "value", "output"):
            found[f"blocks.{block}.{name}.weight"] = rng.random((side, side), np.float32)
        for name in ("norm.gamma", "norm.beta"):
            found[f"blocks.{block}.{name}"] = np.ones(side, np.float32)
    return found


def serve(folder: Path, pipe: Connection) -> None:
    with objects_server() as server:
        server.objects.update({f"/{file.name}": file for file in folder.iterdir()})
        pipe.send(server.url)
        pipe.recv()


def raw(url: str) -> None:
    """One GET into memory that is there already: what the connection gives."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    connection.request("GET", parts.path)
    answer = connection.getresponse()
    left = memoryview(bytearray(int(answer.headers["Content-Length"])))
    while left:
        left = left[answer.readinto(left) :]
    connection.close()


def raw_obstore(url: str, size: int, parts: int = 8) -> None:
    """The same bytes in ranges by obstore alone, several at once, not put together."""
    import obstore
    from obstore.store import HTTPStore

    pieces = urlsplit(url)
    store = HTTPStore.from_url(f"http://{pieces.netloc}", client_options={"allow_http": True})
    step = 32 << 20
    starts = list(range(0, size, step))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(parts) as pool:
        list(
            pool.map(
                lambda start: obstore.get_range(
                    store, pieces.path.lstrip("/"), start=start, end=min(start + step, size)
                ),
                starts,
            )
        )


def burnpy_load(url: str, copy: bool = False, **settings: int) -> None:
    load_file(at(url, transfer=Transfer(**settings)), copy=copy)


def fsspec_get(url: str, folder: Path) -> None:
    import fsspec

    fs, path = fsspec.core.url_to_fs(url)
    fs.get(path, str(folder / "got.bpk"))
    load_file(folder / "got.bpk", backend="pread")


def safetensors_through_fsspec(url: str) -> None:
    import fsspec
    import safetensors.numpy

    with fsspec.open(url, "rb", block_size=0) as file:
        safetensors.numpy.load(file.read())


def rows(base: str, size: int, folder: Path) -> dict[str, Callable[[], None]]:
    model, peer = f"{base}/{MODEL}", f"{base}/{PEER}"
    return {
        "raw: one GET into fresh memory": lambda: raw(model),
        "raw: obstore, ranges at once": lambda: raw_obstore(model, size),
        "burnpy.load_file(url)": lambda: burnpy_load(model),
        "burnpy.load_file(url), 2 requests at once": lambda: burnpy_load(model, max_requests=2),
        "burnpy.load_file(url, copy=True)": lambda: burnpy_load(model, copy=True),
        "fsspec get, then load_file": lambda: fsspec_get(model, folder),
        "safetensors.load of fsspec's bytes": lambda: safetensors_through_fsspec(peer),
    }


def measured(row: Callable[[], None], repeat: int) -> list[float] | str:
    times = []
    try:
        row()
        for _ in range(repeat):
            begin = time.perf_counter()
            row()
            times.append(time.perf_counter() - begin)
    except ImportError as error:
        return f"{error.name or error} is not installed"
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder, own = Path(name) / "served", Path(name)
        folder.mkdir()
        model = tensors(int(arguments.gb * 1e9))
        save_file(model, folder / MODEL)
        try:
            import safetensors.numpy

            safetensors.numpy.save_file(model, folder / PEER)
        except ImportError:
            pass
        del model
        here, there = multiprocessing.Pipe()
        server = multiprocessing.get_context("spawn").Process(target=serve, args=(folder, there), daemon=True)
        server.start()
        base, size = here.recv(), (folder / MODEL).stat().st_size
        table(rows(base, size, own), size, arguments.repeat)
        here.send(None)
        server.join()


def table(found: dict[str, Callable[[], None]], size: int, repeat: int) -> None:
    print(
        f"| {size / 1e9:.2f} GB over loopback | best GB/s | median GB/s | of raw |\n| --- | ---: | ---: | ---: |"
    )
    base = None
    for name, row in found.items():
        times = measured(row, repeat)
        if isinstance(times, str):
            print(f"| {name} | {times} | | |")
            continue
        base = base or min(times)
        best, middle = size / min(times) / 1e9, size / statistics.median(times) / 1e9
        print(f"| {name} | {best:.2f} | {middle:.2f} | {base / min(times):.2f} |", flush=True)


if __name__ == "__main__":
    main()
