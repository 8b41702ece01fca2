"""Records of optimizers: names and bytes, what is restored, and what is told."""

from __future__ import annotations

import contextlib
import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import burnpy.numpy
from burnpy import Device, Tensor
from burnpy.errors import RecordError, RecordValidationError, RecordWarning
from burnpy.module import ParamId
from burnpy.pack import Scalar
from burnpy.record import Float, LrSchedulerRecord, ModuleRecord, OptimizerRecord, RecordState, UInt
from tests.paths import GOLDEN

FOLDER = GOLDEN / "burn" / "optim"


class Moments(RecordState):
    time: UInt
    moment_1: Tensor
    moment_2: Tensor
    max_moment_2: Tensor | None = None


class Adam(RecordState):
    momentum: Moments


class Velocity(RecordState):
    velocity: Tensor


class Sgd(RecordState):
    momentum: Velocity | None = None


class Lion(RecordState):
    momentum: Tensor


class History(RecordState):
    history_s: list[Tensor]
    t: Float | None
    g_iter: UInt


class Reserved(RecordState):
    __rank: UInt


def _adam(size: int = 2, time: int = 1) -> Adam:
    return Adam(Moments(time, Tensor([0.05, -0.1][:size]), Tensor([0.00025, 0.001][:size])))


def _record() -> OptimizerRecord:
    return OptimizerRecord.from_states(
        [(ParamId(22), "bias", 1, _adam()), (ParamId(11), None, 1, _adam(1, 4))]
    )


def _changed(record: OptimizerRecord, tmp_path: Path, change: Any) -> OptimizerRecord:
    """The record of a file that differs in its scalars."""
    scalars = record.scalars()
    change(scalars)
    with burnpy.safe_open(_saved(record, tmp_path)) as file:
        tensors = dict(file.items())
        ids = {name: file.info(name).param_id for name in tensors}
        burnpy.numpy.save_file(
            tensors, tmp_path / "changed.bpk", file.metadata(), scalars=scalars,
            param_ids={name: id for name, id in ids.items() if id is not None},
        )  # fmt: skip
    return OptimizerRecord.load(tmp_path / "changed.bpk")


def _saved(record: OptimizerRecord, tmp_path: Path) -> Path:
    record.save(tmp_path / "state.bpk")
    return tmp_path / "state.bpk"


# Content.


def test_the_state_of_adam_has_burns_bytes() -> None:
    record = OptimizerRecord.from_states([(ParamId(7), "weight", 1, _adam())])
    data = record.into_bytes()
    assert len(data) == 520
    assert (
        hashlib.sha256(data).hexdigest() == "72f0bc74a36600026b807a1a3b6ae1c4bab1fce0234351c159a7ddb2064b21b0"
    )


def test_parameters_are_in_the_order_in_which_they_are_given_and_keep_it(tmp_path: Path) -> None:
    record = _record()
    names = ["22.momentum.moment_1", "22.momentum.moment_2", "11.momentum.moment_1", "11.momentum.moment_2"]
    assert record.keys() == names and (len(record), record.is_empty()) == (4, False)
    again = OptimizerRecord.load(_saved(record, tmp_path))
    assert again.keys() == names and again.into_bytes() == record.into_bytes()
    assert again.scalars() == {
        "11.__rank": Scalar.uint(1),
        "11.momentum.time": Scalar.uint(4),
        "22.__rank": Scalar.uint(1),
        "22.momentum.time": Scalar.uint(1),
    }


def test_a_state_without_tensors_is_empty_but_has_its_rank() -> None:
    record = OptimizerRecord.from_states([(ParamId(1), None, 2, Sgd())])
    assert record.is_empty() and record.scalars() == {"1.__rank": Scalar.uint(2)}
    assert (
        OptimizerRecord().is_empty() and OptimizerRecord.from_bytes(OptimizerRecord().into_bytes()).is_empty()
    )
    (loaded,) = record.load_states(lambda id, path: Sgd)
    assert isinstance(loaded.state, Sgd) and loaded.state.momentum is None


