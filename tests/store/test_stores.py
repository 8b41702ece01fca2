"""Burn's stores without a module: options, names, metadata, files in memory, and errors under Burn's names."""

import dataclasses
import io
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy.errors import (
    AlreadyExists,
    CheckpointError,
    InvalidMagicNumber,
    IoError,
    PickleError,
    PytorchError,
    PytorchStoreError,
    SafetensorsStoreError,
    ValidationError,
)
from burnpy.pack import Reader, Scalar, Tensor
from burnpy.store import (
    ApplyResult,
    BurnpackStore,
    BurnToPyTorchAdapter,
    DTypeMismatch,
    HalfPrecisionAdapter,
    KeyRemapper,
    ModuleStore,
    NameCollision,
    PathFilter,
    PytorchReader,
    PytorchStore,
    PyTorchToBurnAdapter,
    SafetensorsStore,
    TensorSnapshot,
    Unsupported,
)
from tests.paths import GOLDEN

Make = Callable[..., Any]
BOTH = pytest.mark.parametrize("make", [BurnpackStore.from_file, SafetensorsStore.from_file])


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def layers() -> list[TensorSnapshot]:
    """A Linear and a norm, as a module collects them."""
    linear, norm = ("Struct:Model", "Struct:Linear"), ("Struct:Model", "Struct:LayerNorm")
    return [
        TensorSnapshot.from_array("fc.weight", np.arange(6, dtype=np.float32).reshape(2, 3), param_id=11)
        .with_container(linear),
        TensorSnapshot.from_array("fc.bias", np.ones(3, np.float32), param_id=12).with_container(linear),
        TensorSnapshot.from_array("norm.gamma", np.full(3, 2, np.float32)).with_container(norm),
    ]  # fmt: skip


class Stub:
    """What a store sees of a module."""

    def __init__(self, result: ApplyResult | None = None) -> None:
        self.result = result or ApplyResult()
        self.asked: dict[str, Any] = {}
        self.tensors: list[TensorSnapshot] = []

    def collect(self, **asked: Any) -> list[TensorSnapshot]:
        self.asked = asked
        return [asked["adapter"].adapt(one, _context(one)) for one in layers()]

    def apply(self, tensors: list[TensorSnapshot], **asked: Any) -> ApplyResult:
        self.tensors, self.asked = tensors, asked
        asked["check"](self.result)
        return self.result


def _context(tensor: TensorSnapshot) -> Any:
    from burnpy.store import ModuleContext

    return ModuleContext(tensor.container)


# What every store does.


@BOTH
def test_what_is_saved_is_there_under_sorted_names(make: Make) -> None:
    store = make("model.x")
    store.save(layers())
    assert store.keys() == ["fc.bias", "fc.weight", "norm.gamma"]
    assert store.get_tensor("fc.weight").to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert store.get_tensor("missing") is None
    assert list(store.get_all_tensors()) == store.keys()


@BOTH
def test_a_file_is_replaced_only_when_that_is_asked_for(make: Make) -> None:
    store = make("model.x")
    store.save({"a": np.ones(1)})
    before = Path("model.x").read_bytes()
    with pytest.raises((AlreadyExists, SafetensorsStoreError), match="overwriting is off"):
        store.save({"b": np.ones(1)})
    assert Path("model.x").read_bytes() == before
    store.overwrite(True).save({"b": np.ones(1)})
    assert store.keys() == ["b"] and os.listdir() == ["model.x"]


@BOTH
def test_saving_and_listing_go_in_turn_on_one_store(make: Make) -> None:
    store = make("model.x", overwrite=True)
    for name in ("a", "b"):
        store.save({name: np.ones(1)})
        assert store.keys() == [name]


@pytest.mark.parametrize("make", [BurnpackStore.from_bytes, SafetensorsStore.from_bytes])
def test_a_store_in_memory_has_its_bytes_after_a_save(make: Make) -> None:
    store = make()
    with pytest.raises((IoError, SafetensorsStoreError), match="no bytes"):
        store.get_bytes()
    with pytest.raises((IoError, SafetensorsStoreError), match="no bytes"):
        store.keys()
    store.save(layers())
    again = make(store.get_bytes())
    assert again.keys() == store.keys()
    assert again.get_tensor("fc.weight").to_numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert make(bytearray(store.get_bytes())).get_bytes() == store.get_bytes()


@BOTH
def test_metadata_is_laid_over_the_default_and_can_be_read(make: Make) -> None:
    store = make("model.x", metadata={"author": "me"}).metadata("format", "mine")
    store.save({"a": np.ones(1)})
    default = store.default_metadata()
    assert default["producer"] == "burn"
    assert store.file_metadata() == default | {"author": "me", "format": "mine"}
    bare = make("bare.x").clear_metadata().metadata("k", "v")
    bare.save({"a": np.ones(1)})
    assert bare.file_metadata() == {"k": "v"}


