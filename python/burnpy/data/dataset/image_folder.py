"""Image files with labels, masks or boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from burnpy.data.dataset.coco import read_coco
from burnpy.data.dataset.dataset import Dataset, check_index
from burnpy.data.dataset.folder import class_indices, classified, files_below, supported
from burnpy.data.dataset.image import Annotation, ImageDatasetItem, Label, MultiLabel, mask_of, read_image

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["ImageFolderDataset"]

EXTENSIONS = {"bmp", "jpg", "jpeg", "png"}
Annotated = tuple[Path, Callable[[], Annotation]]


class ImageFolderDataset(Dataset[ImageDatasetItem]):
    """Images with what is known about them, decoded when they are asked for, each time (extra ``[image]``).

    Pixels have the depth and the channels of the file; nothing is scaled. Pillow reads color images of 16 bits a
    channel as 8 bits, unlike Burn. Unlike Burn: a label that is none of the classes raises at construction.

    Raises:
        OSError: the folder is missing.
        ImageLoaderError: an extension, label or annotation cannot be; later, an image cannot be read.

    Example:
        >>> Path("set/empty").mkdir(parents=True)
        >>> len(ImageFolderDataset.new_classification("set"))
        0

    Source: Burn ``data::dataset::vision::ImageFolderDataset``.
    """

    def __init__(self, items: Iterable[Annotated], classes: Sequence[str]) -> None:
        self.classes = list(classes)
        self._items = list(items)

    @classmethod
    def new_classification(cls, root: PathLike) -> ImageFolderDataset:
        """All images below a folder, sorted by path; the class is the folder an image lies in."""
        return cls.new_classification_with(root, EXTENSIONS)

    @classmethod
    def new_classification_with(cls, root: PathLike, extensions: Iterable[str]) -> ImageFolderDataset:
        """The same with some of the extensions bmp, jpg, jpeg and png."""
        files = files_below(Path(root), supported(extensions, EXTENSIONS))
        return cls.new_classification_with_items(*classified(files))

    @classmethod
    def new_classification_with_items(
        cls, items: Iterable[tuple[PathLike, str]], classes: Sequence[str]
    ) -> ImageFolderDataset:
        """Chosen images with the name of a class each."""
        named = [(Path(path), [label]) for path, label in items]
        labels = [Label(class_indices(label, classes, path)[0]) for path, label in named]
        return cls(
            [(path, partial(_same, label)) for (path, _), label in zip(named, labels, strict=True)], classes
        )

    @classmethod
    def new_multilabel_classification_with_items(
        cls, items: Iterable[tuple[PathLike, Sequence[str]]], classes: Sequence[str]
    ) -> ImageFolderDataset:
        """Chosen images with the names of several classes each."""
        named = [
            (Path(path), MultiLabel(class_indices(labels, classes, Path(path)))) for path, labels in items
        ]
        return cls([(path, partial(_same, labels)) for path, labels in named], classes)

    @classmethod
    def new_segmentation_with_items(
        cls, items: Iterable[tuple[PathLike, PathLike]], classes: Sequence[str]
    ) -> ImageFolderDataset:
        """Chosen images with the image of a mask each, whose values are the numbers of classes."""
        return cls([(Path(path), partial(mask_of, Path(mask))) for path, mask in items], classes)

    @classmethod
    def new_coco_detection(
        cls, annotations_json: PathLike, images_path: PathLike, *, reindex: bool = False
    ) -> ImageFolderDataset:
        """Images with the boxes that a file in COCO's format has for them; without any, an empty list.

        Args:
            annotations_json: the file.
            images_path: the folder of the images.
            reindex: whether labels are the places of categories in the order of their ids, as those of
                ``classes``; without it, as in Burn, the ids themselves.
        """
        found, classes = read_coco(Path(annotations_json), Path(images_path), reindex=reindex)
        return cls([(path, partial(_same, boxes)) for path, boxes in found], classes)

    def __len__(self) -> int:
        return len(self._items)

    def get(self, index: int) -> ImageDatasetItem:
        """The image and its annotation, decoded now."""
        path, annotation = self._items[check_index(index, len(self._items))]
        image = read_image(path)
        height, width, _ = image.array.shape
        return ImageDatasetItem(image, width, height, annotation(), str(path))


def _same(annotation: Annotation) -> Annotation:
    return annotation
