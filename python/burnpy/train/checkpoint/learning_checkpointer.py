"""Saves and restores whole sets."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from burnpy._places import is_remote, place_of
from burnpy.record import LrSchedulerRecord, ModuleRecord, OptimizerRecord
from burnpy.storage import Cache
from burnpy.train.checkpoint.background import Background
from burnpy.train.checkpoint.checkpoint_set import (
    PARTS,
    CheckpointSet,
    check_fingerprints,
    part_path,
    step_keys,
)
from burnpy.train.checkpoint.checkpointer import (
    FileCheckpointer,
    SharedRecord,
    below,
    describe,
    file_name,
)
from burnpy.train.checkpoint.fingerprint import FingerprintingStorage, fingerprints
from burnpy.train.checkpoint.trainer_record import TrainerRecord

if TYPE_CHECKING:
    from burnpy._typing import Place
    from burnpy.storage import Location
    from burnpy.train.checkpoint.checkpointer import Checkpointer
    from burnpy.train.learner import Learner

__all__ = ["LearningCheckpointer", "Snapshot"]

_LOG = logging.getLogger("burnpy.train")
_KINDS: dict[str, type[Any]] = {
    "model": ModuleRecord,
    "optim": OptimizerRecord,
    "scheduler": LrSchedulerRecord,
}


@dataclass
class Snapshot:
    """The state of a run at one moment; memory is shared with the run until that goes on.

    Attributes:
        records: by part: model, optim, scheduler.
        trainer: the fourth file.
    """

    records: dict[str, Any]
    trainer: TrainerRecord

    @classmethod
    def of(cls, learner: Learner, trainer: TrainerRecord) -> Snapshot:
        """That of a learner now."""
        records = {
            "model": learner.model.into_record(),
            "optim": learner.optim.to_record(),
            "scheduler": learner.lr_scheduler.to_record(),
        }
        return cls(records, trainer)


class LearningCheckpointer:
    """Keeps sets of a model, an optimizer and a scheduler in a folder, with a trainer file that marks each complete.

    Sets are written in the background, one at a time: the three records, then the trainer file; only then is deleted
    what the strategy gave up. A set of the middle of an epoch goes once a later set is complete.

    Args:
        folder: of the trainer files, and of the records where no other checkpointers are given; or a URL, or a place of
            ``burnpy.storage.at``.
        checkpointers: for model, optimizer and scheduler.
        before_mark: called before a trainer file is written, for what else a set needs.

    Attributes:
        share: has several ranks write the optimizer's record, as a set of files whose index is beside the path; at
            once, and not in the background. Only in a folder that is no URL, and without other checkpointers.

    Source: Burn ``train::LearningCheckpointer``.
    """

    def __init__(
        self,
        folder: Place,
        checkpointers: tuple[Checkpointer, Checkpointer, Checkpointer] | None = None,
        *,
        before_mark: Callable[[], object] = lambda: None,
    ) -> None:
        place = place_of(folder)
        self.folder: Path | Location = place if is_remote(place) else Path(place)
        self._sent = FingerprintingStorage(place.storage) if is_remote(place) else None
        self._parts = dict(zip(PARTS, checkpointers, strict=True)) if checkpointers else self._own_parts()
        self._own = checkpointers is None
        self._trainer = FileCheckpointer(self.folder, "trainer")
        self._before_mark = before_mark
        self._background = Background("burnpy-checkpoint")
        self._failed = False
        self.share: Callable[[Path, Any], None] | None = None

    def _own_parts(self) -> dict[str, Checkpointer]:
        folder = self.folder
        if self._sent is not None and not isinstance(folder, Path):
            folder = replace(folder, storage=self._sent)
        return {part: FileCheckpointer(folder, part) for part in PARTS}

    def begin(self) -> None:
        """A run begins: failures of an earlier one are over."""
        self._failed = False

    def save(
        self,
        key: int | str,
        snapshot: Snapshot,
        delete: Sequence[int] = (),
        on_error: Callable[[Exception], None] | None = None,
    ) -> None:
        """Start to write a set, and to delete others after it; waits for the work before.

        Args:
            key: the epoch, or ``"step-<n>"``.
            snapshot: what is written.
            delete: epochs.
            on_error: is told what fails, in the background; without it, the next call raises that.
        """

        def work() -> None:
            self._write(key, snapshot)
            self._clean(key, delete)

        if isinstance(self.folder, Path) and self.share is not None and self._own and not self._failed:
            try:
                self._share(self.folder / file_name("optim", key), key, snapshot)
            except Exception as error:
                self._failed = True
                if on_error is None:
                    raise
                on_error(error)
        self._submit(work, on_error)

    def _share(self, path: Path, key: int | str, snapshot: Snapshot) -> None:
        assert self.share is not None, "asked for above"
        self._background.join()
        self._trainer.delete(key)
        self.share(path, snapshot.records["optim"])
        snapshot.records["optim"] = SharedRecord()

    def _submit(self, work: Callable[[], None], on_error: Callable[[Exception], None] | None) -> None:
        def run() -> None:
            try:
                work()
            except Exception as error:
                self._failed = True
                if on_error is None:
                    raise
                on_error(error)

        self._background.join()
        # What a failed set was to replace is the best that there is: nothing is deleted from then on.
        if not self._failed:
            self._background.submit(run)

    def delete(self, epochs: Sequence[int], on_error: Callable[[Exception], None] | None = None) -> None:
        """Start to delete sets, as :meth:`save`."""

        def work() -> None:
            for epoch in epochs:
                self._delete(epoch)

        self._submit(work, on_error)

    def _write(self, key: int | str, snapshot: Snapshot) -> None:
        # An older set of this key is incomplete from the moment on in which one of its files changes.
        self._trainer.delete(key)
        files = {}
        for part in PARTS:
            self._parts[part].save(key, snapshot.records[part])
            if self._own:
                files[part] = self._fingerprints(part_path(self.folder, part, key))
        snapshot.trainer.plain["files"] = files
        self._before_mark()
        self._trainer.save(key, snapshot.trainer)

    def _fingerprints(self, path: Path | Location) -> dict[str, Any]:
        if self._sent is None or isinstance(path, Path):
            return fingerprints(path)
        return self._sent.sent.pop(path.key)

    def _clean(self, key: int | str, delete: Sequence[int]) -> None:
        for old in delete:
            self._delete(old)
        self._delete_steps([step for step in step_keys(self.folder) if step != key])

    def _delete_steps(self, steps: Sequence[str]) -> None:
        for step in steps:
            self._delete(step)
            _remove_all(below(self.folder, step))

    def clear_steps_before(self, found: CheckpointSet) -> None:
        """Delete sets of the middle of an epoch that a complete set is later than.

        A process that is killed between writing a set and deleting those before it leaves them. What cannot be deleted
        stays, with a warning.
        """
        if found.trainer is None:
            return
        done, _ = found.steps()
        try:
            steps = [step for step in step_keys(self.folder) if step != found.key]
            self._delete_steps([step for step in steps if int(step.removeprefix("step-")) <= done])
        except Exception as error:
            _LOG.warning("checkpoints before %s stay in %s: %s", describe(found.key), self.folder, error)

    def _delete(self, key: int | str) -> None:
        # The mark first: what is left after a crash is no set.
        self._trainer.delete(key)
        for part in self._parts.values():
            part.delete(key)

    def join(self) -> None:
        """Wait until all is written.

        Raises:
            OSError, RecordError: the last set could not be written.
        """
        self._background.join()

    def load(self, learner: Learner, found: CheckpointSet) -> None:
        """Restore the three records of a complete set, after all files were compared with its trainer file.

        Raises:
            CheckpointerError: a file is of another set.
            RecordError: a record does not fit; the learner's model is as it was.
        """
        if not self._own:
            self.load_records(learner, found.key)
            return
        with self._nearby() as folder:
            check_fingerprints(folder, found)
            self._load_records(learner, found.key, {part: FileCheckpointer(folder, part) for part in PARTS})

    @contextmanager
    def _nearby(self) -> Iterator[Path | Location]:
        """The folder; of one elsewhere, what is read is kept here meanwhile, so that it comes once for both uses."""
        folder = self.folder
        if isinstance(folder, Path) or folder.cache is not None:
            yield folder
            return
        # On Windows the files of records that are in use stay until the system clears its folder.
        with TemporaryDirectory(prefix="burnpy-", ignore_cleanup_errors=True) as scratch:
            yield replace(folder, cache=Cache(scratch))

    def load_records(self, learner: Learner, key: int | str) -> None:
        """Restore the three records of a key, whatever the trainer file says, as Burn does.

        Raises:
            RecordError: a record does not fit; the learner is as it was.
        """
        self._load_records(learner, key, self._parts)

    def _load_records(self, learner: Learner, key: int | str, parts: Mapping[str, Checkpointer]) -> None:
        records = {part: parts[part].restore(key, _KINDS[part]) for part in PARTS}
        before = (learner.model.into_record(), learner.optim.to_record())
        learner.load_model(records["model"])
        try:
            learner.load_optim(records["optim"])
            learner.load_scheduler(records["scheduler"])
        except Exception:
            learner.load_model(before[0])
            learner.load_optim(before[1])
            raise
        _LOG.info("restored the checkpoint of %s from %s", describe(key), self.folder)


def _remove_all(folder: Path | Location) -> None:
    if isinstance(folder, Path):
        shutil.rmtree(folder, ignore_errors=True)
        return
    for name in folder.files():
        folder.child(name).delete()
