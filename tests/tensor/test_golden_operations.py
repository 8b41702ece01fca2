"""Every case of the golden family `tensor_ops`, in double and in single precision, values and gradients."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import burnpy
from burnpy import Tensor
from burnpy.tensor import activation, module
from tests.tensor.golden_numerics import Case, Inputs, Outputs, case_names

Run = Callable[[Case, Inputs], Outputs]

UNARY = [
    "exp", "log", "log1p", "sqrt", "recip", "abs", "neg", "square", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf",
    "asin", "acos", "atan", "asinh", "acosh", "atanh", "sign", "round", "floor", "ceil", "trunc", "sum", "mean", "prod",
    "max", "min", "max_abs", "transpose", "argwhere", "mask_select",
]  # fmt: skip
BINARY = [
    "add", "sub", "mul", "div", "remainder", "fmod", "powf", "atan2", "hypot", "max_pair", "min_pair", "matmul", "dot",
]  # fmt: skip
COMPARE = ["equal", "not_equal", "greater", "greater_equal", "lower", "lower_equal"]


def _one(output: Any) -> Outputs:
    return {"output": output}


def _values_indices(pair: Any) -> Outputs:
    return {"values": pair[0], "indices": pair[1]}


def _pieces(pieces: Any) -> Outputs:
    return {str(i): piece for i, piece in enumerate(pieces)}


def _each(tensor: Tensor, names: list[str], *args: Any) -> Outputs:
    return {name: getattr(tensor, name)(*args) for name in names}


def _grad_mlp(case: Case, t: Inputs) -> Outputs:
    hidden = activation.relu(t["x"].matmul(t["w1"]) + t["b1"])
    return _one(activation.log_softmax(hidden.matmul(t["w2"]), 1))


def _grad_normalise(case: Case, t: Inputs) -> Outputs:
    x = t["x"]
    return _one((x - x.mean_dim(1)) / (x.var_bias(1) + 1e-3).sqrt())


def _attention(case: Case, t: Inputs) -> Outputs:
    options = {key: case.config[key] for key in ("scale", "softcap", "is_causal")}
    return _one(
        module.attention(t["query"], t["key"], t["value"], mask=t.get("mask"), bias=t.get("bias"), **options)
    )


def _masks(case: Case, t: Inputs) -> Outputs:
    shape, offset = case.config["shape"], case.config["offset"]
    return {name: getattr(Tensor, f"{name}_mask")(shape, offset) for name in ("tril", "triu", "diag")}


def _pad(case: Case, t: Inputs) -> Outputs:
    c, mode = case.config, case.config["mode"]
    around = (c["left"], c["right"], c["top"], c["bottom"])
    if isinstance(mode, dict):
        return _one(t["x"].pad(around, value=mode["Constant"]))
    return _one(t["x"].pad(around, mode.lower()))


def _ranges(case: Case) -> list[Any]:
    return [r if isinstance(r, int) else slice(*r) for r in case.config["ranges"]]


def _dims_empty(case: Case, t: Inputs) -> Outputs:
    x = t["x"]
    return {"sum": x.sum_dims([]), "mean": x.mean_dims([]), "max_abs": x.max_abs_dims([])}


def _clamps(case: Case, t: Inputs) -> Outputs:
    x, low, high = t["x"], case.config["min"], case.config["max"]
    return {"clamp": x.clamp(low, high), "clamp_min": x.clamp_min(low), "clamp_max": x.clamp_max(high)}


def _any_all(case: Case, t: Inputs) -> Outputs:
    x = t["x"]
    return {"any": x.any(), "all": x.all(), "any_dim": x.any_dim(1), "all_dim": x.all_dim(1)}


def _linalg(name: str) -> Callable[..., Tensor]:
    operation: Callable[..., Tensor] = getattr(Tensor, name)
    return operation


SPECIAL: dict[str, Run] = {
    "sigmoid": lambda case, t: _one(activation.sigmoid(t["x"])),
    "sigmoid_edge": lambda case, t: _one(activation.sigmoid(t["x"])),
    "is_nan_inf_finite": lambda case, t: _each(t["x"], ["is_nan", "is_inf", "is_finite"]),
    "rsub_scalar": lambda case, t: _one(case.config["scalar"] - t["a"]),
    "rdiv_scalar": lambda case, t: _one(case.config["scalar"] / t["a"]),
    "clamp_nan": _clamps,
    "clamp_nan_bounds": _clamps,
    "compare": lambda case, t: _each(t["a"], COMPARE, t["b"]),
    "compare_nan": lambda case, t: _each(t["a"], ["equal", "greater", "lower"], t["b"]),
    "is_close": lambda case, t: _one(t["a"].is_close(t["b"], **case.config)),
    "sum_dims_squeeze": lambda case, t: _one(t["x"].sum_dims_squeeze(case.config["dims"])),
    "dims_empty": _dims_empty,
    "var_mean": lambda case, t: dict(zip(("var", "mean"), t["x"].var_mean(2), strict=True)),
    "max_min_nan": lambda case, t: {"max": t["x"].max_dim(1), "min": t["x"].min_dim(1)},
    "argmax_argmin": lambda case, t: {"argmax": t["x"].argmax(1), "argmin": t["x"].argmin(1)},
    "any_all": _any_all,
    "logsumexp": lambda case, t: _one((t["x"].exp().sum_dim(2)).log()),
    "softmax_wide": lambda case, t: {
        "softmax": activation.softmax(t["x"], 1),
        "log_softmax": activation.log_softmax(t["x"], 1),
    },
    "cross": lambda case, t: _one(t["a"].cross(t["b"], 1)),
    "outer": lambda case, t: _one(_linalg("outer")(t["a"], t["b"])),
    "matvec": lambda case, t: _one(_linalg("matvec")(t["a"], t["b"])),
    "matvec_batch": lambda case, t: _one(_linalg("matvec")(t["a"], t["b"])),
    "diag_trace": lambda case, t: {"diag": _linalg("diag")(t["x"]), "trace": _linalg("trace")(t["x"])},
    "cosine_similarity": lambda case, t: _one(_linalg("cosine_similarity")(t["a"], t["b"], 1)),
    "det": lambda case, t: _one(_linalg("det")(t["x"])),
    "swap_dims": lambda case, t: _one(t["x"].swap_dims(0, 2)),
    "permute": lambda case, t: _one(t["x"].permute(case.config["axes"])),
    "movedim": lambda case, t: _one(t["x"].movedim(0, 2)),
    "reshape": lambda case, t: _one(t["x"].reshape(case.config["shape"])),
    "reshape_after_permute": lambda case, t: _one(t["x"].permute(case.config["axes"]).reshape([-1])),
    "flatten": lambda case, t: _one(t["x"].flatten(1, 2)),
    "squeeze_unsqueeze": lambda case, t: _one(t["x"].unsqueeze_dim(1).squeeze_dim(1).unsqueeze_dim(1)),
    "expand": lambda case, t: _one(t["x"].expand(case.config["shape"])),
    "flip": lambda case, t: _one(t["x"].flip(case.config["axes"])),
    "repeat": lambda case, t: _one(t["x"].repeat(case.config["sizes"])),
    "repeat_dim": lambda case, t: _one(t["x"].repeat_dim(1, 3)),
    "cat": lambda case, t: _one(Tensor.cat([t["a"], t["b"], t["c"]], 1)),
    "stack": lambda case, t: _one(Tensor.stack([t["a"], t["b"]], 1)),
    "split": lambda case, t: _pieces(t["x"].split(2, 0)),
    "split_with_sizes": lambda case, t: _pieces(t["x"].split_with_sizes([1, 3, 2], 1)),
    "chunk": lambda case, t: _pieces(t["x"].chunk(3, 0)),
    "narrow": lambda case, t: _one(t["x"].narrow(1, 1, 2)),
    "roll_dim": lambda case, t: _one(t["x"].roll_dim(1, 1)),
    "unfold_dim": lambda case, t: _one(t["x"].unfold(1, 3, 2)),
    "slice_assign": lambda case, t: _one(t["x"].slice_assign(_ranges(case), t["v"])),
    "slice_fill": lambda case, t: _one(t["x"].slice_fill(_ranges(case), 2.5)),
    "select": lambda case, t: _one(t["x"].select(1, t["indices"])),
    "take": lambda case, t: _one(t["x"].take(0, t["indices"])),
    "gather_0": lambda case, t: _one(t["x"].gather(0, t["indices"])),
    "gather_1": lambda case, t: _one(t["x"].gather(1, t["indices"])),
    "gather_nd": lambda case, t: _one(t["x"].gather_nd(t["indices"])),
    "mask_fill": lambda case, t: _one(t["x"].mask_fill(t["mask"], -7.0)),
    "mask_where": lambda case, t: _one(t["x"].mask_where(t["mask"], t["value"])),
    "mask_select": lambda case, t: _one(t["x"].mask_select(t["mask"])),
    "argwhere": lambda case, t: _one(t["mask"].argwhere()),
    "sort": lambda case, t: _values_indices(t["x"].sort_with_indices(1)),
    "sort_dim0": lambda case, t: _one(t["x"].sort(0)),
    "sort_descending": lambda case, t: _one(t["x"].sort_descending(1)),
    "sort_special": lambda case, t: _one(t["x"].sort(1)),
    "argsort": lambda case, t: _each(t["x"], ["argsort", "argsort_descending"], 1),
    "topk": lambda case, t: _values_indices(t["x"].topk_with_indices(3, 1)),
    "topk_full": lambda case, t: _one(t["x"].topk(3, 1)),
    "one_hot": lambda case, t: _one(t["x"].one_hot(4)),
    "one_hot_fill": lambda case, t: _one(t["x"].one_hot_fill(3, 5, 0, -1)),
    "int_arith": lambda case, t: _each(t["a"], ["add", "sub", "mul", "div", "remainder"], t["b"]),
    "int_bitwise": lambda case, t: {
        "and": t["a"].bitwise_and(t["b"]),
        "or": t["a"].bitwise_or(t["b"]),
        "xor": t["a"].bitwise_xor(t["b"]),
        "not": t["a"].bitwise_not(),
        "left_shift": t["a"].bitwise_left_shift(t["s"]),
        "right_shift": t["a"].bitwise_right_shift(t["s"]),
    },
    "int_shift_masked": lambda case, t: {
        "left_shift": t["a"].bitwise_left_shift(t["s"]),
        "right_shift": t["a"].bitwise_right_shift(t["s"]),
    },
    "float_to_int": lambda case, t: _one(t["x"].int()),
    "arange_step": lambda case, t: _one(Tensor.arange_step(2, 13, 3)),
    "bool_ops": lambda case, t: {
        "and": t["a"].bool_and(t["b"]),
        "or": t["a"].bool_or(t["b"]),
        "xor": t["a"].bool_xor(t["b"]),
        "not": t["a"].bool_not(),
    },
    "grad_reuse": lambda case, t: _one((t["x"] * t["x"].tanh() + t["x"].exp() * t["x"]).sum_dim(1) * t["x"]),
    "grad_detach": lambda case, t: _one(t["x"].inner() * t["x"] * t["x"]),
    "grad_mlp": _grad_mlp,
    "grad_normalise": _grad_normalise,
}


def _by_family(case: Case, t: Inputs) -> Outputs:
    """The cases whose name says which operation they are."""
    config, name = case.config, case.name
    stem = name.split("_")[0]
    if name.startswith(("softmax", "log_softmax", "softmin", "quiet_softmax")):
        function = next(
            f for f in ("log_softmax", "quiet_softmax", "softmax", "softmin") if name.startswith(f)
        )
        return _one(getattr(activation, function)(t["x"], config["dim"]))
    if name.startswith("attention"):
        return _attention(case, t)
    if name.startswith("einsum"):
        return _one(burnpy.tensor.einsum(config["equation"], *[t[f"x{i}"] for i in range(len(t))]))
    if name.startswith("masks"):
        return _masks(case, t)
    if name.startswith("pad_"):
        return _pad(case, t)
    if name.startswith("roll"):
        return _one(t["x"].roll(config["shifts"], config["dims"]))
    if name.startswith("slice"):
        return _one(t["x"].slice(_ranges(case)))
    if name.startswith("vector_norm"):
        return _one(_linalg("vector_norm")(t["x"], config["p"], config["dim"]))
    if name.startswith("select_assign"):
        return _one(t["x"].select_assign(config["dim"], t["indices"], t["values"], config["update"].lower()))
    if name.startswith("scatter"):
        update = config["update"].lower()
        return _one(t["x"].scatter(config["dim"], t["indices"], t["values"], update))
    if name.startswith(("tril", "triu")):
        return _one(getattr(t["x"], stem)(config["k"]))
    if name.startswith(("max_dim", "min_dim")):
        return _values_indices(getattr(t["x"], f"{stem}_dim_with_indices")(config["dim"]))
    if name.startswith(("powf_scalar", "powi_scalar")):
        return _one(getattr(t["a"], name[: len("powf_scalar")])(config["exponent"]))
    if "_scalar" in name:
        return _one(getattr(t["a"], name.split("_scalar")[0] + "_scalar")(config["scalar"]))
    if name.startswith("clamp"):
        return _one(getattr(t["x"], name)(*[config[key] for key in ("min", "max") if key in config]))
    binary = next((op for op in sorted(BINARY, key=len, reverse=True) if name.startswith(op)), None)
    if binary and "a" in t:
        return _one(getattr(t["a"], binary)(t["b"]))
    if name.startswith("var_"):
        name = "var" if config and not name.startswith("var_bias") else "var_bias"
        return _one(getattr(t["x"], name)(config["dim"]))
    x = next(iter(t.values()))
    if "dims" in config:
        return _one(getattr(x, name)(config["dims"]))
    if "dim" in config:
        known = [
            "sum_dim",
            "mean_dim",
            "prod_dim",
            "cumsum",
            "cumprod",
            "cummax",
            "cummin",
            "median",
            "argmax",
        ]
        name = name.removeprefix("int_")
        return _one(getattr(x, next(op for op in known if name.startswith(op)))(config["dim"]))
    unary = next(op for op in sorted(UNARY, key=len, reverse=True) if name.startswith(op))
    return _one(getattr(x, unary)())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", case_names("tensor_ops"))
def test_values_and_gradients_are_the_golden_ones(name: str, dtype: str) -> None:
    case = Case.load("tensor_ops", name, dtype)
    case.check(SPECIAL.get(name, _by_family))


def test_the_sort_tells_zeros_apart_by_their_sign() -> None:
    case = Case.load("tensor_ops", "sort_special", "float64")
    found = case.inputs()["in.x"].sort(1).to_numpy()
    np.testing.assert_array_equal(np.signbit(found), np.signbit(case.arrays["out.output"]))
