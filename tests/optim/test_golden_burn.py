"""Optimizers and their records against real Burn: the same steps, the same files, the same steps after a load."""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import RecordError, ShapeError
from burnpy.module import Module, Param, ParamGroup, ParamId
from burnpy.optim import (
    LBFGS,
    AdamConfig,
    GradientClipping,
    GradientClippingConfig,
    GradientsParams,
    LBFGSConfig,
    ModuleOptimizer,
    SgdConfig,
)
from burnpy.record import OptimizerRecord, RecordWarning
from burnpy.tensor.activation import relu
from tests.optim.golden_burn import (
    DTYPES,
    FOLDER,
    Net,
    differences,
    gradients_of,
    loaded,
    manifest,
    optimizer_of,
    rates_of,
)
from tests.optim.models import Affine

MANIFEST = manifest()
CASES: dict[str, dict[str, Any]] = MANIFEST["cases"]
OWN = [name for name, case in CASES.items() if "from" not in case and case["type"] != "LBFGSConfig"]
CROSS = [name for name, case in CASES.items() if "from" in case]
LBFGS_CASES = [name for name, case in CASES.items() if case["type"] == "LBFGSConfig"]
ALTERED: dict[str, dict[str, Any]] = MANIFEST["altered_records"]
K, M = MANIFEST["k"], MANIFEST["m"]


def tolerance(case: dict[str, Any]) -> float:
    """Zero where a rule goes element by element; sums and products are in another order than Burn's."""
    text = str(case["config"])
    summed = "Norm" in text or any(rule in case["type"] for rule in ("Adafactor", "Lamb", "Muon", "groups"))
    return 1e-6 if summed or str(case.get("gradients")).startswith("loss") else 0.0


def steps(
    model: Net, optim: ModuleOptimizer, case: dict[str, Any], expected: list[Any], first: int
) -> Iterator[int]:
    """Makes the steps and compares after each."""
    for i, wanted in enumerate(expected):
        model = optim.step(rates_of(case, first + i), model, gradients_of(case, model, first + i))
        assert differences(model, wanted, tolerance(case)) == [], f"after step {first + i + 1}"
        yield i


@pytest.mark.parametrize("name", OWN)
def test_steps_are_burns(name: str) -> None:
    case = CASES[name]
    dtype = DTYPES[case["dtype"]]
    model = loaded(case["init"], dtype) if "init" in case else Net(dtype)
    optim = optimizer_of(case)
    list(steps(model, optim, case, case["after"], 0))
    same_record(optim.to_record(), OptimizerRecord.load(FOLDER / case["optim"]), tolerance(case))


def same_record(found: OptimizerRecord, expected: OptimizerRecord, limit: float) -> None:
    assert sorted(found.keys()) == sorted(expected.keys())
    assert found.scalars() == expected.scalars()
    assert len(found) == len(expected) and found.ids() == expected.ids()
    for id in found.ids():
        assert (found.path_of(id), found.rank_of(id)) == (expected.path_of(id), expected.rank_of(id))
    names = found.keys()
    for name in names:
        ours, burns = found._entries[name].tensor(), expected._entries[name].tensor()
        assert (ours.dtype, ours.shape) == (burns.dtype, burns.shape)
        np.testing.assert_allclose(
            ours.cast("f64").numpy(), burns.cast("f64").numpy(), rtol=limit, atol=limit, err_msg=name
        )


@pytest.mark.parametrize("name", OWN)
def test_steps_after_a_load_are_burns(name: str) -> None:
    case = CASES[name]
    # Where Burn itself could not go on, what it would have done without the load.
    expected = case["next"] or case["continued"]
    model = loaded(case["model"], DTYPES[case["dtype"]])
    optim = optimizer_of(case).load(FOLDER / case["optim"], strict=True)
    assert len(optim.to_record()) == case["record_len"]
    list(steps(model, optim, case, expected, K))


@pytest.mark.parametrize("name", CROSS)
@pytest.mark.filterwarnings("ignore::burnpy.errors.RecordWarning")
def test_steps_after_a_load_of_another_rules_record_are_burns(name: str) -> None:
    case = CASES[name]
    optim = optimizer_of(case).load(FOLDER / case["optim"])
    list(steps(loaded(case["model"]), optim, case, case["next"], K))


REFUSED = {
    "no_param_id": "have no id of a parameter",
    "rank_nine": "has rank 9, over the limit of 8",
    "wrong_rank": "has rank 1, its state has",
}


