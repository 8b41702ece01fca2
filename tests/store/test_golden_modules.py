"""Real modules through Burn's stores: every file that Burn wrote, to the byte, and every load that it was asked for."""

import hashlib
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from burnpy import Tensor
from burnpy.errors import SafetensorsStoreError, StoreError, ValidationError
from burnpy.module import (
    Calibration,
    EnumModule,
    Module,
    Param,
    ParamGroup,
    ParamId,
    Quantizer,
    RunningState,
)
from burnpy.nn import (
    BatchNormConfig,
    EmbeddingConfig,
    GroupNormConfig,
    GruConfig,
    InstanceNormConfig,
    LayerNormConfig,
    LinearConfig,
    LinearLayout,
    PReluConfig,
    RmsNormConfig,
)
from burnpy.nn.conv import Conv1dConfig, Conv2dConfig, ConvTranspose2dConfig
from burnpy.pack import QuantScheme
from burnpy.record import ModuleRecord
from burnpy.store import (
    BurnpackStore,
    BurnToPyTorchAdapter,
    FloatCastAdapter,
    HalfPrecisionAdapter,
    ModuleStore,
    PathFilter,
    PyTorchToBurnAdapter,
    SafetensorsStore,
)
from tests.paths import GOLDEN

pytestmark = pytest.mark.golden
FOLDER = GOLDEN / "burn" / "store"
D_IN, D_OUT, CHANNELS, BLOCKS = 4, 6, 3, 2


@cache
def manifest() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
    return content


class Mixer(EnumModule):
    def __init__(self) -> None:
        self.Dense = LinearConfig(D_IN, D_OUT).init()


class StoreModel(Module):
    """One of every kind of layer that the adapters treat differently."""

    def __init__(self) -> None:
        self.embed = EmbeddingConfig(D_IN + 2, D_IN).init()
        self.row = LinearConfig(D_IN, D_OUT).init()
        self.col = LinearConfig(D_IN, D_OUT, layout=LinearLayout.Col).init()
        self.plain = LinearConfig(D_OUT, D_IN, bias=False).init()
        self.conv1 = Conv1dConfig(CHANNELS, CHANNELS + 1, 2).init()
        self.conv2 = Conv2dConfig((CHANNELS, CHANNELS + 1), (2, 3)).init()
        self.up = ConvTranspose2dConfig((CHANNELS, CHANNELS + 1), (2, 2)).init()
        self.batch = BatchNormConfig(CHANNELS).init()
        self.layer = LayerNormConfig(D_IN).init()
        self.group = GroupNormConfig(1, CHANNELS).init()
        self.rms = RmsNormConfig(D_IN).init()
        self.instance = InstanceNormConfig(CHANNELS).init()
        self.prelu = PReluConfig(num_parameters=CHANNELS).init()
        self.gru = GruConfig(D_IN, 2, True).init()
        self.blocks = [LinearConfig(D_OUT, D_OUT).init() for _ in range(BLOCKS)]
        self.pair = (LinearConfig(D_IN, D_IN).init(), LayerNormConfig(D_IN).init())
        self.mixer = Mixer()
        self.own = Param.from_tensor(Tensor.ones((D_OUT, D_IN)))
        self.counts = Param.from_tensor(Tensor.zeros((D_IN,)).cast("i32"))
        self.keep = Param.from_tensor(Tensor.zeros((2, D_IN)).cast("bool"))


class Other(Module):
    """A smaller one with other names and shapes."""

    def __init__(self) -> None:
        self.row = LinearConfig(D_IN, D_OUT + 1).init()
        self.plain = LinearConfig(D_OUT, D_IN, bias=False).init()
        self.extra = LinearConfig(2, 2).init()
        self.counts = Param.from_tensor(Tensor.ones((D_IN,)))


def _saved_module() -> StoreModel:
    return StoreModel().load_record(ModuleRecord.load(FOLDER / "burnpack_default.bpk"))


def _quantized() -> StoreModel:
    quantizer = Quantizer(Calibration.MinMax, QuantScheme(value="Q8S", store="Native"))
    return _saved_module().quantize_weights_group(quantizer, ParamGroup.from_predicate("weight"))


