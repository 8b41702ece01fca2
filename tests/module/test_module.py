"""Modules: traversal, paths, copies, training state."""

from typing import Any

import numpy as np
import pytest

from burnpy import Device, EnumModule, Module, OptimizerRecord, Param, ParamGroup, Tensor
from burnpy.module import ArrayModule, Flag, Initializer, ModuleMapper, ModuleVisitor, RunningState


class Block(Module):
    def __init__(self, size: int) -> None:
        self.weight = Initializer.Ones().init((size, size))
        self.bias = Initializer.Zeros().init((size,))

    def forward(self, x: Tensor) -> Tensor:
        return x.matmul(self.weight.val()) + self.bias.val()


class Choice(EnumModule):
    def __init__(self, name: str, payload: Module) -> None:
        setattr(self, name, payload)


class Everything(Module):
    def __init__(self) -> None:
        self.first = Block(2)
        self.number = 3
        self.items = [Block(1), Block(1)]
        self.pair = (Block(1), Param.from_data([1, 2]))
        self.array = ArrayModule([Block(1)])
        self.named = {"a": Block(1)}
        self.nothing: Block | None = None
        self.choice = Choice("Basic", Block(1))
        self.running = RunningState(Tensor([0.0]))
        self.training = Flag(True)
        self.buffer = Tensor([1.0])


PATHS = [
    "first.weight", "first.bias",
    "items.0.weight", "items.0.bias", "items.1.weight", "items.1.bias",
    "pair.0.weight", "pair.0.bias", "pair.1",
    "array.0.weight", "array.0.bias",
    "named.a.weight", "named.a.bias",
    "choice.Basic.weight", "choice.Basic.bias",
    "running",
]  # fmt: skip


def test_paths_come_in_the_order_of_declaration() -> None:
    assert [path for path, _ in Everything().named_params()] == PATHS


def test_flags_have_paths_and_are_listed_when_asked_for() -> None:
    assert [p for p, leaf in Everything().named_params(flags=True) if isinstance(leaf, Flag)] == ["training"]


def test_counting_floats_draws_nothing() -> None:
    model = Everything()
    assert model.num_params() == 6 + 6 * 2 + 1
    assert not model.first.weight.is_initialized()


def test_a_bare_parameter_has_the_empty_path() -> None:
    from burnpy.module.traversal import leaves

    assert [path for path, _ in leaves(Param.from_tensor(Tensor([1.0])))] == [""]


def test_visitors_are_told_what_they_enter() -> None:
    class Log(ModuleVisitor):
        def __init__(self) -> None:
            self.lines: list[str] = []

        def enter_module(self, name: str, container_type: str) -> None:
            self.lines.append(f"{container_type}/{name}")

    log = Log()
    Everything().visit(log)
    for line in ("Struct:Everything/first", "Vec/0", "Tuple/1", "Array/0", "Dict/a", "Enum:Choice/Basic"):
        assert line in log.lines


def test_a_mapper_makes_another_module_and_ties_stay_tied() -> None:
    class Doubled(ModuleMapper):
        def map_float(self, param: Param) -> Param:
            return param.map(lambda value: value * 2.0)

    class Tied(Module):
        def __init__(self) -> None:
            self.one = Block(1)
            self.other = self.one

    tied = Tied()
    doubled = tied.map(Doubled())
    assert doubled.one is doubled.other
    assert doubled.one.weight.val().tolist() == [[2.0]]
    assert tied.one.weight.val().tolist() == [[1.0]]
    assert tied.num_params() == 4


def test_a_clone_is_independent_and_shares_memory() -> None:
    model = Block(2)
    model.weight.val()
    clone = model.clone()
    assert clone.weight.id == model.weight.id
    a, b = model.weight.val().numpy(), clone.weight.val().numpy()
    assert np.shares_memory(a, b)
    clone.weight.set_base(Tensor.zeros((2, 2)).require_grad())
    assert model.weight.val().tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_valid_is_plain_and_train_goes_back() -> None:
    model = Everything()
    valid = model.valid()
    assert not valid.training.is_enabled()
    assert not valid.first.weight.val().is_autodiff()
    assert model.training.is_enabled()
    assert valid.valid().num_params() == model.num_params()
    again = valid.train()
    assert again.training.is_enabled()
    assert again.first.weight.val().is_require_grad()
    assert again.first.weight.id == model.first.weight.id
    off = model.no_grad().valid().train()
    assert not off.first.weight.val().is_require_grad()