@pytest.mark.parametrize("name", sorted(set(ALTERED) - set(REFUSED) - {"wrong_shape"}))
@pytest.mark.filterwarnings("ignore::burnpy.errors.RecordWarning")
def test_altered_records_load_as_in_burn(name: str) -> None:
    entry = ALTERED[name]
    case = CASES[entry["from"]] | {key: value for key, value in entry.items() if value is not None}
    case["gradients"] = CASES[entry["from"]]["gradients"]
    optim = optimizer_of(case).load(FOLDER / entry["optim"])
    assert len(optim.to_record()) == entry["tensors_after_load"]
    going = steps(loaded(entry["model"]), optim, case, entry["next"], K)
    next(going)
    assert len(optim.to_record()) == entry["tensors_after_one_step"]
    list(going)


@pytest.mark.parametrize("name", REFUSED)
def test_records_that_contradict_themselves_are_refused_and_change_nothing(name: str) -> None:
    entry = ALTERED[name]
    optim, model = optimizer_of(CASES[entry["from"]]), Net()
    optim.step(0.1, model, gradients_of(CASES[entry["from"]], model, 0))
    before = optim.into_bytes()
    with pytest.raises(RecordError, match=REFUSED[name]):
        optim.load(FOLDER / entry["optim"])
    assert optim.into_bytes() == before


def test_a_state_of_another_shape_is_refused_before_anything_changes() -> None:
    entry = ALTERED["wrong_shape"]
    case = CASES[entry["from"]]
    model, optim = loaded(entry["model"]), optimizer_of(case).load(FOLDER / entry["optim"])
    before = {path: param.val().to_numpy() for path, param in model.named_params()}
    with pytest.raises(ShapeError, match=r"fc1\.weight: the parameter has shape \(4, 5\).*\(5, 4\)"):
        optim.step(0.1, model, gradients_of(case, model, K))
    assert all(np.array_equal(param.val().numpy(), before[path]) for path, param in model.named_params())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("time_missing", "not restored: .*fc1.weight"),
        ("sgd_momentum_extra", "unused: "),
        ("one_moment_missing", "not restored: fc1.weight"),
    ],
)
def test_what_does_not_fit_is_told_and_strict_raises(name: str, text: str) -> None:
    entry = ALTERED[name]
    optim = optimizer_of(CASES[entry["from"]])
    with pytest.warns(RecordWarning, match=text):
        optim.load(FOLDER / entry["optim"])
    with pytest.raises(RecordError, match=text):
        optim.load(FOLDER / entry["optim"], strict=True)


LATE = MANIFEST["late_changes"]
LATE_CHANGES: dict[str, Any] = {
    "clipping": lambda optim: optim.with_grad_clipping(GradientClipping.Norm(0.1)),
    "clipping_reloaded": lambda optim: optim.with_grad_clipping(GradientClippingConfig.Norm(0.1)).load_record(
        optim.to_record()
    ),
    "group_adam": lambda optim: optim.with_group(
        ParamGroup.from_predicate("fc1"), AdamConfig().build(), GradientClipping.Value(0.2)
    ),
    "group_sgd": lambda optim: optim.with_group(ParamGroup.from_predicate("fc1"), SgdConfig().build()),
    "own_record": lambda optim: optim.load_record(optim.to_record()),
}


@pytest.mark.parametrize("name", LATE)
def test_changes_in_the_middle_of_a_run_do_what_burns_do(name: str) -> None:
    case = LATE[name]
    model, optim = Net(), optimizer_of(case)
    for step in range(K):
        model = optim.step(case["lr"], model, gradients_of(case, model, step))
    LATE_CHANGES[name](optim)
    list(steps(model, optim, case | {"config": "Norm"}, case["next"], K))
    same_record(optim.to_record(), OptimizerRecord.load(FOLDER / case["optim_after"]), 1e-6)
    after = loaded(case["model_after"])
    expected = {path: param.val().numpy().ravel() for path, param in after.named_params()}
    assert differences(model, {path: list(array) for path, array in expected.items()}, 1e-6) == []


@pytest.mark.parametrize("case", MANIFEST["clipping"], ids=lambda case: f"{case['config']}-{case['dtype']}")
def test_gradients_are_clipped_as_in_burn(case: dict[str, Any]) -> None:
    ((kind, limit),) = case["config"].items()
    numbers = np.array([float(number) for number in case["input"]], np.float64).reshape(case["shape"])
    grad = Tensor.from_numpy(numbers).inner().cast(DTYPES[case["dtype"]])
    found = getattr(GradientClippingConfig, kind)(limit).init().clip_gradient(grad)
    assert found.dtype == DTYPES[case["output_dtype"]]
    expected = np.array([float(number) for number in case["output"]]).reshape(case["shape"])
    array = found.cast("f64").numpy()
    np.testing.assert_allclose(array, expected, rtol=2e-7 if kind == "Norm" else 0, atol=0)
    assert np.array_equal(np.signbit(array), np.signbit(expected)) or np.isnan(expected).any()