@BOTH
def test_names_are_mapped_and_renumbered_when_loading(make: Make) -> None:
    make("model.x").save({f"seq.{i}.weight": np.full(1, float(i)) for i in (0, 2, 5)})
    store = make("model.x", map_indices_contiguous=True).with_key_remapping("^seq", "layers")
    assert store.keys() == [f"layers.{i}.weight" for i in range(3)]
    assert store.get_tensor("layers.2.weight").to_numpy().tolist() == [5.0]
    store.map_indices_contiguous_except("^layers$")
    assert store.keys() == [f"layers.{i}.weight" for i in (0, 2, 5)]
    store.remap(KeyRemapper()).map_indices_contiguous(False)
    assert store.keys() == [f"seq.{i}.weight" for i in (0, 2, 5)]


@BOTH
def test_keywords_and_builders_are_the_same(make: Make) -> None:
    by_keyword = make(
        "m.x", filter=PathFilter(regexes=["a"]), remapper=KeyRemapper([("a", "b")]), allow_partial=True, validate=False,
        from_adapter=PyTorchToBurnAdapter(), to_adapter=BurnToPyTorchAdapter(), overwrite=True, skip_enum_variants=True,
        map_indices_contiguous=True, map_indices_contiguous_except=["x"], metadata={"k": "v"},
    )  # fmt: skip
    built = (
        make("m.x").with_regex("a").with_key_remapping("a", "b").allow_partial(True).validate(False)
        .with_from_adapter(PyTorchToBurnAdapter()).with_to_adapter(BurnToPyTorchAdapter()).overwrite(True)
        .skip_enum_variants(True).map_indices_contiguous(True).map_indices_contiguous_except("x").metadata("k", "v")
    )  # fmt: skip
    assert _options(by_keyword) == _options(built)


def _options(store: ModuleStore) -> dict[str, str]:
    return {name: repr(value) for name, value in vars(store).items()}


def test_a_keyword_that_no_store_has_is_an_error() -> None:
    for make in (BurnpackStore.from_file, SafetensorsStore.from_file, PytorchStore.from_file):
        with pytest.raises(TypeError):
            make("m.x", overwite=True)  # type: ignore[operator, call-arg]


@pytest.mark.parametrize(
    "make", [BurnpackStore.from_file, SafetensorsStore.from_file, PytorchStore.from_file]
)
def test_a_bad_pattern_is_an_error_at_once(make: Make) -> None:
    for bad in (
        lambda: make("m.x").with_regex("("),
        lambda: make("m.x").with_key_remapping("(", ""),
        lambda: make("m.x").map_indices_contiguous_except("("),
    ):
        with pytest.raises(ValueError, match="unclosed"):
            bad()


def test_a_filter_that_was_given_is_not_changed_by_the_builders() -> None:
    given = PathFilter(regexes=["a"])
    BurnpackStore.from_file("m.x", filter=given).with_regex("b").with_full_paths(["c"]).with_predicates([])
    assert given.criteria_count() == 1


@pytest.mark.parametrize("make", [BurnpackStore.from_file, SafetensorsStore.from_file])
def test_two_tensors_of_one_new_name_are_an_error(make: Make) -> None:
    make("m.x").save({"a1": np.ones(1), "a2": np.ones(1)})
    with pytest.raises(NameCollision):
        make("m.x").with_key_remapping(r"\d", "").keys()


@pytest.mark.parametrize(
    "make", [BurnpackStore.from_file, SafetensorsStore.from_file, PytorchStore.from_file]
)
def test_a_file_that_is_not_there_is_pythons_own_error(make: Make) -> None:
    with pytest.raises(FileNotFoundError):
        make("missing.x").keys()


@BOTH
def test_a_lazy_tensor_may_be_read_in_another_thread(make: Make) -> None:
    store = make("model.x")
    store.save(layers())
    tensor, read = store.get_tensor("fc.weight"), []
    thread = threading.Thread(target=lambda: read.append(tensor.to_numpy().sum()))
    thread.start()
    thread.join()
    assert read == [15]


# Modules.


