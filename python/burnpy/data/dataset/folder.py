"""Files below a folder, whose folders are their classes."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from burnpy.errors import ImageLoaderError

__all__ = ["class_indices", "classified", "files_below", "supported"]


def files_below(root: Path, extensions: Collection[str], *, is_exact_case: bool = False) -> list[Path]:
    """All files with one of the extensions, in folders of folders too, sorted by path; links are followed.

    Raises:
        OSError: the root is missing or no folder, or a folder below cannot be read.
    """
    found: list[Path] = []
    seen: set[tuple[int, int]] = set()
    with os.scandir(root):
        pass  # the system's own error for the root

    def _raise(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, followlinks=True, onerror=_raise):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()  # a link to a folder above: a circle
            continue
        seen.add((status.st_dev, status.st_ino))
        for name in names:
            extension = Path(name).suffix.removeprefix(".")
            if (extension if is_exact_case else extension.lower()) in extensions:
                found.append(Path(folder, name))
    return sorted(found)


def classified(files: Iterable[Path]) -> tuple[list[tuple[Path, str]], list[str]]:
    """Each file with the name of the folder it lies in, and these names, sorted.

    Example:
        >>> classified([Path("set/red/a.png"), Path("set/blue/b.png")])[1]
        ['blue', 'red']
    """
    items = [(path, path.parent.name) for path in files]
    return items, sorted({label for _, label in items})


def class_indices(labels: Sequence[str], classes: Sequence[str], path: Path) -> list[int]:
    """The places of labels among the classes.

    Raises:
        ImageLoaderError: a label is none of the classes.
    """
    places = {name: place for place, name in enumerate(classes)}
    for label in labels:
        if label not in places:
            raise ImageLoaderError(
                f"{path}: label {label!r} is none of the classes {list(classes)}",
                kind="Unknown",
                path=str(path),
            )
    return [places[label] for label in labels]


def supported(extensions: Iterable[str], known: Collection[str], *, is_exact_case: bool = False) -> set[str]:
    """The extensions as they are compared.

    Raises:
        ImageLoaderError: one is not among the known ones.
    """
    asked = {one if is_exact_case else one.lower() for one in extensions}
    for extension in sorted(asked - set(known)):
        raise ImageLoaderError(
            f"extension {extension!r} is none of {', '.join(sorted(known))}", kind="InvalidFileExtensionError"
        )
    return asked
