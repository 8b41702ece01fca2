"""Records of schedulers: scalars by name, their byte form, and what a load could not use."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import burnpy.numpy
from burnpy import Tensor
from burnpy.errors import (
    AlreadyExists,
    InvalidMagicNumber,
    RecordIoError,
    RecordValidationError,
    RecordWarning,
)
from burnpy.pack import Reader, Scalar
from burnpy.record import Float, Int, LrSchedulerRecord, RecordState, UInt
from tests.paths import GOLDEN

FOLDER = GOLDEN / "burn" / "schedulers"


class Counter(RecordState):
    step: UInt
    rate: Float | None = None


class Signed(RecordState):
    iter_idx: Int


class Tensors(RecordState):
    t: Tensor


def test_a_fresh_linear_schedule_has_burns_bytes() -> None:
    record = LrSchedulerRecord().with_record("0", LrSchedulerRecord().with_scalar("remaining_iters", 10))
    data = record.into_bytes()
    assert len(data) == 256
    assert (
        hashlib.sha256(data).hexdigest() == "77c0c7f59cdb1701efefaacfe90f782e38065e50a0dea1b270ad15100c9c5c41"
    )


@pytest.mark.golden
def test_every_record_of_burns_is_written_again_to_the_same_bytes(tmp_path: Path) -> None:
    files = json.loads((FOLDER / "manifest.json").read_text())["files"]
    assert len(files) > 50
    for name, told in files.items():
        if told["tensors"] or told["metadata"]:
            continue
        record = LrSchedulerRecord.load(FOLDER / name)
        record.save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == (FOLDER / name).read_bytes(), name
        (kinds,) = [{key: {scalar.kind: scalar.value} for key, scalar in record.scalars().items()}]
        assert kinds.keys() == told["scalars"].keys(), name
        for key, wanted in told["scalars"].items():
            assert list(kinds[key]) == [kind for kind in wanted if kind != "bits"], (name, key)


def test_parts_are_put_under_a_prefix_and_found_there() -> None:
    inner = LrSchedulerRecord().with_scalar("current_iter", 2**64 - 1)
    record = LrSchedulerRecord().with_scalar("step", 4).with_record("1", inner).with_record("10", inner)
    assert set(record.scalars()) == {"step", "1.current_iter", "10.current_iter"}
    assert record.record("1").scalars() == {"current_iter": Scalar.uint(2**64 - 1)}
    assert record.record("").is_empty() and record.record("current_iter").is_empty()


def test_a_scalar_that_is_missing_or_does_not_fit_is_none() -> None:
    record = LrSchedulerRecord({"a": Scalar.int_(-1), "b": 1.5, "c": True})
    assert (record.scalar("a"), record.scalar("a", "i64"), record.scalar("a", "u64")) == (-1, -1, None)
    assert (record.scalar("b", "f64"), record.scalar("b", "i64"), record.scalar("c", "bool")) == (
        1.5,
        None,
        True,
    )
    assert record.scalar("d") is None and record.scalar("d", "u64") is None


def test_a_state_goes_in_and_comes_out() -> None:
    record = LrSchedulerRecord.from_state(Counter(3, 0.5))
    assert record.scalars() == {"step": Scalar.uint(3), "rate": Scalar.float_(0.5)}
    back = record.into_state(Counter)
    assert back is not None and (back.step, back.rate) == (3, 0.5)
    assert LrSchedulerRecord.from_state(Signed(-1)).scalars() == {"iter_idx": Scalar.int_(-1)}
    record.warn_of_unread(strict=True)


def test_a_state_with_tensors_is_refused() -> None:
    with pytest.raises(ValueError, match="no tensors, got t"):
        LrSchedulerRecord.from_state(Tensors(Tensor([1.0])))


def test_what_was_not_read_is_told() -> None:
    record = LrSchedulerRecord({"0.step": 3, "0.extra": 1, "1.iter_idx": 1.5, "2.step": 1})
    assert record.record("0").into_state(Counter) is not None
    assert record.record("1").into_state(Signed) is None
    with pytest.warns(RecordWarning, match=r"not restored: 1 \(Signed\); unused: 0.extra, 2.step"):
        record.warn_of_unread()
    assert record.record("0").into_state(Counter) is not None
    with pytest.raises(RecordValidationError, match=r"record: unused: 0.extra, 1.iter_idx, 2.step"):
        record.warn_of_unread(strict=True)


def test_a_copy_is_independent() -> None:
    record = LrSchedulerRecord({"a": 1})
    copy = record.clone().with_scalar("b", 2)
    assert (len(record), len(copy), copy.scalar("a")) == (1, 2, 1)


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(TypeError, match="key must be a text, got 3"):
        LrSchedulerRecord().with_scalar(3, 1)  # type: ignore[arg-type]


def test_tensors_and_metadata_of_a_file_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mixed.bpk"
    burnpy.numpy.save_file({"w": np.ones(1)}, path, {"note": "x"}, scalars={"step": 3})
    record = LrSchedulerRecord.load(path)
    assert record.scalars() == {"step": Scalar.uint(3)}
    again = Reader.from_bytes(record.into_bytes())
    assert (len(again), again.metadata()) == (0, {})


# What all records share: files.


def test_bpk_is_appended_and_a_file_is_replaced(tmp_path: Path) -> None:
    for number in (1, 2):
        LrSchedulerRecord({"a": number}).save(tmp_path / "state")
    assert [path.name for path in tmp_path.iterdir()] == ["state.bpk"]
    assert LrSchedulerRecord.load(tmp_path / "state").scalar("a") == 2
    LrSchedulerRecord({"a": 3}).save(tmp_path / "state", auto_extension=False)
    assert LrSchedulerRecord.load(tmp_path / "state", auto_extension=False).scalar("a") == 3


def test_a_file_is_not_replaced_if_that_is_asked_for(tmp_path: Path) -> None:
    LrSchedulerRecord({"a": 1}).save(tmp_path / "state")
    with pytest.raises(RecordIoError, match="overwriting is off") as caught:
        LrSchedulerRecord({"a": 2}).save(tmp_path / "state", overwrite=False)
    assert isinstance(caught.value.__cause__, AlreadyExists)
    assert LrSchedulerRecord.load(tmp_path / "state").scalar("a") == 1


def test_faults_of_a_container_are_the_cause_and_missing_files_pythons_own(tmp_path: Path) -> None:
    (tmp_path / "text.bpk").write_bytes(b"this is no burnpack at all")
    with pytest.raises(RecordIoError) as caught:
        LrSchedulerRecord.load(tmp_path / "text")
    assert isinstance(caught.value.__cause__, InvalidMagicNumber)
    with pytest.raises(RecordIoError):
        LrSchedulerRecord.from_bytes(b"abc")
    with pytest.raises(FileNotFoundError):
        LrSchedulerRecord.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError):
        LrSchedulerRecord.load(tmp_path)
