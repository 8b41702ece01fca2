"""Text files, whose folders are their classes."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from burnpy.data.dataset.dataset import Dataset, check_index
from burnpy.data.dataset.folder import class_indices, classified, files_below, supported
from burnpy.errors import DatasetError

if TYPE_CHECKING:
    from burnpy._typing import PathLike

__all__ = ["TextData", "TextDatasetItem", "TextFolderDataset"]

EXTENSIONS = {"txt"}


@dataclass(frozen=True)
class TextData:
    """A text and the path of its file."""

    text: str
    text_path: str


@dataclass(frozen=True)
class TextDatasetItem:
    """A text and the number of its class."""

    text: TextData
    label: int


class TextFolderDataset(Dataset[TextDatasetItem]):
    """Text files with a class each, read when they are asked for.

    A text is decoded as UTF-8, with or without byte order mark; else as UTF-16 if it has a mark; else as GB18030, of
    which GBK is a part; else as UTF-8 with replacement characters.

    Example:
        >>> for name, text in ("bad/1.txt", "no"), ("good/1.txt", "yes"):
        ...     Path("texts", name).parent.mkdir(parents=True)
        ...     _ = Path("texts", name).write_text(text)
        >>> dataset = TextFolderDataset.new_classification("texts")
        >>> dataset.classes, [(item.text.text, item.label) for item in dataset]
        (['bad', 'good'], [('no', 0), ('yes', 1)])

    Source: Burn ``data::dataset::nlp::TextFolderDataset``.
    """

    def __init__(self, items: Iterable[tuple[PathLike, str]], classes: Sequence[str]) -> None:
        self.classes = list(classes)
        named = [(Path(path), label) for path, label in items]
        self._items = [(path, class_indices([label], self.classes, path)[0]) for path, label in named]

    @classmethod
    def new_classification(cls, root: PathLike) -> TextFolderDataset:
        """All ``.txt`` files below a folder, sorted by path; the class is the folder a file lies in."""
        return cls.new_classification_with(root, EXTENSIONS)

    @classmethod
    def new_classification_with(cls, root: PathLike, extensions: Iterable[str]) -> TextFolderDataset:
        """The same with some extensions only; Burn knows ``txt`` alone."""
        wanted = supported(extensions, EXTENSIONS, is_exact_case=True)
        return cls(*classified(files_below(Path(root), wanted, is_exact_case=True)))

    @classmethod
    def new_classification_with_items(
        cls, items: Iterable[tuple[PathLike, str]], classes: Sequence[str]
    ) -> TextFolderDataset:
        """Chosen files with the names of their classes.

        Unlike Burn: a label that is none of the classes raises here.
        """
        return cls(items, classes)

    def __len__(self) -> int:
        return len(self._items)

    def get(self, index: int) -> TextDatasetItem:
        """The text, read now."""
        path, label = self._items[check_index(index, len(self._items))]
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DatasetError(f"item {index}: {error}", kind="IOError", path=str(path)) from error
        return TextDatasetItem(TextData(_decoded(data), str(path)), label)


def _decoded(data: bytes) -> str:
    encodings = ["utf-8-sig"]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings.append("utf-16")
    for encoding in [*encodings, "gb18030"]:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("utf-8", errors="replace")
