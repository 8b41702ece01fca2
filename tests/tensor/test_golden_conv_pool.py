"""Every case of the golden family `conv_pool`, in double and in single precision, values and gradients."""

from typing import Any

import pytest

from burnpy import Tensor
from burnpy.tensor import module
from tests.tensor.golden_numerics import Case, Inputs, Outputs, case_names

INTERPOLATION = {"Nearest": "nearest", "Linear": "linear", "Cubic": "cubic", "Lanczos": "lanczos"}


def _padding(case: Case) -> Any:
    """Of Burn's config, for the functions: pairs of an axis, the files naming 1-D and 2-D ends as Burn does."""
    padding = case.config["padding"]
    if isinstance(padding, str):
        return padding.lower()
    ends = padding["Explicit"]
    if len(ends) == 4:
        top, left, bottom, right = ends
        return [(top, bottom), (left, right)]
    return [tuple(ends)] if len(ends) == 2 else ends


def _conv(case: Case, t: Inputs) -> Outputs:
    rank = t["x"].rank() - 2
    options = {key: case.config[key] for key in ("stride", "dilation", "groups")}
    function = getattr(module, f"conv{rank}d")
    return {"output": function(t["x"], t["weight"], t.get("bias"), padding=_padding(case), **options)}


def _conv_transpose(case: Case, t: Inputs) -> Outputs:
    rank = t["x"].rank() - 2
    options = {key: case.config[key] for key in ("stride", "dilation", "groups", "padding", "padding_out")}
    function = getattr(module, f"conv_transpose{rank}d")
    return {"output": function(t["x"], t["weight"], t.get("bias"), **options)}


def _pool(case: Case, *names: str) -> dict[str, Any]:
    stride = case.config["strides" if "strides" in case.config else "stride"]
    return {"stride": stride, "padding": _padding(case)} | {name: case.config[name] for name in names}


def _max_pool(case: Case, t: Inputs) -> Outputs:
    options, size = _pool(case, "dilation", "ceil_mode"), case.config["kernel_size"]
    rank = t["x"].rank() - 2
    if "out.indices" not in case.arrays:
        return {"output": getattr(module, f"max_pool{rank}d")(t["x"], size, **options)}
    values, indices = getattr(module, f"max_pool{rank}d_with_indices")(t["x"], size, **options)
    return {"output": values, "indices": indices}


def _avg_pool(case: Case, t: Inputs) -> Outputs:
    options, size = _pool(case, "count_include_pad", "ceil_mode"), case.config["kernel_size"]
    return {"output": getattr(module, f"avg_pool{t['x'].rank() - 2}d")(t["x"], size, **options)}


def _adaptive_avg_pool(case: Case, t: Inputs) -> Outputs:
    function = getattr(module, f"adaptive_avg_pool{t['x'].rank() - 2}d")
    return {"output": function(t["x"], case.config["output_size"])}


def _interpolate(case: Case, t: Inputs) -> Outputs:
    config = case.config
    options = {"mode": INTERPOLATION[config["mode"]], "align_corners": config["align_corners"]}
    if config["output_size"] is None:
        return {"output": module.interpolate(t["x"], scale_factor=config["scale_factor"], **options)}
    return {"output": module.interpolate(t["x"], config["output_size"], **options)}


def _unfold(case: Case, t: Inputs) -> Outputs:
    return {"output": module.unfold4d(t["x"], **case.config)}


def _fold(case: Case, t: Inputs) -> Outputs:
    return {"output": module.fold4d(t["x"], **case.config)}


def _pixel_shuffle(case: Case, t: Inputs) -> Outputs:
    x, r = t["x"], case.config["upscale_factor"]
    batch, channels, height, width = x.shape
    blocks = x.reshape(batch, channels // r**2, r, r, height, width).permute(0, 1, 4, 2, 5, 3)
    return {"output": blocks.reshape(batch, channels // r**2, height * r, width * r)}


def _pixel_unshuffle(case: Case, t: Inputs) -> Outputs:
    x, r = t["x"], case.config["downscale_factor"]
    batch, channels, height, width = x.shape
    blocks: Tensor = x.reshape(batch, channels, height // r, r, width // r, r).permute(0, 1, 3, 5, 2, 4)
    return {"output": blocks.reshape(batch, channels * r**2, height // r, width // r)}


# By the beginning of the case's name, longest first.
FAMILIES = {
    "conv_transpose": _conv_transpose,
    "conv": _conv,
    "max_pool": _max_pool,
    "avg_pool": _avg_pool,
    "adaptive_avg_pool": _adaptive_avg_pool,
    "interpolate": _interpolate,
    "unfold4d": _unfold,
    "fold4d": _fold,
    "pixel_shuffle": _pixel_shuffle,
    "pixel_unshuffle": _pixel_unshuffle,
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", case_names("conv_pool"))
def test_values_and_gradients_are_the_golden_ones(name: str, dtype: str) -> None:
    case = Case.load("conv_pool", name, dtype)
    case.check(next(run for beginning, run in FAMILIES.items() if name.startswith(beginning)))