def _mixed() -> StoreModel:
    module = _saved_module()
    for start, dtype in (("row", "f16"), ("col", "bf16"), ("conv2", "f64")):
        for path, leaf in module.named_params():
            if path.startswith(start):
                leaf.set_base(leaf.base().inner().cast(dtype))
    return module


# A column layout transposes on the way to a file, and a quantized tensor that is transposed becomes floats.
_DEQUANTIZED = {"col.weight"}

# ---- what is saved

Change = Callable[[Any], ModuleStore]
_LINEAR_END = PathFilter.from_predicate(lambda _, container: container.endswith("Struct:Linear"))
_HALF_CUSTOM = (
    HalfPrecisionAdapter().with_module("BatchNorm").with_module("StoreModel").without_module("LayerNorm")
)
_PYTORCH_HALF = BurnToPyTorchAdapter().chain(HalfPrecisionAdapter())
SAVES: dict[str, tuple[Callable[[], Module], Change]] = {
    "burnpack_default": (_saved_module, lambda s: s),
    "burnpack_metadata": (
        _saved_module,
        lambda s: (
            s.metadata("epoch", "3")
            .metadata("имя", "модель")
            .metadata("producer", "someone")
            .metadata("empty", "")
        ),
    ),
    "burnpack_no_metadata": (_saved_module, lambda s: s.clear_metadata()),
    "burnpack_regex": (_saved_module, lambda s: s.with_regex("weight$")),
    "burnpack_paths": (
        _saved_module,
        lambda s: s.with_full_path("row.weight").with_full_path("batch.running_var"),
    ),
    "burnpack_predicate": (_saved_module, lambda s: s.with_filter(_LINEAR_END)),
    "burnpack_nothing": (_saved_module, lambda s: s.with_filter(PathFilter.none())),
    "burnpack_half": (_saved_module, lambda s: s.with_to_adapter(HalfPrecisionAdapter())),
    "burnpack_half_custom": (_saved_module, lambda s: s.with_to_adapter(_HALF_CUSTOM)),
    "burnpack_bf16": (_saved_module, lambda s: s.with_to_adapter(FloatCastAdapter.to("bf16"))),
    "burnpack_f64": (_saved_module, lambda s: s.with_to_adapter(FloatCastAdapter.to("f64"))),
    "burnpack_pytorch": (_saved_module, lambda s: s.with_to_adapter(BurnToPyTorchAdapter())),
    "burnpack_pytorch_half": (_saved_module, lambda s: s.with_to_adapter(_PYTORCH_HALF)),
    "burnpack_remap": (_saved_module, lambda s: s.with_remap_pattern(r"^row\.", "renamed.")),
    "burnpack_mixed": (_mixed, lambda s: s),
    "safetensors_no_metadata": (_saved_module, lambda s: s.clear_metadata()),
    "safetensors_one_metadata": (_saved_module, lambda s: s.clear_metadata().metadata("format", "pt")),
    "safetensors_pytorch": (
        _saved_module,
        lambda s: s.clear_metadata().with_to_adapter(BurnToPyTorchAdapter()),
    ),
    "safetensors_pytorch_flat": (
        _saved_module,
        lambda s: s.clear_metadata().with_to_adapter(BurnToPyTorchAdapter()).skip_enum_variants(True),
    ),
    "safetensors_half": (_saved_module, lambda s: s.clear_metadata().with_to_adapter(HalfPrecisionAdapter())),
    "safetensors_pytorch_half": (_saved_module, lambda s: s.clear_metadata().with_to_adapter(_PYTORCH_HALF)),
    "safetensors_bf16": (
        _saved_module,
        lambda s: s.clear_metadata().with_to_adapter(FloatCastAdapter.to("bf16")),
    ),
    "safetensors_regex": (_saved_module, lambda s: s.clear_metadata().with_regex("weight$")),
    "safetensors_regex_pytorch": (
        _saved_module,
        lambda s: s.clear_metadata().with_regex("gamma$").with_to_adapter(BurnToPyTorchAdapter()),
    ),
    "safetensors_remap": (
        _saved_module,
        lambda s: (
            s.clear_metadata()
            .with_key_remapping(r"^blocks\.(\d+)\.", "stack.layer_${1}.")
            .with_key_remapping(r"^stack\.", "deep.stack.")
        ),
    ),
    "safetensors_mixed": (_mixed, lambda s: s.clear_metadata()),
}


