"""L-BFGS: its line search, its iterations, its state."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ConfigError, ShapeError
from burnpy.module import Module, Param
from burnpy.optim import LBFGS, GradientsParams, LBFGSConfig, LineSearchFn
from burnpy.optim.line_search import Point, cubic_interpolate, strong_wolfe
from tests.tensor.golden_numerics import Case

Closure = Callable[[Any], tuple[float, GradientsParams]]


@pytest.mark.parametrize(
    ("points", "bounds", "expected"),
    [
        ((-1.0, 1.0, -2.0, 1.0, 1.0, 2.0), None, 0.0),
        ((0.0, 0.25, -1.0, 1.0, 0.25, 1.0), (0.6, 1.0), 0.6),
        ((0.0, 0.0, 10.0, 1.0, 5.0, 10.0), (0.0, 1.0), 0.5),
        ((0.0, 1.0, -5.0, 1.0, 0.5, 1.0), None, 0.4606553370833684),
        (
            (1.231232145, -0.12567458754, 9.1231243007, 8.239105015, -100.9012398021, 123201321.0293982),
            None,
            5.9031480234724434,
        ),
        (
            (1.231232145, -0.12567458754, 9.1231243007, 8.239105015, -100.9012398021, 123201321.0293982),
            (-4.4, 4.4),
            4.4,
        ),
        ((1.0, 2.0, 3.0, 1.0, 2.0, 3.0), None, 1.0),
    ],
)
def test_a_cubic_is_least_where_it_should_be(points: Any, bounds: Any, expected: float) -> None:
    assert cubic_interpolate(*(*points, bounds)) == pytest.approx(expected, abs=1e-8)


def test_a_line_search_uphill_stays_where_it_is_after_all_its_evaluations() -> None:
    # Burn's numbers are of single precision, so they agree to six digits.
    x, d = 2.1321912957, 0.91312321

    def evaluate(t: float) -> Point:
        at = x + t * d
        slope = 4 * at**3 - 4 * at + 1
        return Point(t, at**4 - 2 * at**2 + at, Tensor([slope], dtype="f64").inner(), slope * d)

    start = evaluate(0.0)
    assert start.loss == pytest.approx(13.7080059052, rel=1e-6)
    assert start.slope == pytest.approx(28.5305728912, rel=1e-6)
    end, evaluations = strong_wolfe(
        evaluate, start, 1.213132, longest=abs(d), max_ls=10, tolerance_change=1e-9
    )
    assert (end.t, evaluations) == (0.0, 11)
    assert end.loss == pytest.approx(13.708005905, rel=1e-6)
    assert end.gradient.item() == pytest.approx(31.2450428009, rel=1e-6)


class Line(Module):
    """``x · weight + bias`` of numbers."""

    def __init__(self, dtype: str = "f32") -> None:
        self.weight = Param.from_tensor(Tensor([0.5], dtype=dtype))
        self.bias = Param.from_tensor(Tensor([0.1], dtype=dtype))


def squared_error(dtype: str = "f32") -> Closure:
    x, y = Tensor([1.0, 2.0, 3.0], dtype=dtype), Tensor([3.0, 5.0, 7.0], dtype=dtype)

    def closure(model: Line) -> tuple[float, GradientsParams]:
        loss = (x * model.weight.val() + model.bias.val() - y).square().sum()
        return loss.item(), GradientsParams.from_grads(loss.backward(), model)

    return closure


def counted(closure: Closure) -> tuple[Closure, list[float]]:
    losses: list[float] = []

    def wrapper(model: Any) -> tuple[float, GradientsParams]:
        loss, grads = closure(model)
        losses.append(loss)
        return loss, grads

    return wrapper, losses


def test_a_regression_without_line_search_as_in_burns_tests() -> None:
    closure, losses = counted(squared_error())
    model, loss = LBFGSConfig().init().step(0.001, Line(), closure)
    assert losses[0] == pytest.approx(50.1300048828, abs=1e-5)
    assert loss == pytest.approx(48.2181930542, abs=1e-5)
    assert model.weight.val().item() == pytest.approx(0.5302446192, abs=1e-5)
    assert model.bias.val().item() == pytest.approx(0.1142520783, abs=1e-5)
    assert len(losses) == 21


def test_a_regression_with_a_line_search_in_double_precision_is_solved() -> None:
    closure, losses = counted(squared_error("f64"))
    config = LBFGSConfig(line_search_fn=LineSearchFn.StrongWolfe)
    model, loss = config.init().step(0.001, Line("f64"), closure)
    assert (model.weight.val().item(), model.bias.val().item()) == pytest.approx((2.0, 1.0), abs=1e-5)
    assert loss < 1e-9 and len(losses) == 18


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["lbfgs", "lbfgs_wolfe", "lbfgs_history"])
def test_golden_runs(name: str, dtype: str) -> None:
    case = Case.load("optimizers", name, dtype)
    x, y = case.tensor(case.arrays["in.X"]), case.tensor(case.arrays["in.y"])

    class Affine(Module):
        def __init__(self) -> None:
            self.weight = Param.from_tensor(case.tensor(case.arrays["in.weight"]))
            self.bias = Param.from_tensor(case.tensor(case.arrays["in.bias"]))

    def closure(model: Affine) -> tuple[float, GradientsParams]:
        output = (x @ model.weight.val() + model.bias.val()).reshape(-1)
        loss = (output - y).square().sum()
        return loss.item(), GradientsParams.from_grads(loss.backward(), model)

    counting, losses = counted(closure)
    fields = {key: value for key, value in case.config.items() if key != "lr"}
    model, optim = Affine(), LBFGSConfig(**fields).init()
    for call, wanted in enumerate(case.arrays["out.loss"]):
        before, evaluated = optim.state.g_iter, len(losses)
        model, loss = optim.step(case.config["lr"], model, counting)
        limit = case.tolerance["abs"] + case.tolerance["rel"] * abs(wanted)
        assert abs(loss - wanted) <= limit
        case.assert_close(model.weight.val(), case.arrays["out.weight"][call], f"weight {call}")
        case.assert_close(model.bias.val(), case.arrays["out.bias"][call], f"bias {call}")
        if dtype == "float64":
            assert optim.state.g_iter - before == case.arrays["out.iterations"][call]
            assert len(losses) - evaluated == case.arrays["out.evaluations"][call]


def test_a_converged_module_stays_and_so_does_the_state() -> None:
    model, optim = Line(), LBFGSConfig(tolerance_grad=1e9).init()
    state = optim.state
    model, loss = optim.step(0.1, model, squared_error())
    assert loss == pytest.approx(50.13, abs=1e-4)
    assert (model.weight.val().item(), optim.state.g_iter, state.d) == (0.5, 0, None)


def test_parameters_without_a_gradient_stay_whatever_the_history() -> None:
    model, optim = Line(), LBFGSConfig(line_search_fn=LineSearchFn.StrongWolfe, max_iter=3).init()
    model, _ = optim.step(0.1, model, squared_error())
    bias = model.bias.val().item()
    model.bias.set_require_grad(False)
    weight = model.weight.val().item()
    model, _ = optim.step(0.1, model, squared_error())
    assert model.bias.val().item() == bias and model.weight.val().item() != weight
    assert not model.bias.val().is_require_grad() and model.weight.val().is_require_grad()


def test_a_closure_that_fails_leaves_all_as_it_was() -> None:
    model, optim = Line(), LBFGSConfig().init()
    closure = squared_error()
    calls = iter(range(3))

    def failing(model: Line) -> tuple[float, GradientsParams]:
        if next(calls) == 2:
            raise KeyError("no data")
        return closure(model)

    with pytest.raises(KeyError, match="no data"):
        optim.step(0.001, model, failing)
    assert (model.weight.val().item(), optim.state.g_iter) == (0.5, 0)


def test_a_module_without_parameters_returns_its_loss() -> None:
    model, loss = LBFGSConfig().init().step(0.1, Module(), lambda _: (3.0, GradientsParams()))
    assert loss == 3.0 and isinstance(model, Module)


@pytest.mark.parametrize("function", [None, "None", LineSearchFn.None_])
def test_no_line_search_has_several_spellings(function: Any) -> None:
    assert LBFGSConfig(line_search_fn=function).line_search_fn is LineSearchFn.None_
    assert '"line_search_fn": "None"' in str(LBFGSConfig(line_search_fn=function))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"max_eval": 0}, "max_eval must be at least 1, got 0"),
        ({"history_size": 0}, "history_size must be at least 1, got 0"),
        ({"tolerance_grad": -1.0}, "tolerance_grad must be finite and not negative, got -1.0"),
        ({"line_search_fn": "Armijo"}, "must be one of None, StrongWolfe, got 'Armijo'"),
    ],
)
def test_settings_that_make_no_sense_are_refused(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        LBFGSConfig(**fields).init()


def test_a_state_of_other_parameters_is_refused() -> None:
    optim = LBFGSConfig(max_iter=2).init()
    optim.step(0.001, Line(), squared_error())
    model = Line()
    model.weight = Param.from_tensor(Tensor([0.5, 0.5, 0.5]))
    with pytest.raises(ShapeError, match=r"shape \[\(2,\).*parameters have \(4,\)"):
        optim.step(0.001, model, squared_error())


@pytest.mark.parametrize("lr", [-1.0, math.nan, math.inf])
def test_a_rate_that_is_none_is_refused(lr: float) -> None:
    with pytest.raises(ValueError, match="lr must be finite and not negative"):
        LBFGS().step(lr, Line(), squared_error())


def test_parameters_are_not_shared_with_the_vector_that_they_are_parts_of() -> None:
    model, optim = Line(), LBFGSConfig(max_iter=1).init()
    model, _ = optim.step(0.001, model, squared_error())
    held = model.weight.val().numpy().copy()
    optim.step(0.001, model, squared_error())
    assert not np.array_equal(held, model.weight.val().numpy())
