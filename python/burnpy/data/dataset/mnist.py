"""Small grey images of ten classes: MNIST, Fashion-MNIST, and the digits that come with burnpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from burnpy._core import Device, Tensor
from burnpy.data.dataset.arrays import TensorDataset
from burnpy.data.dataset.cache import cache_dir
from burnpy.data.dataset.idx import read_idx
from burnpy.errors import DatasetError

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["DigitsDataset", "FashionMnistDataset", "MnistDataset", "MnistItem"]

# The files of a split, and how many items they may have.
FILES = {"train": ("train", 60_000), "test": ("t10k", 10_000)}


@dataclass(frozen=True)
class MnistItem:
    """An image, ``(height, width)`` of f32 with the values of the file, and its label; of a batch, one more axis.

    Source: Burn ``data::dataset::vision::MnistItem``.
    """

    image: Tensor
    label: Any


class _Images(TensorDataset):
    """Images as bytes, ``(items, height, width)``, and labels; items have f32, made when they are asked for."""

    def __init__(self, images: Any, labels: Any) -> None:
        super().__init__(image=images, label=labels, item=_item)


def _item(image: Tensor, label: Tensor) -> MnistItem:
    # A single label is a number; those of a batch are a tensor.
    return MnistItem(image.cast("f32"), label if label.ndim else label.item())


class MnistDataset(_Images):
    """MNIST from its four files, as they are or gzipped.

    Items are :class:`MnistItem` with values from 0 to 255. Batches are gathered as bytes: 47 MB hold the training set,
    and ``items.columns["image"]`` is of u8. Unlike Burn, nothing is downloaded.

    Args:
        images: the file of images.
        labels: the file of labels.
        max_items: the largest number of items that is believed.

    Raises:
        FileNotFoundError: a file is missing.
        DatasetError: a file is damaged, or the two do not fit together.

    Example:
        >>> MnistDataset.train("/nowhere")
        Traceback (most recent call last):
        FileNotFoundError: no train-images-idx3-ubyte or train-images-idx3-ubyte.gz in /nowhere

    Source: Burn ``data::dataset::vision::MnistDataset``.
    """

    hint: ClassVar[str] = ""

    def __init__(self, images: PathLike, labels: PathLike, *, max_items: int | None = None) -> None:
        pixels, numbers = read_idx(images, max_items=max_items), read_idx(labels, max_items=max_items)
        if pixels.ndim != 3 or numbers.ndim != 1 or len(pixels) != len(numbers):
            raise DatasetError(
                f"images of shape {pixels.shape} and labels of shape {numbers.shape} do not fit: {images}, {labels}",
                kind="Idx",
                path=str(images),
            )
        super().__init__(pixels, numbers)

    @classmethod
    def train(cls, folder: PathLike | None = None) -> Self:
        """The 60 000 images to learn from."""
        return cls._split("train", folder)

    @classmethod
    def test(cls, folder: PathLike | None = None) -> Self:
        """The 10 000 images to test with."""
        return cls._split("test", folder)

    @classmethod
    def folder(cls, split: str) -> Path:
        """Where the files of a split are looked for: where Burn keeps what it downloaded."""
        return cache_dir() / "mnist" / split

    @classmethod
    def _split(cls, split: str, folder: PathLike | None) -> Self:
        prefix, max_items = FILES[split]
        where = cls.folder(split) if folder is None else Path(folder)
        names = f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"
        return cls(*(cls._find(where, name) for name in names), max_items=max_items)

    @classmethod
    def _find(cls, folder: Path, name: str) -> Path:
        for path in folder / name, folder / f"{name}.gz":
            if path.exists():
                return path
        raise FileNotFoundError(f"no {name} or {name}.gz in {folder}{cls.hint}")


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST: ten kinds of clothes in the format of MNIST; by default from Debian's ``dataset-fashion-mnist``.

    Example:
        >>> FashionMnistDataset.folder("train").as_posix()
        '/usr/share/datasets/fashion-mnist'
    """

    classes: ClassVar[Sequence[str]] = (
        "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
    )  # fmt: skip
    hint = "; on Debian and Ubuntu: apt-get install dataset-fashion-mnist"

    @classmethod
    def folder(cls, split: str) -> Path:
        """Where the files are looked for: where the Debian package puts them."""
        return Path("/usr/share/datasets/fashion-mnist")


class DigitsDataset(_Images):
    """1797 handwritten digits, 8 × 8 with values from 0 to 16: a small data set that is always there.

    Items are :class:`MnistItem`. :meth:`train` has the first 1437, :meth:`test` the last 360.

    Example:
        >>> digits = DigitsDataset()
        >>> len(digits), digits.get(3).image.shape, digits.get(3).label
        (1797, (8, 8), 3)
        >>> len(DigitsDataset.train()), len(DigitsDataset.test())
        (1437, 360)

    Source: E. Alpaydin, C. Kaynak (1998), "Optical Recognition of Handwritten Digits", the test set, UCI Machine
    Learning Repository, https://doi.org/10.24432/C50P49, licence CC BY 4.0; the values are as there, packed as IDX.
    """

    SIZES: ClassVar[dict[str, tuple[int, int]]] = {"all": (0, 1797), "train": (0, 1437), "test": (1437, 1797)}

    def __init__(self, split: str = "all") -> None:
        if split not in self.SIZES:
            raise ValueError(f"split must be one of {', '.join(self.SIZES)}, got {split!r}")
        start, end = self.SIZES[split]
        # Each row is an image and, last, its label.
        rows = Tensor.from_numpy(read_idx(Path(__file__).with_name("digits.idx.gz")), device=Device.cpu())[
            start:end
        ]
        super().__init__(rows[:, :64].reshape(end - start, 8, 8), rows[:, 64])

    @classmethod
    def train(cls) -> DigitsDataset:
        """The first 1437."""
        return cls("train")

    @classmethod
    def test(cls) -> DigitsDataset:
        """The last 360."""
        return cls("test")
