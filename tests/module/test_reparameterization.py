"""Parameters seen through something: LoRA, QLoRA, and what users make."""

from typing import ClassVar

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.module import (
    Calibration,
    Initializer,
    Lora,
    Module,
    ModuleMapper,
    ModuleVisitor,
    Param,
    ParamGroup,
    QLora,
    Quantizer,
    Reparameterization,
)
from burnpy.pack import QuantScheme


class Net(Module):
    def __init__(self) -> None:
        self.weight = Initializer.Normal(0.0, 1.0).init((4, 6))
        self.bias = Initializer.Ones().init((6,))
        self.count = Param.from_tensor(Tensor([1, 2]))

    def forward(self, x: Tensor) -> Tensor:
        return x.matmul(self.weight.val()) + self.bias.val().unsqueeze(2)


PATHS = ["weight", "weight.lora.a", "weight.lora.b", "bias", "count"]


def _paths(module: Module) -> list[str]:
    return [path for path, _ in module.named_params()]


def test_factors_come_after_the_base_and_train_alone() -> None:
    net = Net().apply_lora(Lora(2, 4.0))
    assert _paths(net) == PATHS
    assert net.num_params() == 24 + 6 + 12 + 8
    assert [param.active for _, param in net.named_params()] == [False, True, True, False, False]
    assert net.weight.reparam.scale == 2.0  # type: ignore[union-attr]
    assert not net.weight.is_initialized()


def test_nothing_changes_before_the_first_step_and_the_original_stays() -> None:
    net = Net()
    x = Tensor.ones((2, 4))
    before = net.forward(x).numpy()
    adapted = net.apply_lora(Lora(2, 4.0))
    np.testing.assert_array_equal(adapted.forward(x).numpy(), before)
    assert net.weight.reparam is None and net.weight.active
    assert [param.id for _, param in net.named_params()] == [
        param.id for path, param in adapted.named_params() if "lora" not in path
    ]


def test_gradients_reach_the_factors_and_not_the_base() -> None:
    net = Net().apply_lora(Lora(2, 4.0))
    grads = net.forward(Tensor.ones((2, 4))).sum().backward()
    found = {path: param.base().grad(grads) for path, param in net.named_params() if param.kind == "float"}
    assert found["weight"] is None and found["bias"] is None
    b, a = found["weight.lora.b"], found["weight.lora.a"]
    assert a is not None and b is not None and b.abs().max().item() > 0


def test_a_group_chooses_the_matrices_and_freezes_the_rest_all_the_same() -> None:
    lora = Lora(1, 1.0).set_param_group(ParamGroup.from_path("elsewhere"))
    net = Net().apply_lora(lora)
    assert _paths(net) == ["weight", "bias", "count"]
    assert not any(param.active for _, param in net.named_params())


def test_it_survives_valid_train_clone_cast_and_map() -> None:
    class Doubled(ModuleMapper):
        def map_float(self, param: Param) -> Param:
            return param.map(lambda value: value * 2.0)

    net = Net().apply_lora(Lora(2, 4.0))
    net.weight.reparam.b.set_base(Tensor.ones((2, 6)))  # type: ignore[union-attr]
    copies = [net.valid(), net.valid().train(), net.clone(), net.cast("f64"), net.map(ModuleMapper())]
    for copy in copies:
        assert _paths(copy) == PATHS
        assert copy.weight.reparam is not net.weight.reparam
        np.testing.assert_allclose(copy.weight.val().numpy(), net.weight.val().numpy(), rtol=1e-6)
    assert not copies[0].weight.val().is_autodiff()
    doubled = net.map(Doubled())
    assert doubled.weight.reparam.b.val().max().item() == 2.0  # type: ignore[union-attr]
    np.testing.assert_allclose(doubled.weight.base().numpy(), net.weight.base().numpy() * 2)


