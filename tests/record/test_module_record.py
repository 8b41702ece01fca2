"""Records of modules: what is in them, and that a load is all or nothing."""

from __future__ import annotations

import gc
import hashlib
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnpy import Device, Tensor
from burnpy.errors import InvalidHeader, RecordError, RecordIoError, RecordValidationError
from burnpy.module import (
    EnumModule,
    Flag,
    Module,
    Param,
    ParamGroup,
    ParamId,
    Reparameterization,
    RunningState,
)
from burnpy.record import DTypePolicy, ModuleRecord
from tests.paths import GOLDEN

PLAIN = Device.cpu().inner()


class Tiny(Module):
    def __init__(self, weight: object = ((0.0, 0.0), (0.0, 0.0)), bias: object = (0.0, 0.0)) -> None:
        self.weight = Param.from_tensor(Tensor(weight))
        self.bias = Param.from_tensor(Tensor(bias))


class TinyWide(Tiny):
    def __init__(self) -> None:
        super().__init__()
        self.gamma = Param.from_tensor(Tensor([0.0, 0.0]))


class Two(Module):
    def __init__(self, first: Tiny, second: Tiny) -> None:
        self.first = first
        self.second = second


class Choice(EnumModule):
    def __init__(self, variant: str, payload: Module) -> None:
        setattr(self, variant, payload)


class Lazy(Module):
    """A column layout: memory [2, 3], file [3, 2]."""

    def __init__(self, device: Device | None = None, *, train: bool = True) -> None:
        def init(device: Device, require_grad: bool) -> Tensor:
            drawn.append("weight")
            value = Tensor.ones((3, 2), device)
            return value.require_grad() if require_grad else value

        drawn: list[str] = []
        self.drawn = drawn
        self.weight = (
            Param.uninitialized(ParamId.new(), init, device or Device.cpu().autodiff(), train, (3, 2))
            .init_mapper(lambda value: value.transpose())
            .load_mapper(lambda value: value.transpose())
            .save_mapper(lambda value: value.transpose())
        )


class Norm(Module):
    def __init__(self, mean: float, id: int = 77) -> None:
        self.running_mean = RunningState(Tensor([mean]), id=ParamId(id))
        self.gamma = Param.initialized(ParamId(1), Tensor([1.0]))


def _filled() -> Tiny:
    return Tiny([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0])


def _numbers(module: Module) -> dict[str, object]:
    return {
        path: (leaf.value() if isinstance(leaf, RunningState) else leaf.val()).tolist()
        for path, leaf in module.named_params()
    }


FILLED = {"weight": [[1.0, 2.0], [3.0, 4.0]], "bias": [5.0, 6.0]}
ZEROS = {"weight": [[0.0, 0.0], [0.0, 0.0]], "bias": [0.0, 0.0]}


# Content.


def test_a_record_has_burns_bytes() -> None:
    module = _filled()
    module.weight.id, module.bias.id = ParamId(1), ParamId(2)
    data = module.into_record().into_bytes()
    assert len(data) == 520 and data[256:272] == np.array([1, 2, 3, 4], "<f4").tobytes()
    assert data[512:] == np.array([5, 6], "<f4").tobytes()
    assert (
        hashlib.sha256(data).hexdigest() == "45644ca99d77f1e07e294222e9d34aff1cdca504647d3e50e494990368b3f057"
    )


@pytest.mark.parametrize("way", ["bytes", "file"])
def test_values_and_ids_come_back(way: str, tmp_path: Path) -> None:
    module = _filled()
    record = module.into_record()
    assert (len(record), record.keys(), record.is_empty()) == (2, ["weight", "bias"], False)
    if way == "bytes":
        record = ModuleRecord.from_bytes(record.into_bytes())
    else:
        record.save(tmp_path / "tiny")
        record = ModuleRecord.load(tmp_path / "tiny.bpk")
    target = Tiny()
    assert target.load_record(record) is target
    assert _numbers(target) == FILLED
    assert [target.weight.id, target.bias.id] == [module.weight.id, module.bias.id]
    assert target.weight.val().is_require_grad()


