"""Annotations in COCO's format: boxes in images."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from burnpy.data.dataset.image import BoundingBox, BoundingBoxes
from burnpy.errors import ImageLoaderError

__all__ = ["read_coco"]


def read_coco(
    annotations: Path, images: Path, *, reindex: bool = False
) -> tuple[list[tuple[Path, BoundingBoxes]], list[str]]:
    """Each image with its boxes, in the order of the file, and the names of the categories in order of their ids.

    Raises:
        ImageLoaderError: a file is missing (``IOError``); a part is missing or of another form (``ParsingError``).
    """
    found = _Parts(annotations, _load(annotations))
    names = {category["id"]: category["name"] for category in found.list("categories", id=int, name=str)}
    if not names or not all(names.values()):
        raise found.error("categories are missing, or have no name")
    places = {label: place if reindex else label for place, label in enumerate(sorted(names))}
    boxes: dict[int, list[BoundingBox]] = {}
    for each in found.list("annotations", image_id=int, category_id=int, bbox=list):
        if each["category_id"] not in names:
            raise found.error(f"an annotation has category_id {each['category_id']}, which is no category")
        box = BoundingBox(_coords(found, each["bbox"]), places[each["category_id"]])
        boxes.setdefault(each["image_id"], []).append(box)
    listed = found.list("images", id=int, file_name=str)
    paths = [images / image["file_name"] for image in listed]
    for path in paths:
        if not path.is_file():
            raise ImageLoaderError(f"{annotations}: there is no image {path}", kind="IOError", path=str(path))
    both = zip(paths, listed, strict=True)
    items = [(path, BoundingBoxes(boxes.get(image["id"], []))) for path, image in both]
    return items, [names[label] for label in sorted(names)]


def _load(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ImageLoaderError(str(error), kind="IOError", path=str(path)) from error
    except (ValueError, RecursionError) as error:
        raise ImageLoaderError(f"{path}: {error}", kind="ParsingError", path=str(path)) from error


class _Parts:
    """The lists of a file, with fields of the right types."""

    def __init__(self, path: Path, content: Any) -> None:
        self._path = path
        self._content = content if isinstance(content, dict) else {}

    def list(self, name: str, /, **fields: type) -> list[dict[str, Any]]:
        entries = self._content.get(name)
        if not isinstance(entries, list):
            raise self.error(f"there is no list {name!r}")
        for place, entry in enumerate(entries):
            for field, kind in fields.items():
                value = entry.get(field) if isinstance(entry, dict) else None
                if not isinstance(value, kind) or isinstance(value, bool):
                    raise self.error(
                        f"{name}[{place}].{field} must be of type {kind.__name__}, got {value!r}"
                    )
        return entries

    def error(self, text: str) -> ImageLoaderError:
        return ImageLoaderError(f"{self._path}: {text}", kind="ParsingError", path=str(self._path))


def _coords(found: _Parts, bbox: Any) -> list[float]:
    """The first four numbers, rounded to single precision, as Burn keeps them."""
    numbers = [one for one in bbox[:4] if isinstance(one, int | float) and not isinstance(one, bool)]
    try:
        return list(struct.unpack("<4f", struct.pack("<4f", *numbers)))
    except (struct.error, OverflowError):
        raise found.error(f"a bbox must have 4 numbers, got {bbox!r}") from None
