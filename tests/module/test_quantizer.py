"""Floats as few bits: the bytes that Burn writes, and what is refused."""

import functools
import json
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import DTypeError, ShapeError
from burnpy.module import Calibration, Module, Param, ParamGroup, Quantizer, RunningState
from burnpy.pack import QuantScheme, Reader
from tests.paths import GOLDEN

FOLDER = GOLDEN / "burn" / "containers"
Q8S = QuantScheme(value="Q8S", store="Native")


@functools.cache
def _cases() -> tuple[str, dict[str, dict[str, Any]]]:
    files = json.loads((FOLDER / "manifest.json").read_text())["files"]
    entry = next(file for file in files if "quantized" in file)
    return entry["file"], {case["name"]: case for case in entry["quantized"]}


@pytest.mark.golden
@pytest.mark.parametrize("name", list(_cases()[1]))
def test_the_bytes_are_those_of_burn(name: str) -> None:
    file, cases = _cases()
    reader, case = Reader.from_file(FOLDER / file), cases[name]
    scheme, expected = reader.info(name).scheme, reader.tensor_data(name)
    assert scheme is not None
    source = np.array(case["source"], dtype=np.float32).reshape(case["shape"])
    found = Quantizer(Calibration.MinMax, scheme).quantize(Tensor.from_numpy(source))
    bytes_found = found.numpy().tobytes()
    if scheme.value in ("E4M3", "E5M2", "E2M1"):
        # Burn's CPU keeps these as integers of 8 bits; only the scales can be compared, and that ours are near.
        assert bytes_found[source.size :] == expected[source.size :]
        steps = {"E4M3": 16, "E5M2": 8, "E2M1": 4}[scheme.value]
        off = np.abs(found.cast("f32").numpy() - source)
        assert (off <= np.abs(source).max() / steps + 1e-6).all()
    else:
        assert bytes_found == expected


@pytest.mark.parametrize("block_size", [None, (4,), (3, 5), (1, 32)])
@pytest.mark.parametrize("packed_dim", [0, 1])
@pytest.mark.parametrize("value", ["Q8S", "Q4F", "Q2S", "E2M1"])
@pytest.mark.parametrize("calibration", list(Calibration))
def test_packed_values_mean_what_single_ones_mean(
    calibration: Calibration, value: str, packed_dim: int, block_size: tuple[int, ...] | None
) -> None:
    x = Tensor.from_numpy(np.random.default_rng(1).standard_normal((5, 11)).astype(np.float32))
    alone = QuantScheme(value=value, store="Native", block_size=block_size, block_dtype="BF16")
    packed = QuantScheme(
        value=value, store="PackedU32", packed_dim=packed_dim, block_size=block_size, block_dtype="BF16"
    )
    expected = Quantizer(calibration, alone).quantize(x).cast("f32")
    assert (Quantizer(calibration, packed).quantize(x).cast("f32").numpy() == expected.numpy()).all()


def test_the_mean_magnitude_cuts_off_what_is_larger() -> None:
    x = Tensor([[1.0, -1.0, 4.0, 0.5], [2.0, 2.0, -2.0, 2.0]])
    scheme = QuantScheme(value="Q8S", store="Native", block_size=(4,))
    found = Quantizer(Calibration.AbsMean, scheme).quantize(x).cast("f32").numpy()
    np.testing.assert_allclose(found, [[1.0, -1.0, 1.625, 0.5], [2.0, 2.0, -2.0, 2.0]], atol=0.01)


def test_a_tensor_of_zeros_stays_zero() -> None:
    found = Quantizer(Calibration.MinMax, Q8S).quantize(Tensor.zeros((3, 2)))
    assert found.cast("f32").tolist() == [[0.0, 0.0]] * 3


class Net(Module):
    def __init__(self) -> None:
        self.weight = Param.from_tensor(Tensor([[1.0, -2.0], [0.5, 0.25]]))
        self.bias = Param.from_tensor(Tensor([1.0, 2.0]))
        self.mean = RunningState(Tensor([1.0, 2.0]))


def test_a_group_is_quantized_and_the_module_stays_as_it_was() -> None:
    net = Net()
    small = net.quantize_weights_group(Quantizer(Calibration.MinMax, Q8S), ParamGroup.from_path("weight"))
    assert (small.weight.base().dtype, small.bias.base().dtype) == ("qfloat", "f32")
    assert not small.weight.active and small.bias.active
    assert net.weight.base().dtype == "f32" and net.weight.id == small.weight.id
    assert small.num_params() == net.num_params()
    np.testing.assert_allclose(small.weight.val().cast("f32").numpy(), net.weight.val().numpy(), atol=0.01)


def test_all_parameters_are_quantized_but_running_statistics() -> None:
    small = Net().quantize_weights(Quantizer(Calibration.MinMax, Q8S))
    assert (small.weight.base().dtype, small.bias.base().dtype) == ("qfloat", "qfloat")
    assert small.mean.value().dtype == "f32"
    assert small.valid().train().weight.base().dtype == "qfloat"


def test_what_is_quantized_cannot_be_quantized_again() -> None:
    quantizer = Quantizer(Calibration.MinMax, Q8S, group=ParamGroup.from_path("weight"))
    with pytest.raises(DTypeError, match="weight: quantize: expected a tensor of floats, got qfloat"):
        Net().quantize_weights(quantizer).quantize_weights(quantizer)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Quantizer("MinMax", Q8S), ValueError, "calibration must be a Calibration"),  # type: ignore[arg-type]
        (lambda: Quantizer(Calibration.MinMax, "Q8S"), ValueError, "scheme must be a QuantScheme"),  # type: ignore[arg-type]
        (lambda: Quantizer(Calibration.MinMax, QuantScheme(mode="Lookup")), ValueError, "Lookup"),
        (
            lambda: Quantizer(Calibration.AbsMean, QuantScheme(tensor="F32", block_size=(4,))),
            ValueError,
            "AbsMean",
        ),
        (lambda: Quantizer(Calibration.MinMax, Q8S).quantize(Tensor([1, 2])), DTypeError, "got i"),
        (
            lambda: Quantizer(Calibration.MinMax, QuantScheme(block_size=(2, 2))).quantize(Tensor([1.0])),
            ShapeError,
            r"blocks of \(2, 2\)",
        ),
        (
            lambda: Quantizer(Calibration.MinMax, QuantScheme(packed_dim=1)).quantize(Tensor([1.0])),
            ShapeError,
            "packed_dim 1",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_name(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()