def test_nested_modules_have_paths() -> None:
    module = Two(_filled(), Tiny([[7.0, 8.0], [9.0, 10.0]], [11.0, 12.0]))
    record = ModuleRecord.from_bytes(module.into_record().into_bytes())
    assert record.keys() == ["first.weight", "first.bias", "second.weight", "second.bias"]
    target = Two(Tiny(), Tiny()).load_record(record)
    assert _numbers(target) == _numbers(module)
    assert record["second.bias"].tolist() == [11.0, 12.0] and "first.weight" in record
    with pytest.raises(KeyError):
        record["third"]


def test_a_group_is_recorded_alone() -> None:
    record = _filled().into_record_group(ParamGroup.from_path("weight"))
    assert record.keys() == ["weight"]
    target = Tiny().load_record(record, allow_partial=True)
    assert _numbers(target) == {**FILLED, "bias": [0.0, 0.0]}


def test_a_parameter_alone_has_an_empty_path() -> None:
    record = ModuleRecord.from_bytes(ModuleRecord.from_module(_filled().bias).into_bytes())
    assert record.keys() == [""]
    target = Tiny().bias
    record.apply(target)
    assert target.val().tolist() == [5.0, 6.0]


def test_what_is_no_module_is_refused() -> None:
    for wrong in (3, [1.0], None):
        with pytest.raises(TypeError, match="a record is of a module, got"):
            ModuleRecord.from_module(wrong)  # type: ignore[arg-type]


def test_tensors_numbers_and_texts_are_no_part_of_a_record() -> None:
    module, target = _filled(), Tiny()
    module.table, target.table = Tensor([1.0]), Tensor([2.0])  # type: ignore[attr-defined]
    module.rate, target.rate = 0.5, 0.25  # type: ignore[attr-defined]
    module.name, target.name = "a", "b"  # type: ignore[attr-defined]
    target.load_record(module.into_record())
    assert target.table.tolist() == [2.0] and (target.rate, target.name) == (0.25, "b")  # type: ignore[attr-defined]


def test_a_later_change_of_the_module_does_not_show() -> None:
    module = _filled()
    record = module.into_record()
    module.bias.set_base(Tensor([0.0, 0.0]))
    assert record["bias"].tolist() == [5.0, 6.0]


def test_flags_are_never_recorded_and_keep_the_targets() -> None:
    module, target = _filled(), Tiny()
    module.training, target.training = Flag(True), Flag(False)  # type: ignore[attr-defined]
    kept = target.training  # type: ignore[attr-defined]
    record = module.into_record()
    assert len(record) == 2
    target.load_record(record)
    assert target.training is kept and not kept.is_enabled()  # type: ignore[attr-defined]


def test_a_tied_parameter_is_recorded_under_each_path() -> None:
    tied = _filled()
    record = Two(tied, tied).into_record()
    assert len(record) == 4
    target = Tiny()
    assert _numbers(Two(target, target).load_record(record))["second.bias"] == [5.0, 6.0]


# What does not fit.


def test_an_unused_tensor_is_an_error_unless_it_is_allowed() -> None:
    record = TinyWide().into_record()
    with pytest.raises(RecordValidationError, match="gamma"):
        Tiny().load_record(record)
    Tiny().load_record(record, allow_unused=True)
    Tiny().load_record(record.allow_unused(True))


def test_a_missing_tensor_is_an_error_unless_it_is_allowed() -> None:
    record = _filled().into_record()
    target = TinyWide()
    with pytest.raises(RecordValidationError, match="gamma"):
        target.load_record(record)
    assert _numbers(target) == {**ZEROS, "gamma": [0.0, 0.0]}
    target.load_record(record, allow_partial=True)
    assert _numbers(target) == {**FILLED, "gamma": [0.0, 0.0]}
    assert record.report().missing == ["gamma"]  # type: ignore[union-attr]