@pytest.mark.parametrize("name", SAVES)
def test_a_module_is_saved_to_burns_bytes(name: str, tmp_path: Path) -> None:
    make, change = SAVES[name]
    kind, extension = (
        (BurnpackStore, "bpk") if name.startswith("burnpack") else (SafetensorsStore, "safetensors")
    )
    path = tmp_path / f"{name}.{extension}"
    make().save_into(change(kind.from_file(path)))
    assert path.read_bytes() == (FOLDER / path.name).read_bytes()


def test_what_no_filter_accepts_is_saved_as_an_empty_file(tmp_path: Path) -> None:
    # Burn's own file with this filter is no JSON: the filter sees no containers, and nothing is left.
    store = SafetensorsStore.from_file(tmp_path / "nothing.safetensors").clear_metadata()
    _saved_module().save_into(store.with_filter(_LINEAR_END))
    assert store.keys() == []


def test_quantized_weights_are_saved_as_burns(tmp_path: Path) -> None:
    path = tmp_path / "quantized.bpk"
    _quantized().save_into(BurnpackStore.from_file(path))
    found, wanted = ModuleRecord.load(path), ModuleRecord.load(FOLDER / "burnpack_quantized.bpk")
    assert found.keys() == wanted.keys()
    for name in set(found.keys()) - _DEQUANTIZED:
        assert found[name].dtype == wanted[name].dtype, name
        assert found[name].numpy().tobytes() == wanted[name].numpy().tobytes(), name


def test_a_store_in_memory_has_the_same_bytes() -> None:
    store = BurnpackStore.from_bytes()
    _saved_module().save_into(store)
    assert store.get_bytes() == (FOLDER / "burnpack_bytes.bpk").read_bytes()


def test_quantized_weights_are_refused_by_safetensors(tmp_path: Path) -> None:
    with pytest.raises(SafetensorsStoreError, match=r"embed\.weight.*qfloat"):
        _quantized().save_into(SafetensorsStore.from_file(tmp_path / "q.safetensors"))
    assert list(tmp_path.iterdir()) == []


# ---- what is loaded


def _state(module: Module) -> dict[str, tuple[str, list[int], int, str]]:
    record = module.into_record()
    return {
        path: (
            record[path].dtype,
            list(record[path].shape),
            leaf.id.val(),
            hashlib.sha256(record[path].numpy().tobytes()).hexdigest(),
        )
        for path, leaf in module.named_params()
    }


def _told(after: dict[str, Any]) -> dict[str, tuple[str, list[int], int, str]]:
    def dtype(told: Any) -> str:
        return "qfloat" if isinstance(told, dict) else re.sub(r"\(.*", "", told).lower()

    return {
        path: (dtype(one["dtype"]), one["shape"], one["param_id"], one["sha256"])
        for path, one in after.items()
    }


def _target(load: dict[str, Any], *, drawn: bool) -> Module:
    """The module before a load, with the ids that it had; its values are not known."""
    other = "another module" in load["what"] or "row.weight" not in load["after"]
    other = other or load["after"]["row.weight"]["shape"] == [D_IN, D_OUT + 1]
    module: Module = Other() if other else StoreModel()
    ids = {} if other else manifest()["loads"][1]["after"]
    for path, leaf in module.named_params():
        if drawn and isinstance(leaf, Param):
            leaf.val()
        if path in ids:
            leaf.id = ParamId(ids[path]["param_id"])
    return module