class Mlp(Module):
    """``fc2(relu(fc1(x)))``, the module of the L-BFGS cases."""

    def __init__(self, parameters: list[dict[str, Any]]) -> None:
        arrays = [np.array(p["values"], np.float32).reshape(p["shape"]) for p in parameters]
        self.fc1, self.fc2 = Affine(*arrays[:2]), Affine(*arrays[2:])
        for (_, param), entry in zip(self.named_params(), parameters, strict=True):
            param.id = ParamId(entry["id"])

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc2(relu(self.fc1(x)))
        return out


def mlp_closure(calls: list[float]) -> Any:
    x, y = (Tensor(MANIFEST["data"][key]) for key in ("x", "y"))

    def closure(model: Mlp) -> tuple[float, GradientsParams]:
        loss = (model(x) - y).square().mean()
        calls.append(loss.item())
        return loss.item(), GradientsParams.from_grads(loss.backward(), model)

    return closure


@pytest.mark.parametrize("name", LBFGS_CASES)
def test_steps_of_lbfgs_are_burns_as_far_as_rounding_lets_them(name: str) -> None:
    case = CASES[name]
    optim = lbfgs_of(case)
    run_lbfgs(Mlp(case["parameters"]), optim, case, case["after"])
    scalars, expected = optim.to_record().scalars(), MANIFEST["files"][case["optim"]]["scalars"]
    assert scalars["g_iter"].value == expected["g_iter"]["UInt"]
    assert scalars["history_s.len"].value == expected["history_s.len"]["UInt"]
    assert scalars["t"].value == pytest.approx(expected["t"]["Float"], rel=1e-3)
    assert scalars["prev_loss"].value == pytest.approx(expected["prev_loss"]["Float"], rel=1e-3)


@pytest.mark.parametrize("name", LBFGS_CASES)
def test_steps_of_lbfgs_after_a_load_are_burns(name: str) -> None:
    case = CASES[name]
    model = Mlp(case["parameters"]).load_file(FOLDER / case["model"])
    run_lbfgs(model, lbfgs_of(case).load(FOLDER / case["optim"], strict=True), case, case["next"])


def lbfgs_of(case: dict[str, Any]) -> LBFGS:
    import json

    return LBFGSConfig.load_binary(json.dumps(case["config"]).encode()).init()


def run_lbfgs(model: Mlp, optim: LBFGS, case: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    for wanted in expected:
        calls: list[float] = []
        model, loss = optim.step(case["lr"], model, mlp_closure(calls))
        assert len(calls) == wanted["closure_calls"]
        assert calls[0] == pytest.approx(wanted["first_loss"], rel=1e-3)
        assert loss == pytest.approx(wanted["returned_loss"], rel=1e-3, abs=1e-6)
        assert differences(model, wanted["parameters"], 1e-4) == []


def test_the_record_of_lbfgs_is_refused_by_an_optimizer_of_a_module() -> None:
    case = CASES["lbfgs_wolfe"]
    with pytest.raises(RecordError, match="have no id of a parameter"):
        AdamConfig().init().load(FOLDER / case["optim"])


def test_lbfgs_stays_as_it_is_when_a_record_lacks_its_leaves() -> None:
    optim = LBFGSConfig().init()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        optim.load(FOLDER / CASES["adam_default"]["optim"])
    assert [entry.category for entry in told] == [RecordWarning] and optim.state.g_iter == 0
    with pytest.raises(RecordError):
        optim.load(FOLDER / CASES["adam_default"]["optim"], strict=True)


def test_a_parameter_of_a_file_keeps_its_id(tmp_path: Any) -> None:
    model = loaded("init.model.bpk")
    optim = AdamConfig().init()
    optim.step(0.1, model, gradients_of(CASES["adam_default"], model, 0))
    optim.save(tmp_path / "optim")
    again = AdamConfig().init().load(tmp_path / "optim")
    assert again.into_bytes() == optim.into_bytes()
    visited = [param.id for _, param in model.named_params() if isinstance(param, Param) and param.active]
    names = optim.to_record().keys()
    order = list(dict.fromkeys(name.partition(".")[0] for name in names))
    assert order == [str(id.val()) for id in visited if str(id.val()) in order]