def test_a_wrong_shape_is_an_error_unless_nothing_is_validated() -> None:
    record = _filled().into_record()
    target = Tiny(bias=[0.0, 0.0, 0.0])
    with pytest.raises(RecordValidationError, match=r"bias: shape is \(2,\), the module has \(3,\)"):
        target.load_record(record)
    assert _numbers(target) == {"weight": ZEROS["weight"], "bias": [0.0, 0.0, 0.0]}
    target.load_record(record, validate=False)
    assert _numbers(target) == {"weight": FILLED["weight"], "bias": [0.0, 0.0, 0.0]}


def test_all_differences_are_told_at_once_with_the_names_that_were_meant() -> None:
    record = TinyWide().into_record()
    target = Tiny(bias=[0.0])
    target.gama = Param.from_tensor(Tensor([1.0]))  # type: ignore[attr-defined]
    with pytest.raises(RecordValidationError) as caught:
        target.load_record(record)
    report = pickle.loads(pickle.dumps(caught.value)).report
    assert report.loaded == ["weight"] and report.missing == ["gama"] and report.unused == ["gamma"]
    assert [error.path for error in report.errors] == ["bias"]
    text = str(caught.value)
    assert "1 loaded, 1 wrong, 1 missing, 1 unused" in text and "did you mean 'gamma'" in text
    assert record.report() == report and not report.is_success()


def test_a_text_of_many_differences_is_short_and_the_report_is_whole() -> None:
    class Many(Module):
        def __init__(self, prefix: str) -> None:
            for i in range(50):
                setattr(self, f"{prefix}{i}", Param.from_tensor(Tensor([0.0])))

    with pytest.raises(RecordValidationError) as caught:
        Many("a").load_record(Many("b").into_record())
    assert len(caught.value.report.missing) == 50
    assert "… and 30 more" in str(caught.value) and len(str(caught.value).splitlines()) < 50


def test_another_variant_is_an_error() -> None:
    record = Choice("Basic", _filled()).into_record()
    assert record.keys() == ["Basic.weight", "Basic.bias"]
    with pytest.raises(RecordValidationError, match=r"Composed\.weight"):
        Choice("Composed", Tiny()).load_record(record)


def test_an_unknown_option_is_an_error() -> None:
    with pytest.raises(TypeError, match="allow_partal"):
        Tiny().load_record(_filled().into_record(), allow_partal=True)
    with pytest.raises(ValueError, match="FromFile"):
        ModuleRecord(dtype_policy="FromFile")


def test_try_load_record_raises_and_changes_nothing_too() -> None:
    target = TinyWide()
    with pytest.raises(RecordError):
        target.try_load_record(_filled().into_record())
    assert _numbers(target)["weight"] == ZEROS["weight"]


def test_a_mapper_that_fails_leaves_the_module_as_it_was() -> None:
    def fail(_: Tensor) -> Tensor:
        raise RuntimeError("no such layout")

    target = Tiny()
    target.bias.load_mapper(fail)
    with pytest.raises(RuntimeError, match="no such layout"):
        target.load_record(_filled().into_record())
    assert _numbers(target) == ZEROS


# Dtypes.


def test_the_dtype_is_the_records_or_the_modules() -> None:
    record = _filled().into_record()
    target = Tiny().cast("f64")
    target.load_record(record)
    assert target.weight.val().dtype == "f32"
    target = Tiny().cast("f64")
    target.load_record(record, dtype_policy=DTypePolicy.CastToModule)
    assert target.weight.val().dtype == "f64" and _numbers(target) == FILLED
    report = record.report()
    assert report is not None and report.cast == [("weight", "f32", "f64"), ("bias", "f32", "f64")]
    assert target.weight.val().is_require_grad()


def test_casting_to_a_lazy_module_takes_the_dtype_that_it_would_have() -> None:
    record = Lazy().into_record()
    half = ModuleRecord.from_bytes(Lazy().cast("f16").into_record().into_bytes())
    assert half["weight"].dtype == "f16" and record["weight"].dtype == "f32"
    target = Lazy().load_record(half, dtype_policy="CastToModule")
    assert target.weight.val().dtype == "f32"


