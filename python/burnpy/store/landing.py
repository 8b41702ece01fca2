"""Where a conversion's files are written: in place, or beside temporary files and from there to a store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from burnpy._places import is_remote, place_of
from burnpy.store.target import refuse_existing

if TYPE_CHECKING:
    from burnpy._typing import Place
    from burnpy.storage.location import Location
    from burnpy.store.report import ConversionReport

__all__ = ["Landing", "landing"]


class Landing:
    """A path to write to, and the store that its files go to, if it is not their place already.

    Attributes:
        path: where the files are written.
    """

    def __init__(self, path: str, location: Location | None = None) -> None:
        self.path = path
        self._location = location

    def send(self, files: Sequence[str], *, overwrite: bool) -> None:
        """Send files to the store, visible together at the end; nothing where they are in place."""
        location = self._location
        if location is None:
            return
        from burnpy.storage.whole import upload_file

        homes = {file: location.sibling(os.path.basename(file)) for file in files}
        with ExitStack() as stack:
            uploads = [stack.enter_context(upload_file(file, home)) for file, home in homes.items()]
            # The index is the last of the files: a set without it is none.
            for upload in uploads:
                upload.commit(overwrite)

    def publish(self, report: ConversionReport, *, overwrite: bool) -> None:
        """Send the files of a report to the store, visible together at the end, and name them there."""
        location = self._location
        if location is None:
            return
        homes = {file: location.sibling(os.path.basename(file)) for file in report.files}
        if not report.dry_run:
            self.send(report.files, overwrite=overwrite)
        report.files = [str(home) for home in homes.values()]
        report.destination = str(location.sibling(os.path.basename(report.destination)))


@contextmanager
def landing(dst: Place, *, overwrite: bool) -> Iterator[Landing]:
    """The landing of a destination.

    Raises:
        AlreadyExists: something is in the store, and ``overwrite`` is off.
    """
    place = place_of(dst)
    if not is_remote(place):
        yield Landing(os.fspath(place))
        return
    if not overwrite:
        refuse_existing(place)
    with TemporaryDirectory(prefix="burnpy-") as folder:
        yield Landing(os.path.join(folder, place.name), place)
