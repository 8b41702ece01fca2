"""Every load that real Burn was asked for: 14 files into 5 modules with 6 sets of options."""

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import RecordValidationError
from burnpy.module import Module, Param, ParamId
from burnpy.record import DTypePolicy, ModuleRecord
from tests.paths import GOLDEN

pytestmark = pytest.mark.golden
FOLDER = GOLDEN / "burn" / "records"
SHAPES = {"weight": (2, 3), "bias": (3,), "gamma": (2,)}
OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "allow_partial": {"allow_partial": True},
    "allow_unused": {"allow_unused": True},
    "allow_partial, allow_unused": {"allow_partial": True, "allow_unused": True},
    "validate(false)": {"validate": False},
    "cast_to_module_dtype": {"dtype_policy": "CastToModule"},
}


@cache
def manifest() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
    return content


class Target(Module):
    """The parameters that the manifest tells, in its order."""

    def __init__(self, before: dict[str, Any]) -> None:
        for name, told in before.items():
            values = np.array(told["values"], _numpy(told["dtype"])).reshape(SHAPES[name])
            setattr(
                self, name, Param.initialized(ParamId(told["param_id"]), Tensor.from_numpy(values).inner())
            )


def _numpy(dtype: str) -> Any:
    return {"F32": np.float32, "F64": np.float64, "I32": np.int32, "Bool(Native)": np.bool_}[dtype]


def _state(module: Module) -> dict[str, tuple[str, int, list[Any]]]:
    return {
        path: (param.val().dtype, param.id.val(), param.val().numpy().ravel().tolist())
        for path, param in module.named_params()
    }


def _told(state: dict[str, Any]) -> dict[str, tuple[str, int, list[Any]]]:
    told = {}
    for path, one in state.items():
        dtype = "qfloat" if isinstance(one["dtype"], dict) else re.sub(r"\(.*", "", one["dtype"]).lower()
        wide = {"f32": np.float32, "f16": np.float32, "bf16": np.float32, "bool": np.bool_}.get(dtype)
        values = (
            one["values"] if wide is None or one["values"] is None else np.array(one["values"], wide).tolist()
        )
        told[path] = (dtype, one["param_id"], values)
    return told


def _loads() -> list[Any]:
    return [
        pytest.param(load, id=f"{load['from']}-{load['target']}-{load['options']}")
        for load in manifest()["loads"]
    ]


def _misfits(load: dict[str, Any]) -> bool:
    """Whether Burn panics, or does as its backend likes: the record's weight is of another kind than the module's."""
    record = ModuleRecord.load(FOLDER / load["from"])
    if "weight" not in record:
        return False
    kind = record["weight"].kind
    wanted = {"TinyInt": "int", "TinyBool": "bool"}.get(load["target"], "float")
    if record["weight"].dtype == "qfloat":
        return wanted != "float"
    return kind != wanted and wanted != "bool" and load["options"] != "cast_to_module_dtype"


@pytest.mark.parametrize("load", _loads())
def test_a_load_ends_as_burns(load: dict[str, Any]) -> None:
    target = Target(manifest()["targets_before"][load["target"]])
    before, result = _state(target), load["result"]
    record = ModuleRecord.load(FOLDER / load["from"])
    options = OPTIONS[load["options"]]

    if _misfits(load):
        _assert_refused(record, target, options)
    elif result["ok"]:
        assert target.load_record(record, **options) is target
        _assert_is(target, result["after"], keeps_ids="no_ids" in load["from"])
    else:
        with pytest.raises(RecordValidationError) as caught:
            target.load_record(record, **options)
        assert _state(target) == before
        for name in re.findall(r'"(\w+)', result["error"]):
            report = caught.value.report
            assert name in [*report.missing, *report.unused, *(error.path for error in report.errors)]


def _assert_refused(record: ModuleRecord, target: Target, options: dict[str, Any]) -> None:
    # Unlike Burn: an error or nothing, where Burn panics or makes ints of floats.
    before = _state(target)
    lenient = {**options, "validate": False, "allow_partial": True, "allow_unused": True}
    with pytest.raises(RecordValidationError, match="weight: dtype is"):
        target.load_record(record, **{**lenient, "validate": True})
    assert _state(target) == before
    target.load_record(record, **lenient)
    assert _state(target)["weight"] == before["weight"]


def _assert_is(target: Target, after: dict[str, Any], *, keeps_ids: bool) -> None:
    found, wanted = _state(target), _told(after)
    assert found.keys() == wanted.keys()
    for path, (dtype, id, values) in wanted.items():
        assert found[path][0] == dtype, path
        # Unlike Burn: which invents an id where the file has none.
        assert keeps_ids or found[path][1] == id, path
        if values is not None:
            assert found[path][2] == values, path


def test_a_file_without_ids_leaves_the_module_its_own() -> None:
    target = Target(manifest()["targets_before"]["Tiny f32"])
    before = _state(target)
    target.load_file(FOLDER / "tiny_no_ids.bpk")
    assert [id for _, id, _ in _state(target).values()] == [id for _, id, _ in before.values()]


@pytest.mark.parametrize("told", manifest()["files"], ids=lambda told: told["file"])
def test_a_file_is_read_as_told_and_written_again(told: dict[str, Any]) -> None:
    source = FOLDER / told["file"]
    record = ModuleRecord.load(source)
    assert record.keys() == [one["name"] for one in told["tensors"]]
    if not told["metadata"] and not told["scalars"]:
        assert record.into_bytes() == source.read_bytes()


def test_keywords_and_builders_are_the_same() -> None:
    built = ModuleRecord().cast_to_module_dtype().allow_partial(True).allow_unused(True).validate(False)
    by_keyword = ModuleRecord(
        dtype_policy=DTypePolicy.CastToModule, allow_partial=True, allow_unused=True, validate=False
    )
    assert built._options == by_keyword._options
    assert (
        ModuleRecord()
        .with_dtype_policy("CastToModule")
        .allow_partial(True)
        .allow_unused(True)
        .validate(False)
        ._options
        == built._options
    )


@pytest.mark.parametrize(
    "source", sorted((GOLDEN / "burn" / "containers").glob("*.bpk")), ids=lambda p: p.name
)
def test_tensors_of_every_dtype_are_read_and_written_again(source: Any) -> None:
    record = ModuleRecord.load(source)
    again = ModuleRecord.from_bytes(record.into_bytes())
    for path in record:
        old, new = record[path], again[path]
        assert (old.dtype, old.shape) == (new.dtype, new.shape)
        assert old.numpy().tobytes() == new.numpy().tobytes()


def test_records_of_all_layers_are_written_again_to_the_same_bytes() -> None:
    sources = sorted((GOLDEN / "burn" / "modules").glob("*.bpk"))
    assert len(sources) > 90
    for source in sources:
        assert ModuleRecord.load(source).into_bytes() == source.read_bytes(), source.name
