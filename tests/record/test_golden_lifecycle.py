"""What real Burn observed of parameters, their records, groups and filters: the same here, or told apart by name."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from burnpy import Device, Tensor
from burnpy.errors import RecordError, RecordIoError
from burnpy.module import Lora, Param, ParamGroup, ParamId, RunningState
from burnpy.nn import (
    BatchNorm,
    BatchNormConfig,
    DropoutConfig,
    GaussianNoiseConfig,
    Linear,
    LinearConfig,
    LinearLayout,
)
from burnpy.record import ModuleRecord
from burnpy.store import KeyRemapper, PathFilter
from tests.paths import GOLDEN

pytestmark = pytest.mark.golden
PLAIN, AUTO = Device.cpu(), Device.cpu().autodiff()


@cache
def facts() -> list[tuple[str, Any]]:
    """What was observed, each with its full name, and its value; what panicked has ``"error"``."""
    told: list[dict[str, Any]] = json.loads((GOLDEN / "burn" / "records" / "manifest.json").read_text())[
        "lifecycle"
    ]
    found, start = [], ""
    for one in told:
        what = one["what"]
        if what.startswith("..."):
            what = f"{start}{what}"
        else:
            start = what
        value = one.get("value", "error")
        failed = isinstance(value, str) and value.startswith(("error", "Record I/O error", "Io"))
        found.append((what, "error" if failed else value))
    return found


def linear(device: Device = AUTO, **options: Any) -> Linear:
    return LinearConfig(2, 3, **options).init(device)


def record() -> ModuleRecord:
    return ModuleRecord.from_bytes(linear(PLAIN).into_record().into_bytes())


def grads(module: Linear) -> list[bool]:
    assert module.bias is not None
    return [module.weight.val().is_require_grad(), module.bias.val().is_require_grad()]


def drawn(change: Callable[[Linear], object], device: Device = PLAIN) -> bool:
    """Whether a weight has its value after something was done with its module."""
    module = linear(device)
    change(module)
    return module.weight.is_initialized()


def after_failed_load() -> list[bool]:
    module = LinearConfig(4, 3).init(PLAIN)
    kept = module.clone()
    return [_fails(lambda: module.load_record(record())), kept.weight.is_initialized()]


def _fails(call: Callable[[], object]) -> bool:
    try:
        call()
    except RecordError:
        return True
    return False


def column(device: Device = AUTO) -> Linear:
    return linear(device, layout=LinearLayout.Col)


def shape(module: Linear) -> list[int]:
    return list(ModuleRecord.from_bytes(module.into_record().into_bytes())["weight"].shape)


def norm(mean: float = 5.0, id: int = 77, device: Device = AUTO) -> BatchNorm:
    module = BatchNormConfig(1).init(device)
    module.running_mean = RunningState(Tensor([mean]), id=ParamId(id))
    return module


def nine() -> ModuleRecord:
    return ModuleRecord.from_bytes(norm(9.0, 99).into_record().into_bytes())


def mean(module: BatchNorm) -> Any:
    return pytest.approx(module.running_mean.value().tolist())


def before_the_load(copy: Callable[[BatchNorm], BatchNorm]) -> Any:
    module = norm()
    other = copy(module)
    module.load_record(nine())
    return mean(other)


def after_failed_norm() -> dict[str, Any]:
    module, bad = norm(), norm(9.0, 99)
    clone = module.clone()
    bad.gamma = Param.from_tensor(Tensor([1.0, 1.0]))
    return {"failed": _fails(lambda: module.load_record(bad.into_record())), "value": mean(clone)}


def stepped(module: BatchNorm) -> BatchNorm:
    module.forward(Tensor.ones((2, 1), AUTO))
    return module


def lora() -> Linear:
    return linear().apply_lora(Lora(1, 2.0))


def changes_ones(module: Any) -> bool:
    return bool((module.forward(Tensor.ones((64,), AUTO)).numpy() != 1.0).any())


def built(make: Callable[[], object]) -> str:
    try:
        make()
    except ValueError:
        return "error"
    return "built"


def parsed(text: str) -> int | str:
    try:
        return ParamId.parse(text).val()
    except ValueError:
        return "error"


def matches(group: ParamGroup) -> list[bool]:
    return [group.matches(ParamId(5), path) for path in ("a.b", "c", None)]


def from_three_bytes() -> str:
    try:
        ModuleRecord.from_bytes(b"\x01\x02\x03")
    except RecordIoError:
        return "error"
    return "accepted"


def missing_file() -> str:
    try:
        ModuleRecord.load(Path("no-such-file-here"))
    except FileNotFoundError:
        return "error"
    return "accepted"


GRAD = "require_grad [weight, bias] of a Linear built on an autodiff device"
LAZY = "is_initialized of a fresh weight"
COLUMN = "recorded weight shape of a column-layout Linear(2, 3)"
LORA = "tensors in the record of a Linear with LoRA"
DROPOUT = "Dropout(0.5) on an autodiff device changes ones"
PARSED = 'ParamId parsed from "{}"'
MATCHES = "ParamGroup::{} matches: id and path a.b, id and path c, id without path"
OBSERVED: dict[str, Callable[[], Any]] = {
    GRAD: lambda: grads(linear()),
    f"{GRAD}... after valid()": lambda: grads(linear().valid()),
    f"{GRAD}... after valid().train()": lambda: grads(linear().valid().train()),
    f"{GRAD}... after no_grad().valid().train()": lambda: grads(linear().no_grad().valid().train()),
    f"{GRAD}... after freeze().unfreeze()": lambda: grads(linear().freeze().unfreeze()),
    f"{GRAD}... after freeze_group of the path weight": lambda: grads(
        linear().freeze_group(ParamGroup.from_path("weight"))
    ),
    f"{GRAD}... built on the autodiff device, then load_record": lambda: grads(
        linear().load_record(record())
    ),
    f"{GRAD}... valid(), load_record, train()": lambda: grads(linear().valid().load_record(record()).train()),
    f"{GRAD}... built on a plain device, load_record, train()": lambda: grads(
        linear(PLAIN).load_record(record()).train()
    ),
    f"{GRAD}... built on a plain device, train()": lambda: grads(linear(PLAIN).train()),
    f"{GRAD}... no_grad(), load_record, train()": lambda: grads(
        linear().no_grad().load_record(record()).train()
    ),
    LAZY: lambda: drawn(lambda module: None),
    f"{LAZY}... after num_params()": lambda: drawn(lambda module: module.num_params()),
    f"{LAZY}... after printing the module": lambda: drawn(str),
    f"{LAZY}... after devices()": lambda: drawn(lambda module: module.devices()),
    f"{LAZY}... after clone()": lambda: drawn(lambda module: module.clone()),
    f"{LAZY}... of the original after its clone gave a record": lambda: drawn(
        lambda module: module.clone().into_record()
    ),
    f"{LAZY}... after valid()": lambda: drawn(lambda module: module.valid(), AUTO),
    f"{LAZY}... after to_device of the same device": lambda: (
        linear(PLAIN).to_device(PLAIN).weight.is_initialized()
    ),
    f"{LAZY}... after no_grad()": lambda: linear().no_grad().weight.is_initialized(),
    f"{LAZY}... after train()": lambda: linear(PLAIN).train().weight.is_initialized(),
    f"{LAZY}... after a load that failed on shape": after_failed_load,
    COLUMN: lambda: shape(column(PLAIN)),
    f"{COLUMN}... from valid()": lambda: shape(column().valid()),
    f"{COLUMN}... from valid().train()": lambda: shape(column().valid().train()),
    f"{COLUMN}... from to_device": lambda: shape(column(PLAIN).to_device(PLAIN)),
    f"{COLUMN}... from fork": lambda: shape(column().fork(AUTO)),
    f"{COLUMN}... from no_grad()": lambda: shape(column().no_grad()),
    f"{COLUMN}... from materialize()": lambda: shape(column().materialize()),
    "running_mean (5) of a module after loading 9 into it": lambda: mean(norm().load_record(nine())),
    "running_mean of a clone made before that load": lambda: before_the_load(lambda module: module.clone()),
    "running_mean of a valid() copy made before that load": lambda: before_the_load(
        lambda module: module.valid()
    ),
    "running_mean of a clone after a load that fails on another parameter": after_failed_norm,
    "id of running_mean (77) after loading a record that says 99": lambda: (
        norm().load_record(nine()).running_mean.id.val()
    ),
    "running_mean after: one training forward on ones, load of 9, valid()": lambda: mean(
        stepped(norm()).load_record(nine()).valid()
    ),
    "running_mean after one training forward on ones, read directly, then from valid()": lambda: (
        pytest.approx(
            [
                (module := stepped(norm())).running_mean.value().item(),
                module.valid().running_mean.value().item(),
            ]
        )
    ),
    "running_mean after freeze() and one forward on ones": lambda: mean(stepped(norm().freeze()).valid()),
    "running_mean after no_grad() and one forward on ones": lambda: mean(stepped(norm().no_grad()).valid()),
    LORA: lambda: len(lora().into_record()),
    f"{LORA}... from valid()": lambda: len(lora().valid().into_record()),
    f"{LORA}... from valid().train()": lambda: len(lora().valid().train().into_record()),
    f"{LORA}... from materialize()": lambda: len(lora().materialize().into_record()),
    "num_params with and without LoRA": lambda: [lora().num_params(), linear().num_params()],
    DROPOUT: lambda: changes_ones(DropoutConfig(0.5).init()),
    f"{DROPOUT}... after freeze()": lambda: changes_ones(DropoutConfig(0.5).init().freeze()),
    f"{DROPOUT}... of a valid() copy": lambda: changes_ones(DropoutConfig(0.5).init().valid()),
    "Dropout(1.0)": lambda: built(lambda: DropoutConfig(1.0).init()),
    "Dropout(-0.1)": lambda: built(lambda: DropoutConfig(-0.1).init()),
    "GaussianNoise(-0.0)": lambda: built(lambda: GaussianNoiseConfig(-0.0).init()),
    **{
        f"text of ParamId {id}": lambda id=id: str(ParamId(id))  # type: ignore[misc]
        for id in (0, 1, 7, 123456, 0x0123456789ABCDEF, 2**64 - 1)
    },
    **{
        PARSED.format(text): lambda text=text: parsed(text)  # type: ignore[misc]
        for text in (
            "0s00000000000",
            "0S00000000000",
            "5kmiqb9d5k",
            "",
            "0",
            "vvvvvvvvvvvvu",
            "vvvvvvvvvvvvuvvv",
            "invalid_id",
            "550e8400-e29b-41d4-a716-446655440000",
        )
    },
    "PathFilter with an invalid regex": lambda: built(lambda: PathFilter().with_regex("[")),
    "KeyRemapper with an invalid regex": lambda: built(lambda: KeyRemapper().add_pattern("[", "x")),
    "PathFilter printed: all, none, one of each": lambda: [
        repr(one)
        for one in (
            PathFilter.all(),
            PathFilter.none(),
            PathFilter(regexes=["^a"], full_paths=["b.c"], predicates=[lambda path, container: False]),
        )
    ],
    MATCHES.format("all()"): lambda: matches(ParamGroup.all()),
    MATCHES.format("from_path(a.b)"): lambda: matches(ParamGroup.from_path("a.b")),
    MATCHES.format("from_predicate(b)"): lambda: matches(ParamGroup.from_predicate("b")),
    MATCHES.format("from_predicates([])"): lambda: matches(ParamGroup.from_predicates([])),
    MATCHES.format("from_any_predicates([])"): lambda: matches(ParamGroup.from_any_predicates([])),
    MATCHES.format("from_predicates([a, z])"): lambda: matches(ParamGroup.from_predicates(["a", "z"])),
    MATCHES.format("from_any_predicates([a, z])"): lambda: matches(
        ParamGroup.from_any_predicates(["a", "z"])
    ),
    MATCHES.format("all() excluding from_path(a.b)"): lambda: matches(
        ParamGroup.all().exclude(ParamGroup.from_path("a.b"))
    ),
    "ModuleRecord::from_bytes of three bytes": from_three_bytes,
    "ModuleRecord::load of a missing file (kind only)": missing_file,
    "dtype of a Linear after loading an f16 record, default policy": lambda: (
        linear().load_record(linear().cast("f16").into_record()).weight.val().dtype
    ),
}
# Unlike Burn, and why.
DIFFERENT: dict[str, Any] = {
    # Counting and printing need shapes alone.
    f"{LAZY}... after printing the module": False,
    # A value is drawn once for all clones, and each sees it when it asks.
    f"{LAZY}... of the original after its clone gave a record": False,
    f"{LAZY}... after valid()": False,
    # A load changes the module that it is asked of, all or nothing, with its pending values and ids.
    "running_mean of a clone made before that load": [5.0],
    "running_mean of a clone after a load that fails on another parameter": {"failed": True, "value": [5.0]},
    "id of running_mean (77) after loading a record that says 99": 99,
    "running_mean after: one training forward on ones, load of 9, valid()": [9.0],
    # No text, and a UUID whose hash nobody else can make, are no id.
    PARSED.format(""): "error",
    PARSED.format("550e8400-e29b-41d4-a716-446655440000"): "error",
    # Names and texts of Python.
    "PathFilter printed: all, none, one of each": [
        "PathFilter::all()",
        "PathFilter::none()",
        "PathFilter[regex: [^a], paths: [b.c], predicates: 1]",
    ],
    "dtype of a Linear after loading an f16 record, default policy": "f16",
}


def test_every_fact_is_observed() -> None:
    assert list(OBSERVED) == [what for what, _ in facts()]
    assert DIFFERENT.keys() <= OBSERVED.keys()


@pytest.mark.parametrize("what", OBSERVED)
def test_a_fact_is_the_same_here(what: str) -> None:
    told = dict(facts())[what]
    assert OBSERVED[what]() == DIFFERENT.get(what, told)
    assert DIFFERENT.get(what) != told, "not different any more"