@pytest.mark.parametrize("make", [BurnpackStore.from_file, SafetensorsStore.from_file])
def test_a_module_is_asked_with_the_options_of_the_store(make: Make) -> None:
    store = make("m.x", to_adapter=BurnToPyTorchAdapter(), skip_enum_variants=True).with_regex("fc|norm")
    module = Stub()
    store.collect_from(module)
    assert module.asked["skip_enum_variants"] is True
    assert store.keys() == ["fc.bias", "fc.weight", "norm.weight"]
    assert store.get_tensor("fc.weight").shape == (3, 2)

    assert store.apply_to(module) is module.result
    assert [tensor.name for tensor in module.tensors] == store.keys()
    assert module.asked["filter"] is not None


def test_a_burnpack_keeps_ids_and_a_safetensors_file_has_none() -> None:
    BurnpackStore.from_file("m").collect_from(Stub())
    SafetensorsStore.from_file("m.safetensors").collect_from(Stub())
    assert BurnpackStore.from_file("m").get_all_tensors()["fc.weight"].param_id == 11
    assert SafetensorsStore.from_file("m.safetensors").get_all_tensors()["fc.weight"].param_id is None


def test_the_filter_sees_burns_names_in_a_burnpack_and_adapted_ones_in_safetensors() -> None:
    def save(make: Make, pattern: str) -> list[str]:
        store = make(None, to_adapter=BurnToPyTorchAdapter()).with_regex(pattern)
        store.save(layers())
        return list(store.keys())

    assert save(BurnpackStore.from_bytes, r"^norm\.gamma$") == ["norm.weight"]
    assert save(SafetensorsStore.from_bytes, r"^norm\.gamma$") == []
    assert save(SafetensorsStore.from_bytes, r"^norm\.weight$") == ["norm.weight"]


def test_an_empty_filter_is_nothing_in_a_burnpack_and_none_in_the_others() -> None:
    for make, names in ((BurnpackStore.from_bytes, []), (SafetensorsStore.from_bytes, ["fc.bias"])):
        store = make(filter=PathFilter())
        store.save(layers()[1:2])
        assert store.keys() == names


def test_renaming_is_for_loading_alone_in_a_burnpack_and_for_both_in_safetensors() -> None:
    for make, saved in ((BurnpackStore, "fc.bias"), (SafetensorsStore, "head.bias")):
        make("m.x", overwrite=True).with_key_remapping("^fc", "head").save(layers()[1:2])
        assert make("m.x").keys() == [saved]


@pytest.mark.parametrize(
    ("store", "invalid", "missing"),
    [
        (BurnpackStore.from_file("m.bpk"), "ValidationError", "ValidationError"),
        (SafetensorsStore.from_file("m.safetensors"), "ValidationFailed", "TensorNotFound"),
        (PytorchStore.from_file("m.pt"), "ValidationFailed", "TensorNotFound"),
    ],
)
def test_errors_of_applying_have_burns_kinds_and_the_whole_result(
    store: ModuleStore, invalid: str, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "_tensors", {})
    wrong = ApplyResult(errors=[DTypeMismatch("steps", expected="i64", found="f32")])
    absent = ApplyResult(missing=[("fc.bias", "Struct:Linear")], unused=["fc.biass"])
    for result, kind, word in ((wrong, invalid, "steps"), (absent, missing, "fc.bias")):
        with pytest.raises((ValidationError, SafetensorsStoreError, PytorchStoreError)) as caught:
            store.apply_to(Stub(result))
        error = pickle.loads(pickle.dumps(caught.value))
        assert error.kind == kind and word in str(error)
        assert str(error.result) == str(result)
    assert store.validate(False).apply_to(Stub(wrong)).errors
    assert store.allow_partial(True).apply_to(Stub(absent)).missing


# Burnpacks.


def test_a_path_without_an_extension_gets_one_in_both_directions() -> None:
    BurnpackStore.from_file("model").save(layers())
    assert os.listdir() == ["model.bpk"]
    Path("model").write_text("something else")
    assert BurnpackStore.from_file("model").keys()
    with pytest.raises(InvalidMagicNumber):
        BurnpackStore.from_file("model", auto_extension=False).keys()
    BurnpackStore.from_file("model.v1").save(layers())
    assert "model.v1" in os.listdir()


def test_scalars_of_a_burnpack_can_be_read() -> None:
    burnpy.numpy.save_file({"a": np.ones(1)}, "m.bpk", scalars={"step": 3})
    assert BurnpackStore.from_file("m").file_scalars() == {"step": Scalar.uint(3)}


def test_half_precision_is_cast_on_the_way_out() -> None:
    store = BurnpackStore.from_bytes(to_adapter=HalfPrecisionAdapter())
    store.save(layers())
    assert {tensor.dtype for tensor in store.get_all_tensors().values()} == {"f16"}