def test_materialize_folds_the_factors_into_a_leaf() -> None:
    net = Net().apply_lora(Lora(2, 4.0))
    net.weight.reparam.b.set_base(Tensor.ones((2, 6)))  # type: ignore[union-attr]
    plain = net.materialize()
    assert _paths(plain) == ["weight", "bias", "count"]
    assert plain.weight.id == net.weight.id and not plain.weight.active
    np.testing.assert_array_equal(plain.weight.base().numpy(), net.weight.val().numpy())
    assert _paths(net) == PATHS
    assert not plain.bias.is_initialized()


def test_unfreeze_trains_the_base_too() -> None:
    net = Net().apply_lora(Lora(2, 4.0)).unfreeze()
    assert net.weight.active and net.bias.active


def test_a_packed_base_becomes_dense() -> None:
    quantizer = Quantizer(Calibration.MinMax, QuantScheme(value="Q8S", store="Native"))
    net = Net()
    packed = net.apply_qlora(QLora(Lora(2, 4.0), quantizer))
    assert _paths(packed) == PATHS
    assert packed.weight.base().dtype == packed.bias.base().dtype == "qfloat"
    np.testing.assert_allclose(packed.weight.val().numpy(), net.weight.val().numpy(), atol=0.02)
    assert packed.materialize().weight.base().dtype == "f32"
    grads = packed.weight.val().sum().backward()
    assert packed.weight.reparam.b.base().grad(grads) is not None  # type: ignore[union-attr]


class ScaleBy(Reparameterization):
    name: ClassVar[str] = "scale_by"

    def __init__(self) -> None:
        self.factor = Param.from_tensor(Tensor([3.0]))

    def apply(self, base: Tensor) -> Tensor:
        return base * self.factor.val().reshape([1] * len(base.shape))


class Everywhere:
    def __init__(self, found: object) -> None:
        self.found = found

    def reparameterize(self, path: str, param: Param) -> Reparameterization | None:
        return self.found if path == "bias" else None  # type: ignore[return-value]


def test_a_visitor_is_told_what_a_factor_hangs_on() -> None:
    class Names(ModuleVisitor):
        def __init__(self) -> None:
            self.entered: list[tuple[str, str]] = []

        def enter_module(self, name: str, container_type: str) -> None:
            self.entered.append((name, container_type))

    names = Names()
    Net().apply_reparameterization(Everywhere(ScaleBy())).visit(names)
    assert ("scale_by", "Reparameterization") in names.entered
    assert ("factor", "Struct:ScaleBy") in names.entered


def test_the_base_trains_beside_a_custom_one() -> None:
    net = Net().apply_reparameterization(Everywhere(ScaleBy()))
    assert net.bias.val().tolist() == [3.0] * 6 and net.bias.active
    grads = net.bias.val().sum().backward()
    factor = net.bias.reparam.factor.base().grad(grads)  # type: ignore[union-attr]
    base = net.bias.base().grad(grads)
    assert factor is not None and base is not None
    assert (factor.item(), base.tolist()) == (6.0, [3.0] * 6)


def test_two_on_one_parameter_are_refused() -> None:
    net = Net().apply_lora(Lora(2, 4.0))
    with pytest.raises(ValueError, match=r"weight has the reparameterization lora already"):
        net.apply_lora(Lora(2, 4.0))


@pytest.mark.parametrize("name", ["", "a.b"])
def test_a_name_must_be_a_part_of_a_path(name: str) -> None:
    class Odd(ScaleBy):
        pass

    Odd.name = name
    with pytest.raises(ValueError, match="must be a part of a path"):
        Net().apply_reparameterization(Everywhere(Odd()))


def test_only_a_reparameterization_can_be_attached() -> None:
    with pytest.raises(TypeError, match="bias: expected a Reparameterization or None, got 3"):
        Net().apply_reparameterization(Everywhere(3))


@pytest.mark.parametrize(
    ("rank", "alpha", "message"),
    [
        (0, 1.0, "rank must be an integer of at least 1, got 0"),
        (1.5, 1.0, "rank"),
        (2, float("nan"), "alpha"),
    ],
)
def test_odd_settings_are_refused_by_name(rank: int, alpha: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Lora(rank, alpha)
