"""Modules as lazy tensors and back: names, containers, kinds, errors, and that nothing changes when something fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import PytorchStoreError, SafetensorsStoreError, ValidationError
from burnpy.module import ArrayModule, EnumModule, Module, Param, ParamId
from burnpy.nn import BatchNormConfig, LinearConfig, LinearLayout, RmsNormConfig
from burnpy.store import (
    AdapterError,
    BurnpackStore,
    DTypeMismatch,
    LoadError,
    ModuleAdapter,
    PathFilter,
    PytorchStore,
    PyTorchToBurnAdapter,
    SafetensorsStore,
    ShapeMismatch,
    TensorSnapshot,
)
from tests.paths import GOLDEN


class Net(Module):
    def __init__(self, size: int = 2) -> None:
        self.fc = LinearConfig(size, 3).init()
        self.layers = [LinearConfig(2, 2).init()]
        self.fixed = ArrayModule([LinearConfig(2, 2).init()])
        self.pair = (LinearConfig(2, 2).init(), None)
        self.choice = Choice()
        self.nothing = None


class Choice(EnumModule):
    def __init__(self) -> None:
        self.LayerA = LinearConfig(2, 2, bias=False).init()


class Kinds(Module):
    def __init__(self) -> None:
        self.numbers = Param.initialized(ParamId(7), Tensor([0.0, 0.0, 0.0]))
        self.counts = Param.initialized(ParamId(8), Tensor([0, 0, 0]).cast("i32"))
        self.flags = Param.initialized(ParamId(9), Tensor([0.0, 0.0, 0.0]).cast("bool"))


def _array(name: str, values: Any, dtype: Any, **fields: Any) -> TensorSnapshot:
    return TensorSnapshot.from_array(name, np.array(values, dtype), **fields)


def _values(module: Module) -> dict[str, Any]:
    return {path: leaf.val().tolist() for path, leaf in module.named_params()}


# Collecting.


def test_every_container_has_its_name_in_the_path_and_its_type_beside_it() -> None:
    found = {one.name: one.container_path for one in Net().collect()}
    assert list(found) == [
        "fc.weight", "fc.bias", "layers.0.weight", "layers.0.bias", "fixed.0.weight", "fixed.0.bias",
        "pair.0.weight", "pair.0.bias", "choice.LayerA.weight",
    ]  # fmt: skip
    assert found["fc.weight"] == "Struct:Net.Struct:Linear"
    assert found["layers.0.weight"] == "Struct:Net.Vec.Struct:Linear"
    assert found["fixed.0.weight"] == "Struct:Net.Array.Struct:Linear"
    assert found["pair.0.weight"] == "Struct:Net.Tuple.Struct:Linear"
    assert found["choice.LayerA.weight"] == "Struct:Net.Enum:Choice.Struct:Linear"
    flat = {one.name: one.container_path for one in Net().collect(skip_enum_variants=True)}
    assert flat["choice.weight"] == found["choice.LayerA.weight"]


def test_a_filter_sees_paths_and_containers() -> None:
    module = Net()
    assert [one.name for one in module.collect(PathFilter(regexes=["bias$"], full_paths=["fc.weight"]))] == [
        "fc.weight", "fc.bias", "layers.0.bias", "fixed.0.bias", "pair.0.bias",
    ]  # fmt: skip
    in_list = PathFilter.from_predicate(lambda _, container: "Vec" in container)
    assert len(module.collect(in_list)) == 2 and module.collect(PathFilter.none()) == []


def test_a_reparameterization_is_a_container_of_its_own() -> None:
    from burnpy.module import Lora

    module = Net().apply_lora(Lora(rank=1, alpha=1.0))
    found = {one.name: one.container_path for one in module.collect(PathFilter(regexes=["^fc"]))}
    assert found["fc.weight"] == "Struct:Net.Struct:Linear"
    assert found["fc.weight.lora.a"] == "Struct:Net.Struct:Linear.Reparameterization.Struct:LoraAdapter"


# Applying.


def test_all_weights_go_from_one_module_to_another() -> None:
    source, target = Net(), Net()
    result = target.apply(source.collect())
    assert result.applied == [one.name for one in source.collect()] and result.is_success()
    assert not result.missing and not result.unused
    assert _values(target) == _values(source)
    assert target.fc.weight.id == source.fc.weight.id and target.fc.weight.val().is_require_grad()


def test_an_id_is_taken_over_if_there_is_one() -> None:
    for id, expected in ((42, 42), (None, 7)):
        target = Kinds()
        target.apply([_array("numbers", [1, 2, 3], np.float32, param_id=id)])
        assert target.numbers.id == ParamId(expected)


@pytest.mark.parametrize(
    ("name", "dtype", "expected"),
    [
        ("numbers", np.float64, "f64"),
        ("numbers", np.float16, "f16"),
        ("numbers", np.int64, None),
        ("numbers", np.bool_, None),
        ("counts", np.int64, "i64"),
        ("counts", np.uint8, "u8"),
        ("counts", np.float32, None),
        ("counts", np.bool_, None),
        ("flags", np.bool_, "bool"),
        ("flags", np.uint8, "bool"),
        ("flags", np.uint32, "bool"),
        ("flags", np.int8, None),
        ("flags", np.uint16, None),
        ("flags", np.float32, None),
    ],
)
def test_a_parameter_takes_a_dtype_of_its_kind(name: str, dtype: Any, expected: str | None) -> None:
    target = Kinds()
    before = _values(target)
    result = target.apply([_array(name, [1, 0, 1], dtype)])
    param = getattr(target, name)
    if expected is None:
        (error,) = result.errors
        assert isinstance(error, DTypeMismatch) and error.path == name and _values(target) == before
        assert error.expected == {"numbers": "f32", "counts": "i32", "flags": "bool"}[name]
    else:
        assert result.applied == [name] and param.val().dtype == expected
        assert param.val().tolist() == [1, 0, 1]


def test_eight_bit_floats_of_foreign_files_are_no_parameter() -> None:
    import ml_dtypes

    result = Kinds().apply([_array("numbers", [1, 2, 3], ml_dtypes.float8_e4m3fn)])
    assert isinstance(result.errors[0], DTypeMismatch) and result.errors[0].found == "f8e4m3fn"


def test_all_differences_are_in_the_result() -> None:
    def fail() -> Any:
        raise OSError("the disk is gone")

    target = Kinds()
    tensors = [
        _array("numbers", [1.0], np.float32),
        TensorSnapshot("counts", "i32", (3,), fail),
        _array("extra", [1.0], np.float32),
    ]
    result = target.apply(tensors)
    assert [type(error) for error in result.errors] == [ShapeMismatch, LoadError]
    assert [path for path, _ in result.missing] == ["flags"] and result.unused == ["extra"]
    assert "the disk is gone" in str(result)


def test_an_adapter_that_fails_is_told_and_the_rest_goes_on() -> None:
    class Failing(ModuleAdapter):
        def adapt(self, tensor: TensorSnapshot, ctx: Any) -> TensorSnapshot:
            if tensor.name == "counts":
                raise RuntimeError("no such case")
            return tensor

    result = Kinds().apply(
        [_array("numbers", [1, 2, 3], np.float32), _array("counts", [1, 2, 3], np.int32)], adapter=Failing()
    )
    assert result.applied == ["numbers"] and isinstance(result.errors[0], AdapterError)


def test_names_of_pytorch_are_found_by_the_adapter() -> None:
    class Model(Module):
        def __init__(self) -> None:
            self.norm = RmsNormConfig(2).init()

    target = Model()
    tensors = [_array("norm.weight", [1.0, 2.0], np.float32)]
    assert [path for path, _ in target.apply(tensors).missing] == ["norm.gamma"]
    result = target.apply(tensors, adapter=PyTorchToBurnAdapter())
    assert result.applied == ["norm.gamma"] and not result.missing and not result.unused
    assert result.renamed == [("norm.gamma", "norm.weight")]


def test_what_the_filter_rejects_is_skipped() -> None:
    target = Kinds()
    result = target.apply([_array("numbers", [1, 2, 3], np.float32)], PathFilter.none())
    assert result.skipped == ["numbers"] and not result.unused and _values(target)["numbers"] == [0, 0, 0]


def test_a_transposed_weight_lies_in_order() -> None:
    target = LinearConfig(2, 3, bias=False).init()
    result = target.apply(
        [_array("weight", [[1, 2], [3, 4], [5, 6]], np.float32)], adapter=PyTorchToBurnAdapter()
    )
    assert result.applied == ["weight"]
    assert target.weight.val().tolist() == [[1, 3, 5], [2, 4, 6]]
    assert target.weight.val().numpy().flags.c_contiguous


def test_a_column_layout_goes_through_a_store_at_any_time() -> None:
    source, target = (LinearConfig(2, 3, layout=LinearLayout.Col).init() for _ in range(2))
    target.weight.val()
    assert source.collect()[0].shape == (3, 2)
    target.apply(source.collect())
    assert target.weight.val().tolist() == source.weight.val().tolist()


def test_two_of_one_name_are_one_the_last() -> None:
    target = Kinds()
    target.apply([_array("numbers", [i] * 3, np.float32) for i in (1, 2)])
    assert _values(target)["numbers"] == [2, 2, 2]


# Stores.


@pytest.mark.parametrize("kind", [BurnpackStore, SafetensorsStore])
def test_a_load_that_fails_leaves_the_module_as_it_was(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.x"
    Net(size=4).save_into(kind.from_file(path))
    target = Net()
    before, ids = _values(target), [leaf.id for _, leaf in target.named_params()]
    with pytest.raises((ValidationError, SafetensorsStoreError)) as caught:
        target.load_from(kind.from_file(path))
    result: Any = getattr(caught.value, "result")  # noqa: B009
    assert [error.path for error in result.errors] == ["fc.weight"]
    assert _values(target) == before and [leaf.id for _, leaf in target.named_params()] == ids
    lenient = target.load_from(kind.from_file(path, validate=False))
    assert len(lenient.applied) == len(before) - 1


def test_weights_of_a_store_are_mapped_and_the_file_is_never_changed(tmp_path: Path) -> None:
    path = tmp_path / "model.bpk"
    Net().save_into(BurnpackStore.from_file(path))
    before = path.read_bytes()
    target = Net()
    target.load_from(BurnpackStore.from_file(path))
    cell = target.fc.weight.cell
    cell.set(cell.get() * 2.0)
    assert path.read_bytes() == before


def test_what_is_no_module_is_refused() -> None:
    for wrong in (3, None, "module"):
        with pytest.raises(AttributeError):
            BurnpackStore.from_bytes().collect_from(wrong)
    with pytest.raises(TypeError):
        Net().apply(Net().collect(), filtre=PathFilter.all())


@pytest.mark.golden
def test_a_pytorch_checkpoint_is_loaded_with_no_option_at_all() -> None:
    class Inner(Module):
        def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
            self.first = LinearConfig(*reversed(shapes["net.first.weight"])).init()
            self.norm = BatchNormConfig(shapes["net.norm.weight"][0]).init()

    class Outer(Module):
        def __init__(self, shapes: dict[str, tuple[int, ...]]) -> None:
            self.net = Inner(shapes)

    store = PytorchStore.from_file(GOLDEN / "pytorch" / "lightning.ckpt")
    tensors = store.get_all_tensors()
    wanted = {name: one.shape for name, one in tensors.items()}
    if "net.norm.weight" not in wanted:
        pytest.fail(f"the checkpoint has {sorted(wanted)}")
    target = Outer(wanted)
    result = target.load_from(store)
    assert not result.missing and not result.errors
    assert target.net.first.weight.val().tolist() == tensors["net.first.weight"].to_numpy().T.tolist()
    with pytest.raises(PytorchStoreError, match="never written"):
        target.save_into(store)