def test_a_tensor_that_fails_leaves_the_old_file() -> None:
    def fail() -> Any:
        raise RuntimeError("no data")

    broken = TensorSnapshot("w", "f32", (2,), fail)
    BurnpackStore.from_file("m").save(layers())
    SafetensorsStore.from_file("m.safetensors").save(layers())
    before = {name: Path(name).read_bytes() for name in os.listdir()}
    with pytest.raises(ValidationError, match="w"):
        BurnpackStore.from_file("m", overwrite=True).save([broken])
    with pytest.raises(SafetensorsStoreError, match="w") as caught:
        SafetensorsStore.from_file("m.safetensors", overwrite=True).save([broken])
    assert caught.value.kind == "Other"
    assert {name: Path(name).read_bytes() for name in os.listdir()} == before


@pytest.mark.golden
def test_a_burnpack_of_burns_store_is_written_again_to_the_same_bytes() -> None:
    source = GOLDEN / "burn" / "store" / "burnpack_default.bpk"
    with burnpy.open(source) as checkpoint:
        tensors = [TensorSnapshot.from_view(view) for view in checkpoint.values()]
        store = BurnpackStore.from_bytes()
        store.save(tensors)
    assert store.get_bytes() == source.read_bytes()


# Safetensors.


@pytest.mark.golden
def test_a_safetensors_file_of_burns_store_is_written_again_to_the_same_bytes() -> None:
    source = GOLDEN / "burn" / "store" / "safetensors_one_metadata.safetensors"
    reading = SafetensorsStore.from_file(source)
    store = SafetensorsStore.from_bytes().clear_metadata()
    for key, value in reading.file_metadata().items():
        store.metadata(key, value)
    store.save(reading.get_all_tensors())
    assert store.get_bytes() == source.read_bytes()


def test_faults_of_a_safetensors_file_are_the_cause() -> None:
    Path("m.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{not json")
    with pytest.raises(SafetensorsStoreError) as caught:
        SafetensorsStore.from_file("m.safetensors").keys()
    assert caught.value.kind == "Safetensors"
    assert isinstance(caught.value.__cause__, CheckpointError)


def test_what_safetensors_cannot_hold_is_told_before_anything_is_written() -> None:
    quantized = Tensor("q", burnpy.pack.QuantScheme(value="Q8F"), (4, 4), data=bytes(20))
    with pytest.raises(SafetensorsStoreError, match=r"'q'.*qfloat"):
        SafetensorsStore.from_file("m.safetensors").save([quantized])
    assert os.listdir() == []


def test_dtypes_of_burn_alone_are_kept_under_those_of_the_same_bytes() -> None:
    store = SafetensorsStore.from_bytes()
    store.save([Tensor("f", "flex32", (1,), data=bytes(4)), Tensor("b", "bool(u32)", (1,), data=bytes(4))])
    assert {name: tensor.dtype for name, tensor in store.get_all_tensors().items()} == {
        "b": "u32",
        "f": "f32",
    }


# PyTorch.


@pytest.mark.golden
def test_the_state_dict_of_a_checkpoint_is_found_and_wrappers_are_taken_off() -> None:
    store = PytorchStore.from_file(GOLDEN / "pytorch" / "lightning.ckpt")
    assert "net.first.weight" in store.keys()  # noqa: SIM118 (no mapping)
    assert store.chosen is not None and store.chosen.top_level_key == "state_dict"
    store.with_top_level_key(None)
    assert "state_dict.net.first.weight" in store.keys()  # noqa: SIM118
    with pytest.raises(PytorchStoreError, match="nothing_like_it") as caught:
        store.with_top_level_key("nothing_like_it").keys()
    assert caught.value.kind == "Reader"
    assert isinstance(caught.value.__cause__, PytorchError) and caught.value.__cause__.kind == "KeyNotFound"


@pytest.mark.golden
def test_a_pytorch_store_reads_from_memory_and_never_writes() -> None:
    data = (GOLDEN / "pytorch" / "model_linear_zip.pt").read_bytes()
    store = PytorchStore.from_bytes(data)
    assert store.keys() == ["bias", "weight"]
    for save in (lambda: store.save(layers()), lambda: store.collect_from(Stub())):
        with pytest.raises(PytorchStoreError, match="never written") as caught:
            save()
        assert caught.value.kind == "Other"
    module = Stub()
    store.apply_to(module)
    assert isinstance(module.asked["adapter"], PyTorchToBurnAdapter)
    assert module.asked["skip_enum_variants"] is True