# Lazy parameters, mappers, devices.


def test_a_load_into_a_lazy_module_draws_nothing() -> None:
    record = ModuleRecord.from_bytes(Lazy().into_record().into_bytes())
    target = Lazy().load_record(record)
    assert target.drawn == [] and target.weight.val().shape == (2, 3)
    assert target.weight.val().is_require_grad() and record["weight"].shape == (3, 2)


@pytest.mark.parametrize(
    "prepare",
    [
        lambda module: module,
        lambda module: module.valid(),
        lambda module: module.valid().train(),
        lambda module: module.clone(),
        lambda module: module.no_grad(),
    ],
)
def test_a_column_layout_loads_its_own_record_in_every_state(prepare: Callable[[Lazy], Lazy]) -> None:
    source = Lazy()
    source.weight.set_base(Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
    record = ModuleRecord.from_bytes(prepare(source).into_record().into_bytes())
    assert record["weight"].tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    target = prepare(Lazy())
    target.weight.val()
    target.load_record(record)
    assert target.weight.val().tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_clones_of_a_lazy_parameter_agree_and_a_load_changes_one_of_them() -> None:
    module = Lazy()
    clone = module.clone()
    assert not clone.weight.is_initialized()
    values: list[object] = []
    threads = [
        threading.Thread(target=lambda one=one: values.append(one.weight.val().tolist()))
        for one in (module, clone, module.clone(), clone.clone())
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(module.drawn) == 1 and all(value == values[0] for value in values)
    source = Lazy()
    source.weight.set_base(Tensor([[2.0] * 3] * 2))
    module.load_record(source.into_record())
    assert clone.weight.val().tolist() == [[1.0] * 3] * 2


@pytest.mark.parametrize("train", [True, False])
def test_require_grad_survives_a_load_on_every_device(train: bool) -> None:
    record = Lazy().into_record()
    assert Lazy(train=train).load_record(record).weight.val().is_require_grad() == train
    plain = Lazy(PLAIN, train=train).load_record(record)
    assert not plain.weight.val().is_require_grad()
    assert plain.train().weight.val().is_require_grad() == train
    valid = Lazy(train=train).valid().load_record(record)
    assert valid.train().weight.val().is_require_grad() == train


def test_a_record_lands_on_the_device_that_a_lazy_module_was_moved_to() -> None:
    record = Lazy().into_record()
    moved = Lazy().to_device(PLAIN)
    assert not moved.load_record(record).weight.val().is_autodiff()


# Running statistics.


def test_pending_statistics_are_in_the_record() -> None:
    module = Norm(5.0)
    module.running_mean.update(Tensor([4.5]))
    assert module.into_record()["running_mean"].tolist() == [4.5]
    assert module.valid().into_record()["running_mean"].tolist() == [4.5]


def test_a_load_sets_statistics_their_id_and_no_others() -> None:
    record = ModuleRecord.from_bytes(Norm(9.0, id=99).into_record().into_bytes())
    module = Norm(5.0)
    clone, valid = module.clone(), module.valid()
    module.running_mean.update(Tensor([4.5]))
    module.load_record(record)
    assert module.running_mean.value_sync().tolist() == [9.0] and module.running_mean.id == ParamId(99)
    assert clone.running_mean.value().tolist() == valid.running_mean.value().tolist() == [5.0]


def test_a_load_that_fails_leaves_statistics_alone() -> None:
    module = Norm(5.0)
    module.gamma = Param.from_tensor(Tensor([1.0, 2.0]))
    with pytest.raises(RecordValidationError):
        module.load_record(Norm(9.0).into_record())
    assert module.running_mean.value_sync().tolist() == [5.0]


# Reparameterizations.


class Adapter(Reparameterization):
    name = "lora"

    def __init__(self) -> None:
        self.a = Param.from_tensor(Tensor.ones((2, 1)))
        self.b = Param.from_tensor(Tensor.ones((1, 2)))
        self.scale = 2.0

    def apply(self, base: Tensor) -> Tensor:
        return base + self.a.val().matmul(self.b.val()) * self.scale


def test_a_reparameterized_weight_is_recorded_as_its_parts() -> None:
    module, target = _filled(), Tiny()
    module.weight.reparam, target.weight.reparam = Adapter(), Adapter()
    record = ModuleRecord.from_bytes(module.into_record().into_bytes())
    assert record.keys() == ["weight", "weight.lora.a", "weight.lora.b", "bias"]
    assert record["weight"].tolist() == FILLED["weight"]
    assert target.load_record(record).weight.val().tolist() == [[3.0, 4.0], [5.0, 6.0]]


# Files.


def test_a_loaded_parameter_shares_the_map_until_it_is_changed(tmp_path: Path) -> None:
    path = tmp_path / "tiny.bpk"
    _filled().save_file(path)
    before = path.read_bytes()
    record = ModuleRecord.load(path)
    module = Tiny().load_record(record)
    shared = module.weight.val().numpy()
    assert np.shares_memory(shared, record["weight"].numpy())
    del record
    gc.collect()
    cell = module.weight.cell
    cell.set(cell.get() * 2.0)
    assert module.weight.val().tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert shared.tolist() == FILLED["weight"] and path.read_bytes() == before


def test_a_record_may_be_saved_onto_the_file_that_it_comes_from(tmp_path: Path) -> None:
    path = tmp_path / "tiny.bpk"
    _filled().save_file(path)
    before = path.read_bytes()
    record = ModuleRecord.load(path)
    record.save(path)
    assert path.read_bytes() == before and [one.name for one in tmp_path.iterdir()] == ["tiny.bpk"]
    assert record["bias"].tolist() == [5.0, 6.0]


def test_three_bytes_are_no_record() -> None:
    with pytest.raises(RecordIoError) as caught:
        ModuleRecord.from_bytes(b"abc")
    assert isinstance(caught.value.__cause__, InvalidHeader)


def test_a_copy_has_options_of_its_own() -> None:
    record = TinyWide().into_record()
    copy = record.clone().allow_unused(True)
    Tiny().load_record(copy)
    with pytest.raises(RecordValidationError):
        Tiny().load_record(record)
    assert copy.keys() == record.keys()


def test_two_parameters_of_one_path_are_refused() -> None:
    class Twice(Module):
        _path_names: ClassVar[dict[str, str]] = {"a": "same", "b": "same"}

        def __init__(self) -> None:
            self.a = Param.from_tensor(Tensor([1.0]))
            self.b = Param.from_tensor(Tensor([1.0]))

    with pytest.raises(RecordError, match="two parameters have the path 'same'"):
        Twice().into_record()


def test_records_can_be_pickled_with_their_options(tmp_path: Path) -> None:
    _filled().save_file(tmp_path / "tiny")
    record = ModuleRecord.load(tmp_path / "tiny").allow_unused(True)
    again = pickle.loads(pickle.dumps(record))
    assert again.into_bytes() == record.into_bytes() and again._options == record._options


def test_a_quantized_tensor_that_cannot_be_is_told_and_nothing_changes() -> None:
    source = GOLDEN / "burn" / "containers" / "reader"
    record = ModuleRecord.load(source / "qfloat_any_length.bpk")
    (path,) = record.keys()

    class Odd(Module):
        def __init__(self) -> None:
            shape = record._entries[path].shape
            setattr(self, path, Param.from_tensor(Tensor.zeros(shape)))

    with pytest.raises(RecordIoError):
        Odd().load_record(record)


@settings(max_examples=200)
@given(data=st.data())
def test_a_damaged_record_is_an_error_or_another_record(data: st.DataObject) -> None:
    whole = bytearray(_filled().into_record().into_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    damaged = whole[:at] if data.draw(st.booleans()) else whole
    if damaged is whole:
        damaged[at] ^= data.draw(st.integers(1, 255))
    target = Tiny()
    try:
        target.load_record(ModuleRecord.from_bytes(bytes(damaged)))
    except RecordError:
        assert _numbers(target) == ZEROS