@pytest.mark.golden
def test_every_record_of_burns_is_written_again_to_the_same_bytes() -> None:
    files = json.loads((FOLDER / "manifest.json").read_text())["files"]
    names = [name for name in files if name.endswith(".optim.bpk")]
    assert len(names) > 70
    for name in names:
        record = OptimizerRecord.load(FOLDER / name)
        assert record.into_bytes() == (FOLDER / name).read_bytes(), name
        assert set(record.keys()) == {one["name"] for one in files[name]["tensors"]}, name


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ([(ParamId(1), None, 1, _adam()), (ParamId(1), None, 1, _adam())], "two states for the parameter 1"),
        ([(ParamId(1), None, 2, _adam())], r"rank 2, its state has 1\.momentum\.moment_1 of shape \(2,\)"),
    ],
)
def test_what_burn_could_not_read_is_refused(states: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        OptimizerRecord.from_states(states)


# Loading.


def test_states_come_back_by_id_with_paths_and_ranks() -> None:
    record = OptimizerRecord.from_bytes(_record().into_bytes())
    assert record.ids() == [ParamId(11), ParamId(22)]
    assert [record.path_of(id) for id in record.ids()] == [None, "bias"]
    asked: list[tuple[ParamId, str | None]] = []

    def state_type(id: ParamId, path: str | None) -> type[RecordState]:
        asked.append((id, path))
        return Adam

    loaded = record.load_states(state_type, strict=True)
    assert asked == [(ParamId(11), None), (ParamId(22), "bias")]
    assert [(one.id, one.path, one.rank) for one in loaded] == [
        (ParamId(11), None, 1),
        (ParamId(22), "bias", 1),
    ]
    state = loaded[1].state
    assert isinstance(state, Adam) and state.momentum.moment_1.tolist() == pytest.approx([0.05, -0.1])
    report = record.report()
    assert report is not None and report.loaded == record.ids() and not report.skipped and not report.unused


def test_one_state_can_be_asked_for() -> None:
    record = _record()
    state = record.state_of(ParamId(11), Adam)
    assert state is not None and state.momentum.time == 4
    assert record.state_of(ParamId(3), Adam) is None and record.state_of(ParamId(11), Lion) is None
    assert record.rank_of(ParamId(11)) == 1
    with pytest.raises(KeyError):
        record.rank_of(ParamId(3))


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_a_state_keeps_its_dtype(dtype: str) -> None:
    state = Lion(Tensor([0.5], dtype=dtype))
    record = OptimizerRecord.from_bytes(
        OptimizerRecord.from_states([(ParamId(1), None, 1, state)]).into_bytes()
    )
    back = record.state_of(ParamId(1), Lion)
    assert back is not None and back.momentum.dtype == dtype


def test_a_state_is_plain_unless_a_device_is_asked_for() -> None:
    record = OptimizerRecord.from_bytes(_record().into_bytes())
    plain, placed = (record.state_of(ParamId(11), Adam, device) for device in (None, Device.cpu().autodiff()))
    assert plain is not None and not plain.momentum.moment_1.is_autodiff()
    assert placed is not None and placed.momentum.moment_1.is_autodiff()


def test_a_state_that_does_not_fit_is_left_out_and_told() -> None:
    record = OptimizerRecord.from_states([(ParamId(1), "w", 1, Sgd(Velocity(Tensor([1.0]))))])
    with pytest.warns(RecordWarning, match="not restored: w$") as warned:
        assert record.load_states(lambda id, path: Adam) == []
    assert warned[0].filename == __file__
    report = record.report()
    assert report is not None and report.skipped == [ParamId(1)]
    with pytest.raises(RecordValidationError, match="not restored: w") as caught:
        record.load_states(lambda id, path: Adam, strict=True)
    assert caught.value.report.skipped == [ParamId(1)]


def test_what_no_state_reads_is_told() -> None:
    record = OptimizerRecord.from_states([(ParamId(1), "w", 1, _adam())])
    with pytest.warns(
        RecordWarning, match=r"unused: 1\.momentum\.moment_1, 1\.momentum\.moment_2, 1\.momentum\.time"
    ):
        (loaded,) = record.load_states(lambda id, path: Sgd)
    assert isinstance(loaded.state, Sgd) and loaded.state.momentum is None


def test_states_of_one_shape_are_exchanged_between_optimizers() -> None:
    record = OptimizerRecord.from_states([(ParamId(1), "w", 1, Velocity2(Velocity(Tensor([1.0]))))])
    (loaded,) = record.load_states(lambda id, path: Sgd, strict=True)
    assert isinstance(loaded.state, Sgd) and loaded.state.momentum is not None


class Velocity2(RecordState):
    """As Muon's: the same name, but not optional."""

    momentum: Velocity


def test_without_ranks_and_paths_a_record_loads_too(tmp_path: Path) -> None:
    def change(scalars: dict[str, Scalar]) -> None:
        for name in ("11.__rank", "22.__rank"):
            del scalars[name]

    record = _changed(_record(), tmp_path, change)
    assert [one.rank for one in record.load_states(lambda id, path: Adam)] == [1, 1]


@pytest.mark.parametrize(
    ("rank", "text"), [(9, "rank 9, over the limit of 8"), (2, r"rank 2, its state has 11\.momentum")]
)
def test_a_rank_that_cannot_be_is_an_error(rank: int, text: str, tmp_path: Path) -> None:
    record = _changed(_record(), tmp_path, lambda scalars: scalars.update({"11.__rank": Scalar.uint(rank)}))
    with pytest.raises(RecordValidationError, match=text):
        record.load_states(lambda id, path: Adam)


def test_keys_that_are_no_ids_are_left_alone_and_told(tmp_path: Path) -> None:
    odd = {
        "abc.__rank": 1,
        "-1.__rank": 1,
        "007": 2,
        "18446744073709551616.__rank": 1,
        "__rank": 3,
        "33.__rank": 1.5,
        "44.momentum.time": 1,
        "9" * 5000: 1,
    }
    record = _changed(
        _record(), tmp_path, lambda scalars: scalars.update({k: Scalar(v) for k, v in odd.items()})
    )
    assert record.ids() == [ParamId(11), ParamId(22)]
    with pytest.warns(RecordWarning, match=r"unused: .*abc\.__rank"):
        assert len(record.load_states(lambda id, path: Adam)) == 2
    report = record.report()
    assert report is not None and sorted(report.unused) == sorted(odd)


def test_a_record_of_a_schedule_gives_nothing_and_says_so() -> None:
    record = OptimizerRecord.from_bytes(LrSchedulerRecord({"0.current_iter": Scalar.uint(3)}).into_bytes())
    with pytest.warns(RecordWarning, match=r"unused: 0\.current_iter"):
        assert record.load_states(lambda id, path: Adam) == []


def test_tensors_without_ids_are_an_error(tmp_path: Path) -> None:
    burnpy.numpy.save_file({"1.momentum": np.ones(1)}, tmp_path / "plain.bpk")
    record = OptimizerRecord.load(tmp_path / "plain.bpk")
    with pytest.raises(RecordValidationError, match=r"1 of the record's tensors have no id.*'1\.momentum'"):
        record.load_states(lambda id, path: Lion)


def test_a_record_of_a_module_gives_nothing_and_says_so() -> None:
    from burnpy.module import Module, Param

    class Model(Module):
        def __init__(self) -> None:
            self.weight = Param.from_tensor(Tensor([1.0]))

    record = OptimizerRecord.from_bytes(ModuleRecord.from_module(Model()).into_bytes())
    with pytest.warns(RecordWarning, match="not restored"):
        assert record.load_states(lambda id, path: Adam) == []


# A state for all parameters.


def test_a_state_for_all_parameters_has_no_ids() -> None:
    record = OptimizerRecord.from_state(History([Tensor([1.0]), Tensor([2.0])], None, 3))
    assert record.keys() == ["history_s.0", "history_s.1"]
    assert record.scalars() == {"history_s.len": Scalar.uint(2), "g_iter": Scalar.uint(3)}
    back = OptimizerRecord.from_bytes(record.into_bytes()).into_state(History, strict=True)
    assert back is not None and [one.tolist() for one in back.history_s] == [[1.0], [2.0]] and back.t is None
    with pytest.raises(RecordValidationError, match="no id"):
        record.ids()


def test_a_state_for_all_parameters_that_is_not_there_is_told() -> None:
    with pytest.warns(RecordWarning, match="not restored: History"):
        assert _record().into_state(History) is None
    with pytest.raises(RecordValidationError, match="not restored: History"):
        _record().into_state(History, strict=True)


# What Burn made of altered records.


@pytest.mark.golden
def test_altered_records_restore_as_many_tensors_as_in_burn() -> None:
    altered = json.loads((FOLDER / "manifest.json").read_text())["altered_records"]
    seen = 0
    for name, told in altered.items():
        if told["type"] != "AdamConfig":
            continue
        seen += 1
        record = OptimizerRecord.load(FOLDER / told["optim"])
        if told["load_panics"]:
            with pytest.raises(RecordValidationError):
                record.load_states(lambda id, path: Adam)
            continue
        restored = _restored(record)
        assert 2 * restored == told["tensors_after_load"], name
    assert seen >= 12


def _restored(record: OptimizerRecord) -> int:
    try:
        return len(record.load_states(lambda id, path: Adam, strict=True))
    except RecordValidationError as error:
        return len(error.report.loaded)


@settings(max_examples=200)
@given(data=st.data())
def test_a_damaged_record_is_an_error_or_another_record(data: st.DataObject) -> None:
    damaged = bytearray(_record().into_bytes())
    damaged[data.draw(st.integers(0, 400))] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(RecordError), warnings.catch_warnings():
        warnings.simplefilter("ignore", RecordWarning)
        OptimizerRecord.from_bytes(bytes(damaged)).load_states(lambda id, path: Adam)
