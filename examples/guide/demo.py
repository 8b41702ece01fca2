"""What ``make demo`` shows: a training that is killed goes on as if nothing had happened, and its model travels.

Trains the digits twice, each time in a process of its own: once undisturbed, once killed in the middle and resumed.
Compares both runs bit by bit; then exports the model, maps the file without a copy, and asks it.

    python examples/guide/demo.py [FOLDER]
"""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from main import config_of, load, predict, train

from burnpy.numpy import load_file

EPOCHS = 6


def main() -> None:
    """Show it in a folder: the one that is named, or one that goes away."""
    if sys.argv[1:2] == ["train"]:
        train(Path(sys.argv[2]), config_of("digits", num_epochs=EPOCHS), resume=sys.argv[3] == "resume")
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(*sys.argv[1:2] or [scratch])
        undisturbed, killed = folder / "undisturbed", folder / "killed"
        print(f"training on handwritten digits, {EPOCHS} epochs, from beginning to end")
        run(undisturbed)
        print("the same again, killed in the middle of an epoch")
        kill_in_the_middle(killed)
        print("a new process goes on")
        run(killed, "resume")
        compare(undisturbed, killed)
        reload(killed)
        print("ten digits that it never saw:")
        print(f"    {predict(killed):.0%} right")


def start(folder: Path, how: str = "start") -> subprocess.Popen[str]:
    """A training in a process of its own."""
    command = [sys.executable, __file__, "train", str(folder), how]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(folder: Path, how: str = "start") -> None:
    """Train to the end, and print the last lines of the epochs."""
    began = time.perf_counter()
    output, _ = (process := start(folder, how)).communicate()
    if process.returncode:
        sys.exit(output)
    for line in (line for line in output.splitlines() if "Validating, " in line):
        print(f"    {line}")
    print(f"    {time.perf_counter() - began:.1f} s")


def kill_in_the_middle(folder: Path) -> None:
    """Kill a training with SIGKILL, which nothing can catch, once an epoch and a piece are saved."""
    process = start(folder)
    while process.poll() is None and not list((folder / "checkpoint").glob("step-*/trainer.bpk")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    sets = sorted(path.parent.name for path in (folder / "checkpoint").glob("step-*/trainer.bpk"))
    epochs = sorted(path.stem for path in (folder / "checkpoint").glob("trainer-*.bpk"))
    print(f"    left behind: {', '.join(epochs + sets)}")


def compare(one: Path, other: Path) -> None:
    """Every parameter to the last bit, and every value that was logged."""
    ours, theirs = load_file(one / "model.bpk"), load_file(other / "model.bpk")
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        assert np.array_equal(values.view(np.uint32), theirs[name].view(np.uint32)), f"{name} differs"
    logs = sorted(path.relative_to(one) for path in one.glob("*/epoch-*/*.log"))
    for path in logs:
        assert (one / path).read_bytes() == (other / path).read_bytes(), f"{path} differs"
    numbers = sum(values.size for values in ours.values())
    print(
        f"    all {numbers:,} parameters are the same to the last bit, and so are {len(logs)} logs of metrics"
    )


def reload(folder: Path) -> None:
    """Map the exported file, and show that the model's weights lie in the map."""
    path = folder / "model.bpk"
    weight = load(folder).linear1.weight.val().numpy()
    print(f"exported: {path.name}, {path.stat().st_size / 1e3:.1f} kB, {len(load_file(path))} tensors")
    if sys.platform == "linux":
        assert file_of(weight) == str(path.resolve()), "the weights were copied"
        print("    loaded into a model, whose weights lie in the mapped file: nothing was copied")


def file_of(array: np.ndarray) -> str:
    """The file that is mapped where an array lies; empty where there is none."""
    address = array.__array_interface__["data"][0]
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, *_, name = line.split(maxsplit=5)
        start, end = (int(part, 16) for part in span.split("-"))
        if start <= address < end:
            return name
    return ""


if __name__ == "__main__":
    main()
