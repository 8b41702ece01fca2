"""How a file is written: whole or not at all, with the right mode, and without stopping anybody else."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy.numpy import load_file, save_file
from burnpy.pack import AlreadyExists, Error, IoError, Tensor, ValidationError, Writer

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes, links and limits as Unix has them")


def child(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs code in a Python of its own, and fails with what that one said."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A saved file."""
    path = tmp_path / "model.bpk"
    save_file({"w": np.arange(1000, dtype=np.float32)}, path)
    return path


# ---- modes, links, owners


@pytest.mark.parametrize(("umask", "expected"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_mode_that_the_umask_leaves(umask: int, expected: int, tmp_path: Path) -> None:
    old = os.umask(umask)
    try:
        save_file({}, tmp_path / "model.bpk")
        Writer([]).write_to_file(tmp_path / "writer.bpk")
    finally:
        os.umask(old)
    assert mode(tmp_path / "model.bpk") == mode(tmp_path / "writer.bpk") == expected


@pytest.mark.parametrize("kept", [0o640, 0o600, 0o444, 0o755])
def test_an_old_file_keeps_its_mode_and_the_scratch_is_never_wider(kept: int, path: Path) -> None:
    path.chmod(kept)
    seen = []

    def look() -> bytes:
        seen.extend(mode(entry) for entry in path.parent.iterdir())
        return bytes(4)

    save_file({"w": Tensor.deferred("w", dtype="u8", shape=(4,), provider=look)}, path)
    assert mode(path) == kept and seen == [kept, kept]


@pytest.mark.parametrize("target", ["absolute", "relative", "chain", "dangling"])
def test_a_symbolic_link_is_followed(target: str, path: Path) -> None:
    folder = path.parent / "links"
    folder.mkdir()
    link = folder / "link.bpk"
    if target == "absolute":
        link.symlink_to(path)
    elif target == "relative":
        link.symlink_to("../model.bpk")
    elif target == "chain":
        (folder / "middle").symlink_to(path)
        link.symlink_to("middle")
    else:
        path.unlink()
        link.symlink_to(path)
    save_file({"new": np.zeros(1)}, link)
    assert link.is_symlink() and not path.is_symlink()
    assert list(load_file(path)) == list(load_file(link)) == ["new"]


def test_a_loop_of_links_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(IoError, match="symbolic links"):
        save_file({}, tmp_path / "a")


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_file_is_neither_replaced_nor_waited_for(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        os.mknod(path, stat.S_IFSOCK | 0o644)
    for act in (
        lambda: save_file({}, path),
        lambda: load_file(path),
        lambda: load_file(path, backend="pread"),
    ):
        with pytest.raises(IoError, match="a device, pipe or socket") as caught:
            act()
        assert (caught.value.errno, caught.value.path) == (errno.EINVAL, str(path))
    assert os.listdir(tmp_path) == ["model.bpk"] and not path.is_file()


def test_a_name_that_is_not_utf8_leads_from_an_error_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.bpk")
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(Error) as caught:
        load_file(path)
    assert caught.value.path == str(path)
    path.unlink()
    with pytest.raises(FileNotFoundError) as missing:
        load_file(path)
    assert missing.value.filename == str(path)


def test_a_fork_during_a_save_takes_nothing_away(tmp_path: Path) -> None:
    child(
        """
        import os, sys
        from burnpy.numpy import load_file, save_file
        from burnpy.pack import AtomicFile, Tensor

        def fork():
            if (pid := os.fork()) == 0:
                sys.exit(0)  # through the save, in a process that does not own its scratch file
            os.waitpid(pid, 0)
            return bytes(4)

        os.chdir(sys.argv[1])
        save_file({"w": Tensor.deferred("w", dtype="u8", shape=(4,), provider=fork)}, "model.bpk")
        assert list(load_file("model.bpk")) == ["w"]
        with AtomicFile("notes") as file:
            file.write(fork())
            file.commit()
        assert sorted(os.listdir()) == ["model.bpk", "notes"]
        """,
        str(tmp_path),
    )


def test_a_name_at_the_systems_limit_can_be_saved(tmp_path: Path) -> None:
    for name in ("x" * 255, "語" * 85):
        save_file({}, tmp_path / name)
        assert (tmp_path / name).is_file()


# ---- failures keep the old file


def test_a_provider_that_raises_leaves_everything_as_it_was(path: Path) -> None:
    before = path.read_bytes()

    def fail() -> bytes:
        raise ValueError("row 17 is missing")

    providers = [lambda: bytes(1 << 20)] * 2 + [fail] + [lambda: bytes(1 << 20)] * 2
    tensors = {
        f"layer.{i}": Tensor.deferred("t", dtype="u8", shape=(1 << 20,), provider=provider)
        for i, provider in enumerate(providers, start=1)
    }
    with pytest.raises(ValidationError, match=r'tensor "layer.3".*row 17 is missing') as caught:
        save_file(tensors, path)
    assert caught.value.tensor == "layer.3" and caught.value.path == str(path)
    assert isinstance(caught.value.__cause__, ValueError)
    assert path.read_bytes() == before and os.listdir(path.parent) == ["model.bpk"]


def test_an_os_error_of_a_provider_is_an_io_error_with_its_number(path: Path) -> None:
    def fail() -> bytes:
        raise OSError(errno.EIO, "the tape tore")

    with pytest.raises(IoError, match="the tape tore") as caught:
        save_file({"w": Tensor.deferred("w", dtype="u8", shape=(4,), provider=fail)}, path)
    assert caught.value.errno == errno.EIO and caught.value.tensor == "w"
    assert isinstance(caught.value.__cause__, OSError)


def test_an_interrupt_leaves_everything_as_it_was(path: Path) -> None:
    before = path.read_bytes()

    def interrupt() -> bytes:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save_file({"w": Tensor.deferred("w", dtype="u8", shape=(4,), provider=interrupt)}, path)
    assert path.read_bytes() == before and os.listdir(path.parent) == ["model.bpk"]


def test_a_folder_at_the_destination_stays(tmp_path: Path) -> None:
    (tmp_path / "model.bpk").mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        save_file({}, tmp_path / "model.bpk")
    assert caught.value.filename == str(tmp_path / "model.bpk")
    with pytest.raises(AlreadyExists):
        Writer([], overwrite=False).write_to_file(tmp_path / "model.bpk")
    assert os.listdir(tmp_path) == ["model.bpk"]


@pytest.mark.parametrize("kind", ["arrays", "deferred"])
def test_a_full_disk_keeps_the_old_file(kind: str, path: Path) -> None:
    before = path.read_bytes()
    child(
        """
        import os, resource, sys
        import numpy as np
        from burnpy.numpy import save_file
        from burnpy.pack import IoError, Tensor

        path, kind = sys.argv[1:]
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        big = np.ones(1 << 21, np.uint8)
        if kind == "deferred":
            big = Tensor.deferred("w", dtype="u8", shape=big.shape, provider=lambda: np.ones(1 << 21, np.uint8))
        try:
            save_file({"small": np.zeros(10), "big": big}, path)
        except IoError as error:
            assert error.errno in (27, 28) and error.path == path, error
        else:
            raise AssertionError("2 MiB were written where 1 MiB is allowed")
        assert os.listdir(os.path.dirname(path)) == ["model.bpk"]
        """,
        str(path),
        kind,
    )
    assert path.read_bytes() == before


def test_a_folder_that_may_not_be_written_keeps_the_old_file(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    import tempfile

    # Not below pytest's own folder, which nobody else may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_file({"w": np.zeros(3)}, folder / "model.bpk")
        before = (folder / "model.bpk").read_bytes()
        folder.chmod(0o555)
        child(
            """
            import os, sys
            import numpy as np
            import burnpy.errors
            from burnpy.numpy import save, save_file

            save({"w": np.zeros(3)})  # everything is imported while it may be read
            if os.getuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            for name in ("model.bpk", "new.bpk"):
                try:
                    save_file({"w": np.ones(3)}, os.path.join(sys.argv[1], name))
                except PermissionError as error:
                    assert error.filename == os.path.join(sys.argv[1], name), error.filename
                else:
                    raise AssertionError("written into a folder of mode 0555")
            """,
            name,
        )
        folder.chmod(0o755)
        assert (folder / "model.bpk").read_bytes() == before and os.listdir(folder) == ["model.bpk"]


def test_a_killed_save_leaves_the_old_or_the_new_file_and_its_scratch_is_cleared(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    save_file({"w": np.zeros(1 << 22, np.uint8)}, path)
    code = """
    import sys
    import numpy as np
    from burnpy.numpy import save_file
    arrays = [np.full(1 << 22, value, np.uint8) for value in range(8)]
    print("ready", flush=True)
    while True:
        for array in arrays:
            save_file({"w": array}, sys.argv[1])
    """
    random = np.random.default_rng(0)
    scratches = 0
    for _ in range(20):
        command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            threading.Event().wait(random.uniform(0, 0.03))
            process.send_signal(signal.SIGKILL)
        loaded = load_file(path)["w"]
        assert loaded.shape == (1 << 22,) and loaded.min() == loaded.max()
        scratches += len(os.listdir(tmp_path)) - 1
    assert scratches > 0, "no kill ever met a save"
    save_file({"w": np.zeros(3)}, path)
    assert os.listdir(tmp_path) == ["model.bpk"]


# ---- saving over what is mapped


@pytest.mark.parametrize("through", ["the path", "a symbolic link", "a hard link's other name"])
@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_saving_over_the_mapped_file_keeps_the_values_on_disk_and_in_memory(
    through: str, backend: Any, tmp_path: Path
) -> None:
    path = target = tmp_path / "model.bpk"
    expected = {str(i): np.random.default_rng(i).random(50_000) for i in range(5)}
    save_file(expected, path)
    loaded = load_file(path, copy=False, backend=backend)
    if through != "the path":
        target = tmp_path / "link.bpk"
        target.symlink_to(path) if through == "a symbolic link" else target.hardlink_to(path)
    for _ in range(2):
        save_file(loaded, target)
        again = load_file(path)
        for name, array in expected.items():
            np.testing.assert_array_equal(loaded[name], array)
            np.testing.assert_array_equal(again[name], array)


# ---- other threads, memory, descriptors


def test_another_thread_goes_on_while_512_mb_are_saved(tmp_path: Path) -> None:
    tensors = {str(i): np.zeros(128 << 20, np.uint8) for i in range(4)}
    path = tmp_path / "model.bpk"
    saving = threading.Thread(target=save_file, args=(tensors, path))
    saving.start()
    # The scratch file comes and goes within one call of the core, which would let nobody see it if it kept the GIL.
    seen = 0
    while saving.is_alive():
        seen += any(file.suffix == ".tmp" for file in tmp_path.iterdir())
    saving.join()
    size = path.stat().st_size
    path.unlink()
    assert size > 512 << 20 and seen > 0


def test_300_saves_and_loads_leave_memory_and_descriptors_flat(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    tensors: dict[str, Any] = {
        "plain": np.random.default_rng(0).random(20_000),
        "strided": np.arange(40_000).reshape(200, 200).T,
        "deferred": Tensor.deferred(
            "d", dtype="u8", shape=(100_000,), provider=lambda: np.zeros(100_000, np.uint8)
        ),
    }

    def failing() -> bytes:
        raise ValueError("no")

    def go_round() -> None:
        save_file(tensors, path, {"k": "v"}, scalars={"n": 1})
        for copy in (False, True):
            assert load_file(path, copy=copy)["plain"][0] > 0
        with pytest.raises(ValidationError):
            save_file({**tensors, "x": Tensor.deferred("x", dtype="u8", shape=(1,), provider=failing)}, path)

    def used() -> tuple[int, int]:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), len(os.listdir("/proc/self/fd"))

    for _ in range(30):
        go_round()
    memory, descriptors = used()
    for _ in range(300):
        go_round()
    memory_after, descriptors_after = used()
    assert descriptors_after == descriptors
    assert memory_after - memory < 4 << 20


def test_40_deferred_tensors_of_64_mb_need_the_memory_of_one(tmp_path: Path) -> None:
    done = child(
        """
        import os, sys
        import numpy as np
        from burnpy.numpy import save, save_file
        from burnpy.pack import Tensor

        def high_water():
            with open("/proc/self/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

        size = 64_000_000
        def provider(i):
            return lambda: np.full(size, i, np.uint8)

        save({"w": Tensor.deferred("w", dtype="u8", shape=(1,), provider=lambda: bytes(1))})
        start = high_water()
        save_file(
            {str(i): Tensor.deferred("w", dtype="u8", shape=(size,), provider=provider(i)) for i in range(40)},
            sys.argv[1],
        )
        print(high_water() - start)
        with open(sys.argv[1], "rb") as file:
            file.seek(-1, os.SEEK_END)
            assert file.read() == bytes([39])
        os.remove(sys.argv[1])
        """,
        str(tmp_path / "model.bpk"),
    )
    assert int(done.stdout) < 64_000_000 + 50_000_000
