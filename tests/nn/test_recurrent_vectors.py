"""Recurrent layers on numbers that Burn's tests took from PyTorch."""

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.nn import BiLstmConfig, BiRnnConfig, GateController, GruConfig, LstmState, RnnState

Rows = list[list[float]]
Gate = tuple[Rows, list[float], Rows, list[float]]
# Input weights and biases, hidden weights and biases.
# fmt: off
GRU: dict[str, Gate] = {
    "update": (
        [[-0.2811,0.5090,0.5018],[0.3391,-0.4236,0.1081]],
        [0.2932,-0.3519,-0.5715],
        [[-0.3471,0.5214,0.0961],[0.0545,-0.4904,-0.1875],[-0.5702,0.4457,0.3568]],
        [-0.0100,0.4518,-0.4102],
    ),
    "reset": (
        [[0.4414,-0.1353,-0.1265],[0.4792,0.5304,0.1165]],
        [-0.2524,0.3333,0.1033],
        [[-0.2695,-0.0677,-0.4557],[0.1472,-0.2345,-0.2662],[-0.2660,0.3830,-0.1630]],
        [0.1663,0.2391,0.1826],
    ),
    "new": (
        [[0.4266,0.2784,0.4451],[0.0782,-0.0815,0.0853]],
        [-0.2231,-0.4428,0.4737],
        [[0.0900,-0.1821,0.2430],[0.4665,0.1551,0.5155],[0.0631,-0.1566,0.3337]],
        [0.0364,-0.3941,0.1780],
    ),
}
LSTM: dict[str, Gate] = {
    "fwd input": (
        [[0.367,0.091,0.342],[0.322,0.533,0.059]],
        [-0.196,0.354,0.209],
        [[-0.320,0.232,-0.165],[0.093,-0.572,-0.315],[-0.467,0.325,0.046]],
        [0.181,-0.190,-0.245],
    ),
    "fwd forget": (
        [[-0.342,-0.084,-0.420],[-0.432,0.119,0.191]],
        [0.315,-0.413,-0.041],
        [[0.453,0.063,0.561],[0.211,0.149,0.213],[-0.499,-0.158,0.068]],
        [-0.431,-0.535,0.125],
    ),
    "fwd cell": (
        [[-0.046,-0.382,0.321],[-0.533,0.558,0.004]],
        [-0.358,0.282,-0.078],
        [[-0.358,0.109,0.139],[-0.345,0.091,-0.368],[-0.508,0.221,-0.507]],
        [0.502,-0.509,-0.247],
    ),
    "fwd output": (
        [[-0.577,-0.359,0.216],[-0.550,0.268,0.243]],
        [-0.227,-0.274,0.039],
        [[-0.383,0.449,0.222],[-0.357,-0.093,0.449],[-0.106,0.236,0.360]],
        [-0.361,-0.209,-0.454],
    ),
    "rev input": (
        [[-0.055,0.506,0.247],[-0.369,0.178,-0.258]],
        [0.540,-0.164,0.033],
        [[0.159,0.180,-0.037],[-0.443,0.485,-0.488],[0.098,-0.085,-0.140]],
        [-0.510,0.105,0.114],
    ),
    "rev forget": (
        [[-0.154,-0.432,-0.547],[-0.369,-0.310,-0.175]],
        [0.141,0.004,0.055],
        [[-0.005,-0.277,-0.515],[-0.011,-0.101,-0.365],[0.426,0.379,0.337]],
        [-0.382,0.331,-0.176],
    ),
    "rev cell": (
        [[-0.571,0.228,-0.287],[-0.331,0.110,0.219]],
        [-0.206,-0.546,0.462],
        [[0.449,-0.240,0.071],[-0.045,0.131,0.124],[0.138,-0.201,0.191]],
        [-0.030,0.211,-0.352],
    ),
    "rev output": (
        [[0.491,-0.442,0.333],[0.313,-0.121,-0.070]],
        [-0.387,-0.250,0.066],
        [[-0.030,0.268,0.299],[-0.019,-0.280,-0.314],[0.466,-0.365,-0.248]],
        [-0.398,-0.199,-0.566],
    ),
}
# fmt: on


