"""Images as items, and what is known about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from burnpy.errors import ImageLoaderError

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Annotation",
    "BoundingBox",
    "BoundingBoxes",
    "ImageDatasetItem",
    "Label",
    "MultiLabel",
    "PixelData",
    "SegmentationMask",
    "read_image",
]

KINDS = {"uint8": "U8", "uint16": "U16", "float32": "F32"}
# What Pillow calls a mode, and what it becomes; all else is refused.
MODES = {"1": "L", "L": "L", "LA": "LA", "RGB": "RGB", "RGBA": "RGBA", "I;16": None, "I;16B": None, "F": None}


class PixelData:
    """The pixels of an image: row by row, channels side by side, as they are in the file.

    Example:
        >>> import numpy as np
        >>> pixels = PixelData(np.array([[[1, 2, 3]]], np.uint8))
        >>> pixels.kind, len(pixels), list(pixels), pixels.array.shape
        ('U8', 3, [1, 2, 3], (1, 1, 3))

    Source: Burn ``data::dataset::vision::PixelDepth``, a list of them.
    """

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        """All values, ``(height, width, channels)``."""
        self.kind = KINDS[array.dtype.name]
        """``"U8"``, ``"U16"`` or ``"F32"``."""

    def to(self, kind: str) -> list[Any]:
        """The values as a flat list, if they are of that kind; else ``ImageLoaderError``."""
        if kind != self.kind:
            raise ImageLoaderError(f"pixels are {self.kind}, not {kind}", kind="Unknown")
        return list(self)

    def is_empty(self) -> bool:
        """Whether there is no pixel."""
        return len(self) == 0

    def __len__(self) -> int:
        return int(self.array.size)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.reshape(-1).tolist())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PixelData):
            return NotImplemented
        same = self.array.shape == other.array.shape and self.kind == other.kind
        return same and self.array.tobytes() == other.array.tobytes()

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Label:
    """The number of the image's class."""

    index: int


@dataclass(frozen=True)
class MultiLabel:
    """The numbers of the image's classes."""

    indices: list[int]


@dataclass(frozen=True)
class SegmentationMask:
    """A number for each pixel, row by row."""

    mask: list[int]


@dataclass(frozen=True)
class BoundingBox:
    """``[x_min, y_min, width, height]`` in pixels, and the category that the annotation names."""

    coords: list[float]
    label: int


@dataclass(frozen=True)
class BoundingBoxes:
    """The objects in an image."""

    boxes: list[BoundingBox]


Annotation: TypeAlias = Label | MultiLabel | SegmentationMask | BoundingBoxes


@dataclass(frozen=True)
class ImageDatasetItem:
    """An image with what is known about it.

    Source: Burn ``data::dataset::vision::ImageDatasetItem``.
    """

    image: PixelData
    image_width: int
    image_height: int
    annotation: Annotation
    image_path: str


def read_image(path: Path) -> PixelData:
    """The pixels of an image file with the channels it has: 1, 2, 3 or 4. A palette becomes RGB or RGBA.

    Raises:
        ImageLoaderError: the file cannot be read (``IOError``) or decoded (``Unknown``).
        ImportError: Pillow is not installed.
    """
    try:
        import numpy as np
        from PIL import Image
    except ImportError as error:
        raise ImportError("reading images needs Pillow: pip install burnpy[image]") from error
    try:
        with Image.open(path) as image:
            array = np.array(_native(image))
    except Exception as error:  # Pillow raises whatever a damaged file leads to
        kind = "IOError" if isinstance(error, FileNotFoundError | PermissionError) else "Unknown"
        raise ImageLoaderError(f"{path}: {error}", kind=kind, path=str(path)) from error
    if array.dtype.name not in KINDS:
        array = array.astype(array.dtype.newbyteorder("="))
    return PixelData(array.reshape(*array.shape[:2], -1))


def _native(image: Any) -> Any:
    if image.mode == "P":
        return image.convert("RGBA" if "transparency" in image.info else "RGB")
    if image.mode not in MODES:
        raise ValueError(f"images of color type {image.mode} are not supported")
    mode = MODES[image.mode]
    return image if mode is None else image.convert(mode)


def mask_of(path: Path) -> SegmentationMask:
    """The values of a mask: of a grey image, or the first channel of an RGB image."""
    pixels = read_image(path)
    if pixels.array.shape[2] not in (1, 3):
        raise ImageLoaderError(
            f"{path}: a mask has 1 or 3 channels, this one {pixels.array.shape[2]}",
            kind="Unknown",
            path=str(path),
        )
    values: Sequence[int] = pixels.array[:, :, 0].reshape(-1).tolist()
    return SegmentationMask(list(values))