def test_freezing_a_group_leaves_the_rest() -> None:
    model = Everything()
    model.freeze_group(ParamGroup.from_predicate("first"))
    assert not model.first.weight.val().is_require_grad()
    assert model.items[0].weight.val().is_require_grad()
    assert model.training.is_enabled()
    model.freeze()
    assert not model.training.is_enabled()
    model.unfreeze()
    assert model.training.is_enabled()
    assert model.first.weight.val().is_require_grad()


def test_no_grad_leaves_flags_alone() -> None:
    assert Everything().no_grad().training.is_enabled()


def test_casting_changes_floats_only() -> None:
    model = Everything().cast("f16")
    assert model.first.weight.val().dtype == "f16"
    assert model.first.weight.val().is_require_grad()
    assert model.pair[1].val().dtype == "i32"
    assert model.running.value().dtype == "f16"
    with pytest.raises(TypeError, match="i32"):
        Everything().cast("i32")


def test_devices_are_told_without_drawing() -> None:
    model = Block(2)
    assert model.devices() == [Device.cpu().autodiff()]
    assert not model.weight.is_initialized()


def test_running_values_are_folded_by_the_next_update() -> None:
    state = RunningState(Tensor([0.0]))
    state.update(Tensor([2.0]))
    assert state.value().item() == 0.0
    state.update(Tensor([4.0]))
    assert state.value().item() == 2.0
    assert state.clone().value().item() == 4.0


def test_an_enum_has_one_variant() -> None:
    choice = Choice("Basic", Block(1))
    assert choice.variant == "Basic"
    with pytest.raises(TypeError, match="Basic already"):
        choice.Other = Block(1)


@pytest.mark.parametrize("key", ["a.b", "", 3])
def test_dictionaries_with_other_keys_are_refused(key: object) -> None:
    class Bad(Module):
        def __init__(self) -> None:
            self.parts = {key: Block(1)}

    with pytest.raises(ValueError, match="keys without dots"):
        list(Bad().named_params())


def test_a_module_without_forward_says_so() -> None:
    with pytest.raises(NotImplementedError, match="Everything has no forward"):
        Everything()(Tensor([1.0]))


def test_modules_can_be_pickled() -> None:
    import pickle

    model = Block(2)
    again = pickle.loads(pickle.dumps(model))
    assert again.weight.id == model.weight.id
    assert again.weight.val().tolist() == model.weight.val().tolist()
    assert again.weight.val().is_require_grad()


def test_a_module_that_holds_itself_is_told() -> None:
    from burnpy._core import parameters

    class Ring(Module):
        def __init__(self) -> None:
            self.me = self

    for walk in (lambda: list(Ring().named_params()), lambda: parameters(Ring(), Param)):
        with pytest.raises(RecursionError, match="does one hold itself"):
            walk()


def test_the_fast_walk_finds_what_the_slow_one_finds() -> None:
    from burnpy._core import parameters

    model = Everything()
    slow = [leaf for _, leaf in model.named_params() if isinstance(leaf, Param)]
    assert [id(param) for param in parameters(model, Param)] == [id(param) for param in slow]
    model.items.append(model.first)
    assert parameters(model, Param).count(model.first.weight) == 2


def test_a_set_of_modules_is_refused_and_one_of_numbers_is_not() -> None:
    class Odd(Module):
        def __init__(self, parts: set[Any]) -> None:
            self.parts = parts

    assert Odd({1, 2}).num_params() == 0
    with pytest.raises(TypeError, match="a set of modules has no order"):
        Odd({Block(1)}).num_params()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda model: model.freeze_group("first"), "group must be a ParamGroup, got 'first'"),
        (lambda model: model.set_require_grad_group("first", False), "group must be a ParamGroup"),
        (lambda model: model.into_record("first"), "group must be a ParamGroup"),
        (lambda model: model.quantize_weights_group(None, None), "group must be a ParamGroup, got None"),
        (lambda model: model.load_record("model.bpk"), "record must be a ModuleRecord, got str"),
        (lambda model: model.load_record(OptimizerRecord()), "ModuleRecord, got OptimizerRecord"),
        (lambda model: Param.from_tensor(np.zeros(3)), "tensor must be a Tensor, got ndarray; from_data"),
    ],
)
def test_arguments_of_another_class_are_refused_by_name(call: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        call(Block(1))