def _fill(gate: GateController, values: Gate) -> None:
    leaves = (
        gate.input_transform.weight,
        gate.input_transform.bias,
        gate.hidden_transform.weight,
        gate.hidden_transform.bias,
    )
    for leaf, value in zip(leaves, values, strict=True):
        assert leaf is not None
        leaf.set_base(Tensor(value))


X_GRU = [[[-0.11147, 0.12036], [-0.36963, -0.24042], [-1.19692, 0.20927], [-0.97236, -0.75505]]]
X = [[[0.949, -0.861], [0.892, 0.927], [-0.173, -0.301], [-0.081, 0.992]]]
H0 = [[[0.280, 0.360, -1.242]], [[-0.588, 0.729, -0.788]]]
C0 = [[[0.723, 0.397, -0.262]], [[0.471, 0.613, 1.885]]]


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (
            [[0.3239, -0.10852, 0.21033]],
            [
                [0.05665, -0.34932, 0.43267],
                [-0.1737, -0.49246, 0.38099],
                [-0.35401, -0.68099, 0.05061],
                [-0.47854, -0.70427, -0.13648],
            ],
        ),
        (
            None,
            [
                [-0.0985, -0.31661, 0.36126],
                [-0.24563, -0.47784, 0.34609],
                [-0.39497, -0.67659, 0.03083],
                [-0.50146, -0.70066, -0.14894],
            ],
        ),
    ],
)
def test_a_gru(state: Rows | None, expected: Rows) -> None:
    gru = GruConfig(2, 3, True).init()
    for name, values in GRU.items():
        _fill(getattr(gru, f"{name}_gate"), values)
    found = gru.forward(Tensor(X_GRU), None if state is None else Tensor(state))
    np.testing.assert_allclose(found.numpy()[0], expected, atol=1e-3)


def test_an_lstm_in_both_directions() -> None:
    lstm = BiLstmConfig(2, 3, True).init()
    for name, values in LSTM.items():
        direction, gate = name.split()
        _fill(getattr(lstm.forward_ if direction == "fwd" else lstm.reverse, f"{gate}_gate"), values)
    output, state = lstm.forward(Tensor(X))
    expected = [
        [0.08679, -0.08776, -0.00528, -0.15969, -0.05322, -0.08863],
        [-0.02577, -0.05057, 0.00033, -0.17558, -0.03679, 0.03142],
        [0.02942, -0.07411, -0.06044, -0.03601, -0.09998, 0.04846],
        [-0.04026, 0.07178, -0.10189, -0.07349, -0.04576, 0.05550],
    ]
    np.testing.assert_allclose(output.numpy()[0], expected, atol=1e-3)
    cells = [[-0.15839, 0.15923, -0.23569], [-0.47407, -0.17493, -0.19643]]
    np.testing.assert_allclose(state.cell.numpy()[:, 0], cells, atol=1e-3)
    output, state = lstm.forward(Tensor(X), LstmState(Tensor(C0), Tensor(H0)))
    last = [-0.03420, 0.07774, -0.09774, -0.02604, 0.12584, 0.20872]
    np.testing.assert_allclose(output.numpy()[0, -1], last, atol=1e-3)
    cells = [[-0.13593, 0.17125, -0.22395], [-0.45425, -0.11206, -0.12908]]
    np.testing.assert_allclose(state.cell.numpy()[:, 0], cells, atol=1e-3)


def test_an_rnn_in_both_directions() -> None:
    rnn = BiRnnConfig(2, 3, True).init()
    _fill(rnn.forward_.gate, LSTM["fwd input"])
    _fill(rnn.reverse.gate, LSTM["rev input"])
    output, _ = rnn.forward(Tensor(X))
    expected = [
        [0.0560, -0.2056, 0.2334, 0.0892, 0.3912, 0.3607],
        [0.4340, 0.7378, 0.3714, -0.2394, 0.4235, 0.2002],
        [-0.3962, -0.2097, -0.3798, 0.0532, -0.2067, 0.1727],
        [0.5075, 0.5298, 0.1083, -0.3200, 0.0764, -0.1282],
    ]
    np.testing.assert_allclose(output.numpy()[0], expected, atol=1e-3)
    given, _ = rnn.forward(Tensor(X), RnnState(Tensor(H0)))
    assert np.abs(given.numpy() - output.numpy()).max() > 1e-3