@pytest.mark.golden
def test_the_reader_says_what_a_checkpoint_is() -> None:
    zipped = PytorchReader(GOLDEN / "pytorch" / "model_linear_zip.pt")
    about = zipped.metadata()
    assert (about.format_type, about.byte_order, about.tensor_count) == ("Zip", "LittleEndian", 2)
    assert about.is_modern_format() and about.pytorch_version == "3"
    assert about.total_data_size == sum(tensor.nbytes for tensor in zipped.tensors())
    legacy = PytorchReader(GOLDEN / "pytorch" / "model_linear_legacy.pth").metadata()
    assert legacy.is_legacy_format() and legacy.pytorch_version is None
    assert PytorchReader(GOLDEN / "pytorch" / "big_endian.pt").metadata().byte_order == "BigEndian"


@pytest.mark.golden
def test_the_reader_gives_lazy_tensors_by_name() -> None:
    reader = PytorchReader(GOLDEN / "pytorch" / "model_linear_zip.pt")
    assert len(reader) == 2 and not reader.is_empty() and set(reader.keys()) == {"weight", "bias"}
    weight = reader.get("weight")
    assert weight is not None and weight.to_numpy().shape == weight.shape
    assert reader.get("missing") is None
    with open(GOLDEN / "pytorch" / "model_linear_zip.pt", "rb") as file:
        assert PytorchReader.from_reader(file).keys() == reader.keys()


@dataclasses.dataclass
class Optimizer:
    lr: float
    nesterov: bool
    foreach: bool | None
    params: list[int]
    extra: int = 7


@pytest.mark.golden
def test_plain_data_is_read_and_made_a_configuration() -> None:
    path = GOLDEN / "pytorch" / "lightning.ckpt"
    data = PytorchReader.read_pickle_data(path)
    assert data["epoch"] == 5
    assert data["state_dict"]["net.first.weight"] == Unsupported("torch.Tensor")
    assert PytorchReader.load_config(path, "epoch") == 5
    group = PytorchReader.read_pickle_data(path, "optimizer_states")[0]["param_groups"][0]
    wanted = {"lr": 0.1, "nesterov": False, "foreach": None}
    assert {key: group[key] for key in wanted} == wanted
    with pytest.raises(PytorchError, match="no key 'nope'") as caught:
        PytorchReader.load_config(path, "nope")
    assert caught.value.kind == "KeyNotFound"


def _pickled(value: Any) -> Path:
    Path("config.pkl").write_bytes(pickle.dumps(value, protocol=2))
    return Path("config.pkl")


def test_a_configuration_is_checked_field_by_field() -> None:
    good = {"lr": 0.1, "nesterov": True, "foreach": None, "params": (1, 2), "other": object}
    found = PytorchReader.load_config(_pickled({"opt": good}), "opt", Optimizer)
    assert found == Optimizer(0.1, True, None, [1, 2])
    for change, words in (
        ({"lr": 1}, "lr must be float, found int"),
        ({"nesterov": 1}, "nesterov must be bool, found int"),
        ({"params": [1, "x"]}, r"params\[1\] must be int, found str"),
        ({"lr": object}, "lr must be float, found "),
    ):
        with pytest.raises(PytorchError, match=words) as caught:
            PytorchReader.load_config(_pickled({"opt": good | change}), "opt", Optimizer)
        assert caught.value.kind == "Serde"
    del good["lr"]
    with pytest.raises(PytorchError, match="'lr' is missing"):
        PytorchReader.load_config(_pickled({"opt": good}), "opt", Optimizer)


def test_plain_data_that_is_shared_stays_shared() -> None:
    shared: list[Any] = [1]
    for _ in range(10):
        shared = [shared, shared]
    data = PytorchReader.read_pickle_data(_pickled({"deep": shared, "big": 2**80, "set": {3}, 4: b"x"}))
    assert data["deep"][0] is data["deep"][1]
    assert data["big"] == 2**80 and data["set"] == [3] and data["4"] == b"x"
    with pytest.raises(PytorchError, match="found list") as caught:
        PytorchReader.read_pickle_data(_pickled([1]), "key")
    assert caught.value.kind == "InvalidFormat"


def test_faults_of_a_pickle_have_burns_kinds() -> None:
    Path("cut.pkl").write_bytes(b"\x80\x02}q\x00X\xff")
    with pytest.raises(PickleError) as caught:
        PytorchReader("cut.pkl")
    assert caught.value.kind == "Pickle" and isinstance(caught.value.__cause__, CheckpointError)
    with pytest.raises(PytorchError) as refused:
        PytorchReader.from_reader(io.BytesIO(b"abc"))
    assert refused.value.kind == "InvalidFormat"


def test_a_reader_of_burns_container_reads_what_a_store_wrote() -> None:
    BurnpackStore.from_file("m").save(layers())
    assert Reader.from_file("m.bpk").metadata()["format"] == "burnpack"
