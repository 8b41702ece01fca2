"""What all records share: the way to a file and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self, cast

from burnpy import pack
from burnpy._places import is_remote, place_of
from burnpy.errors import RecordIoError
from burnpy.pack import Reader, Scalar, Writer

if TYPE_CHECKING:
    from burnpy._typing import Place

__all__ = ["Record"]

_INDEX = ".index.json"


class Record:
    """Base of the three kinds of record: burnpacks whose content is known. Nothing in a file says which kind it is.

    Raises:
        RecordIoError: from all methods, if the container is at fault; its error is the ``__cause__``.
        FileNotFoundError, PermissionError, IsADirectoryError: from the system.
    """

    def save(
        self, path: Place, *, overwrite: bool = True, auto_extension: bool = True, durable: bool = True
    ) -> None:
        """Write a file, whole or not at all.

        Args:
            path: where: a path, a URL, a file object; ``.bpk`` is appended to a name without extension.
            overwrite: whether a file that is there is replaced. It may be the one that the record was loaded from.
            auto_extension: whether ``.bpk`` is appended.
            durable: whether to wait until the disk has it.
        """
        place = place_of(path)
        if is_remote(place):
            from burnpy.storage.whole import write_pack

            place = place.with_extension(pack.EXTENSION) if auto_extension else place
            with _told():
                write_pack(self._writer(), place, overwrite=overwrite)
            return
        with _told():
            self._writer().auto_extension(auto_extension).overwrite(overwrite).write_to_file(
                place, durable=durable
            )

    @classmethod
    def load(cls, path: Place, *, auto_extension: bool = True) -> Self:
        """Open a file; tensors are read when they are used, and never copied before they are changed.

        Args:
            path: where; if nothing is there, it is tried with ``.bpk``. The index of a set of files is read as one.
                What comes over a network comes at once, into memory.
            auto_extension: whether it is.
        """
        place = place_of(path)
        with _told():
            if str(place).endswith(_INDEX):
                return cls._read(_set_of(place))
            if is_remote(place):
                from burnpy.storage.whole import or_with_extension, reader_of_all

                found = or_with_extension(reader_of_all, place) if auto_extension else reader_of_all(place)
                return cls._read(found)
            return cls._read(Reader.from_file(place) if auto_extension else Reader.from_file_exact(place))

    def into_bytes(self) -> bytes:
        """The file in memory."""
        with _told():
            return self._writer().into_bytes()

    @classmethod
    def from_bytes(cls, data: Any) -> Self:
        """The record of a file in memory, which is shared and must not change."""
        with _told():
            return cls._read(Reader.from_bytes(data))

    @classmethod
    def expect(cls, record: object) -> Self:
        """The record itself, if it is of this kind.

        Raises:
            TypeError: it is not.
        """
        if not isinstance(record, cls):
            raise TypeError(f"record must be a {cls.__name__}, got {type(record).__name__}")
        return record

    def _writer(self) -> Writer:
        return Writer(*self._content())

    def _content(self) -> tuple[Sequence[pack.Tensor], Mapping[str, str], Mapping[str, Scalar]]:
        """Tensors in the order of the data, metadata and scalars."""
        raise NotImplementedError

    @classmethod
    def _read(cls, reader: Reader) -> Self:
        raise NotImplementedError


def _set_of(index: Place) -> Reader:
    from burnpy._shards import ShardedReader

    files: Any = ShardedReader(index, backend="auto", strict=False, private=False)
    return cast(Reader, files)


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except pack.Error as error:
        raise RecordIoError(str(error)) from error
