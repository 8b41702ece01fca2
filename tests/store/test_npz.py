"""NumPy's archives with directories and headers that lie."""

import random
import zipfile
from pathlib import Path

import numpy as np
import pytest

import burnpy
from burnpy.errors import CheckpointError
from burnpy.store.checkpoint import Checkpoint


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def arrays() -> dict[str, np.ndarray]:
    return {
        "rows": np.arange(12.0).reshape(3, 4),
        "columns": np.asfortranarray(np.arange(12, dtype=">i2").reshape(3, 4)),
        "scalar": np.array(2.5, np.float32),
        "empty": np.zeros((0, 7), np.int8),
        "a/b": np.array([True, False]),
        "swapped": np.arange(4, dtype=">f4"),
        "wide" * 300: np.ones(3),
    }


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_array_is_read_as_numpy_reads_it(save: object) -> None:
    save("a.npz", **arrays())  # type: ignore[operator]
    with burnpy.open("a.npz") as checkpoint:
        assert set(checkpoint) == set(arrays())
        for name, array in arrays().items():
            assert checkpoint[name].shape == array.shape
            np.testing.assert_array_equal(checkpoint[name].numpy(), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_header_is_read(version: tuple[int, int]) -> None:
    with zipfile.ZipFile("a.npz", "w") as archive, archive.open("w.npy", "w") as member:
        np.lib.format.write_array(member, np.arange(3.0), version=version)
    with burnpy.open("a.npz") as checkpoint:
        assert checkpoint["w"].numpy().tolist() == [0, 1, 2]


def test_a_member_whose_header_is_elsewhere_is_a_fault_of_the_archive() -> None:
    np.savez("a.npz", w=np.arange(3.0))
    data = bytearray(Path("a.npz").read_bytes())
    at = data.rindex(b"PK\x01\x02") + 42
    data[at : at + 4] = (8).to_bytes(4, "little")
    Path("b.npz").write_bytes(data)
    with pytest.raises(CheckpointError, match=r"b\.npz: .*no header of w\.npy at byte 8") as told:
        burnpy.open("b.npz")
    assert told.value.kind == "malformed archive"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_damage_is_told_as_such(save: object) -> None:
    save("a.npz", **arrays())  # type: ignore[operator]
    good, chance = Path("a.npz").read_bytes(), random.Random(7)
    # The end is where the directory is: it gets half of the blows.
    for number in range(1500):
        data = bytearray(good)
        for _ in range(chance.choice((1, 2, 5))):
            start = len(data) - 700 if number % 2 else 0
            data[chance.randrange(start, len(data))] = chance.choice((0, 0xFF, chance.randrange(256)))
        Path("b.npz").write_bytes(data)
        try:
            with burnpy.open("b.npz") as checkpoint:
                for name in checkpoint:
                    _read(checkpoint, name)
        except CheckpointError as error:
            assert error.path == str(Path("b.npz").absolute())


def _read(checkpoint: Checkpoint, name: str) -> None:
    try:
        checkpoint[name].numpy()
    except CheckpointError as error:
        assert error.tensor == name
