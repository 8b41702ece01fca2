"""IDX files, and the data sets made of them."""

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy.data import (
    DataLoader,
    DigitsDataset,
    FashionMnistDataset,
    MnistDataset,
    MnistItem,
    SelectionDataset,
    read_idx,
)
from burnpy.errors import DatasetError
from tests.data.samples import as_list

HAS_FASHION = FashionMnistDataset.folder("train").exists()
CODES = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}


def _idx(array: Any, kind: str = "u1") -> bytes:
    header = bytes([0, 0, CODES[kind], array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + bytes(array.astype(f">{kind}").tobytes())


@pytest.mark.parametrize("kind", CODES)
@pytest.mark.parametrize("is_gzip", [False, True])
def test_all_types_are_read(tmp_path: Path, kind: str, is_gzip: bool) -> None:
    array = np.arange(24).reshape(2, 3, 4) - (0 if kind == "u1" else 5)
    content = _idx(array, kind)
    (tmp_path / "x").write_bytes(gzip.compress(content) if is_gzip else content)
    found = read_idx(tmp_path / "x")
    assert found.dtype == np.dtype(kind) and np.array_equal(found, array) and not found.flags.writeable


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "this is no IDX file, it begins with"),
        (b"\x00\x00\x08", "begins with 00 00 08"),
        (b"\x89PNG\r\n\x1a\n", "begins with 89 50 4e 47"),
        (b"\x00\x00\x0a\x01\x00\x00\x00\x00", "this is no IDX file"),
        (b"\x00\x00\x08\x00", "this is no IDX file"),
        (b"\x00\x00\x08\x03\x00\x00\x00\x01", "the header ends after 4 bytes of the 12"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x05abc", "tells of 5 bytes of shape (5,), the file has 3"),
        (b"\x00\x00\x08\x01\x00\x00\x00\x02abc", "tells of 2 bytes of shape (2,), the file has more"),
        (b"\x00\x00\x0e\x03" + b"\xff" * 12, "the file has 0"),
        (gzip.compress(b"\x00\x00\x08\x01\x00\x00\x00\x05abcde")[:-9], "the compressed data is damaged"),
        (
            gzip.compress(b"\x00\x00\x08\x01\x00\x00\x00\x05abcde")[:10] + b"\xff" * 20,
            "the compressed data is damaged",
        ),
    ],
)
def test_what_is_wrong_is_told_with_the_file(tmp_path: Path, content: bytes, text: str) -> None:
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(DatasetError, match="bad: ") as caught:
        read_idx(tmp_path / "bad")
    assert text in str(caught.value) and caught.value.path == str(tmp_path / "bad")


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "none")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    images = np.arange(5 * 28 * 28, dtype=np.uint8).reshape(5, 28, 28)
    for prefix in "train", "t10k":
        (tmp_path / f"{prefix}-images-idx3-ubyte").write_bytes(_idx(images))
        (tmp_path / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(gzip.compress(_idx(np.arange(5))))
    return tmp_path


class TestMnist:
    def test_items_are_images_of_f32_and_numbers(self, folder: Path) -> None:
        dataset = MnistDataset.train(folder)
        item = dataset.get(2)
        assert isinstance(item, MnistItem) and len(dataset) == 5
        assert item.image.shape == (28, 28) and item.image.dtype == "f32" and item.label == 2
        assert item.image.numpy()[0, 1] == (2 * 784 + 1) % 256
        assert dataset.get_many([2])[0].label == 2

    @pytest.mark.parametrize("workers", [0, 2])
    def test_batches_are_gathered(self, folder: Path, workers: int) -> None:
        batch = next(iter(DataLoader(MnistDataset.test(folder), batch_size=3, num_workers=workers)))
        assert batch.image.shape == (3, 28, 28) and batch.image.dtype == "f32"
        assert batch.label.tolist() == [0, 1, 2]
        rows = MnistDataset.test(folder).get_many([4, 1])
        assert rows.columns["image"].dtype == "u8"

    def test_more_items_than_there_can_be_are_not_believed(self, folder: Path) -> None:
        header = bytes([0, 0, 8, 3]) + struct.pack(">3I", 60_001, 28, 28)
        (folder / "train-images-idx3-ubyte").write_bytes(header)
        with pytest.raises(DatasetError, match="tells of 60001 items, over the limit of 60000"):
            MnistDataset.train(folder)
        (folder / "t10k-labels-idx1-ubyte.gz").write_bytes(
            gzip.compress(bytes([0, 0, 8, 1, 0, 0, 0x27, 0x11]))
        )
        with pytest.raises(DatasetError, match="10001 items, over the limit of 10000"):
            MnistDataset.test(folder)

    def test_images_and_labels_fit_together(self, folder: Path) -> None:
        (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(_idx(np.arange(4))))
        with pytest.raises(DatasetError, match=r"shape \(5, 28, 28\) and labels of shape \(4,\) do not fit"):
            MnistDataset.train(folder)

    def test_missing_files_are_named_with_the_way_to_get_them(self, tmp_path: Path) -> None:
        with pytest.raises(
            FileNotFoundError, match=r"no t10k-images-idx3-ubyte or t10k-images-idx3-ubyte\.gz in"
        ):
            MnistDataset.test(tmp_path)
        with pytest.raises(FileNotFoundError, match="apt-get install dataset-fashion-mnist"):
            FashionMnistDataset.train(tmp_path)

    @pytest.mark.skipif(
        not FashionMnistDataset.folder("train").exists(), reason="dataset-fashion-mnist is not installed"
    )
    def test_fashion_mnist_is_all_there(self) -> None:
        train, test = FashionMnistDataset.train(), FashionMnistDataset.test()
        assert (len(train), len(test)) == (60_000, 10_000)
        labels = np.bincount(test.arrays[1].numpy())
        assert labels.tolist() == [1000] * 10 and len(FashionMnistDataset.classes) == 10
        assert train.get(0).label == 9 and train.arrays[0].shape == (60_000, 28, 28)


class TestDigits:
    def test_all_digits_are_there(self) -> None:
        digits = DigitsDataset()
        images, labels = digits.arrays
        assert images.shape == (1797, 8, 8) and images.numpy().max() == 16 and images.numpy().sum() == 561718
        assert np.bincount(labels.numpy()).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
        assert [digits.get(index).label for index in range(10)] == list(range(10))

    def test_splits_cut_it_in_two(self) -> None:
        train, test = DigitsDataset.train(), DigitsDataset.test()
        assert len(train) + len(test) == 1797
        assert test.get(0).image.tolist() == DigitsDataset().get(1437).image.tolist()
        with pytest.raises(ValueError, match="split must be one of all, train, test, got 'valid'"):
            DigitsDataset("valid")

    def test_choosing_items_keeps_them_gathered(self) -> None:
        loader = DataLoader(SelectionDataset(DigitsDataset(), [5, 3, 3]), batch_size=2)
        assert [batch.label.tolist() for batch in loader] == [[5, 3], [3]]
        assert [len(batch) for batch in DataLoader(DigitsDataset(), as_list, batch_size=1000)] == [1000, 797]