OPTIONS: dict[str, Change] = {
    "s": lambda s: s,
    "s.validate(false)": lambda s: s.validate(False),
    "s.allow_partial(true)": lambda s: s.allow_partial(True),
    "s.with_from_adapter(HalfPrecisionAdapter::new())": lambda s: s.with_from_adapter(HalfPrecisionAdapter()),
    "s.with_from_adapter(PyTorchToBurnAdapter)": lambda s: s.with_from_adapter(PyTorchToBurnAdapter()),
    "s.allow_partial(true).validate(false)": lambda s: s.allow_partial(True).validate(False),
    "s.validate(false).allow_partial(true)": lambda s: s.allow_partial(True).validate(False),
    's.with_regex(r"bias$")': lambda s: s.with_regex("bias$"),
    "s.with_filter(PathFilter::none())": lambda s: s.with_filter(PathFilter.none()),
    r's.with_remap_pattern(r"^row\.", "line.").allow_partial(true)': lambda s: s.with_remap_pattern(
        r"^row\.", "line."
    ).allow_partial(True),
    "s.with_from_adapter(PyTorchToBurnAdapter).skip_enum_variants(true)": lambda s: s.with_from_adapter(
        PyTorchToBurnAdapter()
    ).skip_enum_variants(True),
    "s.with_from_adapter(PyTorchToBurnAdapter).allow_partial(true)": lambda s: s.with_from_adapter(
        PyTorchToBurnAdapter()
    ).allow_partial(True),
    r's.with_key_remapping(r"^deep\.stack\.layer_(\d+)\.", "blocks.$1.")': lambda s: s.with_key_remapping(
        r"^deep\.stack\.layer_(\d+)\.", "blocks.$1."
    ),
}


def _loads() -> list[Any]:
    return [pytest.param(load, id=f"{i}-{load['what']}") for i, load in enumerate(manifest()["loads"][2:])]


@pytest.mark.parametrize("load", _loads())
def test_a_load_ends_as_burns(load: dict[str, Any]) -> None:
    text, told = load["options"].replace(" ", "").replace("\n", ""), load["result"]
    kind: Any = {"BurnpackStore": BurnpackStore, "SafetensorsStore": SafetensorsStore}[load["store"]]
    options = {name.replace(" ", ""): change for name, change in OPTIONS.items()}
    store = options[text](kind.from_file(FOLDER / load["from"]))
    # Unlike Burn: a column layout that has values is loaded too.
    drawn = "initialised" in load["what"] or load["what"] == "the same without validation"
    target = _target(load, drawn=drawn)
    before = _state(target)
    if drawn:
        assert target.load_from(store).applied == list(before)
        assert {path: one[3] for path, one in _state(target).items()} == {
            path: one["sha256"] for path, one in manifest()["loads"][0]["after"].items()
        }
    elif told["ok"]:
        _assert_applied(target.load_from(store), told)
        keeps_ids = load["store"] == "SafetensorsStore"
        _assert_after(target, before, told["applied"], _told(load["after"]), keeps_ids=keeps_ids)
    else:
        errors: tuple[Any, ...] = (ValidationError, StoreError)
        with pytest.raises(errors) as caught:
            target.load_from(store)
        assert caught.value.kind == told["kind"]
        # Unlike Burn: nothing has changed.
        assert _state(target) == before


def _assert_applied(result: Any, told: dict[str, Any]) -> None:
    assert result.applied == told["applied"]
    assert result.skipped == told["skipped"]
    assert [list(one) for one in result.missing] == told["missing"]
    assert result.unused == told["unused"]
    assert result.is_success() == told["is_success"]
    for error, text in zip(result.errors, told["errors"], strict=True):
        assert error.path in text and error.kind.lower() in text.lower().replace(" ", "")
        for number in re.findall(r"\d+", text.partition("expected")[2]):
            assert number in str(error)


def _assert_after(
    target: Module, before: Any, applied: list[str], after: dict[str, Any], *, keeps_ids: bool
) -> None:
    found = _state(target)
    running = {path for path, leaf in target.named_params() if isinstance(leaf, RunningState)}
    for path, (dtype, shape, id, sha256) in after.items():
        if dtype == "qfloat" and path in _DEQUANTIZED:
            continue
        assert found[path][:2] == (dtype, shape), path
        if path not in applied and path.replace(".Dense", "") not in applied:
            assert found[path] == before[path], path
            continue
        assert found[path][3] == sha256, path
        # Unlike Burn: running statistics get the id of the file.
        assert path in running or found[path][2] == (before[path][2] if keeps_ids else id), path
