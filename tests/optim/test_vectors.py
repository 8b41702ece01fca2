"""Values after one, two and three steps, written down by hand from the rules, and those that Burn's tests assert."""

from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.optim import (
    AdafactorConfig,
    AdaGradConfig,
    AdamConfig,
    AdamWConfig,
    AdanConfig,
    AdjustLrFn,
    GradientClippingConfig,
    LambConfig,
    LionConfig,
    MomentumConfig,
    MuonConfig,
    Optimizer,
    OptimizerConfig,
    RmsPropConfig,
    SgdConfig,
    WeightDecayConfig,
)
from burnpy.optim.optimizer import FusedOptimizer
from burnpy.record.state import RecordState, StateSink
from tests.optim.models import Affine, Array, Single, given, values

THETA = np.array([1.0, -2.0, 0.5, 0.0], np.float32)
GRADIENTS = np.array([[0.1, -0.2, 0.3, 0.4], [-0.1, 0.4, 0.2, 0.0], [0.3, 0.1, -0.2, -0.5]], np.float32)
L2 = WeightDecayConfig(0.05)
NESTEROV = MomentumConfig(momentum=0.9, dampening=0.1, nesterov=True)

STEPS: dict[str, tuple[OptimizerConfig, list[list[float]]]] = {
    "sgd": (SgdConfig(), [[0.99, -1.98, 0.47, -0.04], [1, -2.02, 0.45, -0.04], [0.97, -2.03, 0.47, 0.01]]),
    "sgd momentum": (
        SgdConfig(momentum=MomentumConfig()),
        [[0.99, -1.98, 0.47, -0.04], [0.99, -1.998, 0.425, -0.076], [0.963, -2.0232, 0.4025, -0.0634]],
    ),
    "sgd nesterov": (
        SgdConfig(weight_decay=L2, momentum=NESTEROV),
        [
            [0.97149998, -1.943, 0.43825001, -0.075999998],
            [0.96865791, -1.9735157, 0.37175885, -0.10771219],
            [0.89840543, -1.9739631, 0.36472452, -0.045120373],
        ],
    ),
    "adam": (
        AdamConfig(),
        [
            [0.90000999, -1.900005, 0.40000334, -0.099997498],
            [0.9052726, -1.936614, 0.30297226, -0.16700074],
            [0.8492189, -1.9781773, 0.26840106, -0.14943568],
        ],
    ),
    "adam amsgrad": (
        AdamConfig(amsgrad=True, weight_decay=L2),
        [
            [0.90000665, -1.9000033, 0.40000308, -0.099997498],
            [0.86273199, -1.9060924, 0.30279934, -0.16603711],
            [0.79266053, -1.9114982, 0.26207367, -0.14738457],
        ],
    ),
    "adamw": (
        AdamWConfig(),
        [
            [0.89999998, -1.899985, 0.39999834, -0.099997498],
            [0.90525359, -1.9365749, 0.30296326, -0.16699973],
            [0.84919083, -1.9781188, 0.26838902, -0.149433],
        ],
    ),
    "adamw decay": (
        AdamWConfig(weight_decay=0.1),
        [
            [0.89001, -1.880005, 0.39500335, -0.099997498],
            [0.88637251, -1.897814, 0.29402226, -0.16600075],
            [0.82145512, -1.9203992, 0.25651085, -0.14677569],
        ],
    ),
    "adamw cautious": (
        AdamWConfig(weight_decay=0.1, cautious_weight_decay=True),
        [
            [0.89001, -1.880005, 0.39500335, -0.099997498],
            [0.89527261, -1.9166141, 0.29402226, -0.16700073],
            [0.83026618, -1.9581773, 0.25651082, -0.14776567],
        ],
    ),
    "adagrad": (
        AdaGradConfig(),
        [
            [0.90000999, -1.900005, 0.40000334, -0.099997498],
            [0.97071564, -1.9894457, 0.34453487, -0.099997498],
            [0.880265, -2.0112669, 0.39304084, -0.021911837],
        ],
    ),
    "adagrad decay": (
        AdaGradConfig(lr_decay=0.5, weight_decay=L2),
        [
            [0.90000665, -1.9000033, 0.40000308, -0.099997498],
            [0.92295539, -1.9475306, 0.36263293, -0.09916427],
            [0.87755883, -1.9478372, 0.38365516, -0.05997289],
        ],
    ),
    "rmsprop": (
        RmsPropConfig(),
        [
            [0.000998497, -1.0004992, -0.49966729, -0.99975061],
            [-0.18972349, -0.9960717, -1.9558437, -1.8995261],
            [-1.2668662, -1.2115124, -2.7782936, -1.925528],
        ],
    ),
    "rmsprop centered": (
        RmsPropConfig(centered=True),
        [
            [-0.004029274, -0.99546647, -0.50470173, -1.0047859],
            [-0.19927607, -0.98742557, -1.9708087, -1.9090931],
            [-1.2842027, -1.2000912, -2.8009515, -1.9390613],
        ],
    ),
    "rmsprop centered plain": (
        RmsPropConfig(centered=True, momentum=0.0),
        [
            [-0.004029274, -0.99546647, -0.50470173, -1.0047859],
            [0.70435029, -1.8915057, -1.0665772, -1.0047859],
            [-0.20485419, -2.1114082, -0.57722372, -0.22087747],
        ],
    ),
    "adan": (
        AdanConfig(),
        [
            [0.89999998, -1.9, 0.40000001, -0.10000002],
            [0.94539809, -1.9566444, 0.31041867, -0.101643],
            [0.90462381, -1.9892008, 0.32818389, -0.050297774],
        ],
    ),
    "adan decay": (
        AdanConfig(weight_decay=0.1),
        [
            [0.89108908, -1.8811882, 0.39603961, -0.099009916],
            [0.92721504, -1.9186461, 0.30342403, -0.099656343],
            [0.87766415, -1.9318837, 0.31800917, -0.047832787],
        ],
    ),
    "adan no prox": (
        AdanConfig(weight_decay=0.1, no_prox=True),
        [
            [0.88999999, -1.88, 0.39500001, -0.10000002],
            [0.92649812, -1.9178444, 0.30146867, -0.100643],
            [0.87645888, -1.9312224, 0.31621921, -0.04829134],
        ],
    ),
    "lion": (LionConfig(), [[0.9, -1.9, 0.4, -0.1], [1, -2, 0.3, -0.2], [0.9, -2.1, 0.4, -0.1]]),
    "lion decay": (
        LionConfig(weight_decay=0.1),
        [
            [0.89, -1.88, 0.395, -0.1],
            [0.9811, -1.9612, 0.29105002, -0.199],
            [0.871289, -2.041588, 0.38813952, -0.097009994],
        ],
    ),
    "adafactor": (
        AdafactorConfig(),
        [
            [0.8854356, -1.8854356, 0.3854356, -0.1145644],
            [0.99150807, -2.0139954, 0.29973885, -0.1145644],
            [0.84109396, -2.0540128, 0.3907689, 0.022949524],
        ],
    ),
    "adafactor plain": (
        AdafactorConfig(weight_decay=0.1, relative_step=False, scale_parameter=False),
        [
            [0.89, -1.88, 0.395, -0.1],
            [0.9811, -1.9824, 0.31025925, -0.099],
            [0.83862823, -1.99787, 0.38744247, 0.02327323],
        ],
    ),
    "lamb": (
        LambConfig(),
        [
            [0.8854362, -1.8854356, 0.3854354, -0.11456471],
            [0.8944707, -1.9482799, 0.21886767, -0.22958495],
            [0.74230593, -2.061107, 0.12502074, -0.1819035],
        ],
    ),
    "lamb decay": (
        LambConfig(weight_decay=0.1),
        [
            [0.88438624, -1.8738753, 0.38964078, -0.1051041],
            [0.8781872, -1.9048142, 0.21490866, -0.21928456],
            [0.70704263, -1.9642481, 0.11797972, -0.16713122],
        ],
    ),
    "lamb no trust ratio": (
        LambConfig(use_trust_ratio=False),
        [
            [0.900001, -1.9000005, 0.40000033, -0.09999975],
            [0.9052641, -1.9366106, 0.30296582, -0.1670051],
            [0.84920776, -1.9781753, 0.2683933, -0.14943962],
        ],
    ),
}

STATES: dict[str, dict[str, Any]] = {
    "sgd momentum": {"momentum.velocity": [0.27, 0.252, 0.225, -0.126]},
    "sgd nesterov": {"momentum.velocity": [0.39343536, 0.0035002893, 0.27972829, -0.13392508]},
    "adam": {
        "momentum.time": 3,
        "momentum.moment_1": [0.029100008, 0.029800005, 0.022300007, -0.017600004],
        "momentum.moment_2": [1.099686e-4, 2.0975735e-4, 1.6977792e-4, 4.0967489e-4],
    },
    "adam amsgrad": {
        "momentum.moment_2": [1.4321785e-4, 1.8277166e-4, 1.8793634e-4, 4.1807053e-4],
        "momentum.max_moment_2": [1.4321785e-4, 1.8293255e-4, 1.8793634e-4, 4.1807053e-4],
    },
    "adagrad": {"lr_decay.time": 3, "lr_decay.sum": [0.11, 0.21, 0.17, 0.41]},
    "rmsprop": {
        "square_avg.square_avg": [0.0010970091, 0.0020760382, 0.0016780884, 0.0040681562],
        "centered.avg": [0.0010970091, 0.0020760382, 0.0016780884, 0.0040681562],
        "momentum.buf": [10.771427, 2.154407, 8.2244987, 0.26001883],
    },
    "rmsprop centered": {
        "centered.grad_avg": [0.0029900973, 0.0029997975, 0.0029202972, -0.0010795984],
        "centered.avg": [0.0010880684, 0.0020670395, 0.0016695603, 0.0040669907],
        "momentum.buf": [10.849266, 2.1266565, 8.3014278, 0.29968119],
    },
    "adan": {
        "momentum.exp_avg": [0.0059607946, 0.0059983945, 0.0056823953, -0.0023167967],
        "momentum.exp_avg_sq": [0.0053587393, 0.0096742008, 0.0042237998, 0.012124847],
        "momentum.exp_avg_diff": [0.017279997, 0.020159997, -0.039359994, -0.069439985],
        "momentum.neg_pre_grad": [-0.3, -0.1, 0.2, 0.5],
    },
}


def run(optim: Optimizer[Any], theta: Array, gradients: Array, lr: float) -> tuple[list[Array], RecordState]:
    """The tensor after each step, and the last state."""
    tensor, state, found = Tensor.from_numpy(theta).inner(), None, []
    for gradient in gradients:
        tensor, state = optim.step(lr, tensor, Tensor.from_numpy(gradient).inner(), state)
        found.append(tensor.to_numpy())
    assert state is not None
    return found, state


def leaves(state: RecordState) -> dict[str, Any]:
    sink = StateSink()
    state.state_flatten("", sink)
    scalars = {name: scalar.value for name, scalar in sink.scalars.items()}
    return {name: tensor.to_numpy() for name, tensor in sink.tensors.items()} | scalars


@pytest.mark.parametrize("name", STEPS)
def test_three_steps_of_one_tensor_give_the_values_of_the_rule(name: str) -> None:
    config, expected = STEPS[name]
    found, state = run(config.build(), THETA, GRADIENTS, 0.1)
    tolerance = 1e-5 if name.startswith("rmsprop") else 1e-6
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    recorded = leaves(state)
    for leaf, value in STATES.get(name, {}).items():
        np.testing.assert_allclose(recorded[leaf], value, rtol=1e-6, atol=1e-9, err_msg=leaf)


@pytest.mark.parametrize("name", STEPS)
def test_three_steps_of_a_module_give_the_values_of_the_rule(name: str) -> None:
    config, expected = STEPS[name]
    model, optim = Single(THETA.copy()), config.init()
    for gradient, wanted in zip(GRADIENTS, expected, strict=True):
        model = optim.step(0.1, model, given(model, {"weight": gradient}))
        tolerance = 1e-5 if name.startswith("rmsprop") else 1e-6
        np.testing.assert_allclose(model.weight.val().numpy(), wanted, rtol=0, atol=tolerance)


MUON_STEPS = {
    "original": (
        MuonConfig(),
        [0.94008052, -0.55796915, 0.27699354, 1.9604441, -1.0551735, 0.80169559],
        [0.98840857, -0.65860224, 0.26040402, 1.8908991, -1.1324517, 0.784361],
    ),
    "original decay": (
        MuonConfig(weight_decay=WeightDecayConfig(0.1)),
        [0.93008053, -0.55296916, 0.27449355, 1.9404441, -1.0451735, 0.79419559],
        [0.96910787, -0.64807254, 0.25515908, 1.8514947, -1.112, 0.76891905],
    ),
    "match": (
        MuonConfig(adjust_lr_fn=AdjustLrFn.MatchRmsAdamW),
        [0.98305219, -0.51639616, 0.25763494, 1.9888119, -1.0156054, 0.76462173],
        [0.99672145, -0.54485953, 0.25294271, 1.9691415, -1.0374629, 0.75971878],
    ),
    "match decay": (
        MuonConfig(adjust_lr_fn=AdjustLrFn.MatchRmsAdamW, weight_decay=WeightDecayConfig(0.1)),
        [0.9730522, -0.51139617, 0.25513494, 1.9688119, -1.0056055, 0.75712174],
        [0.97699094, -0.53474557, 0.24789137, 1.9294534, -1.0174069, 0.74464756],
    ),
}


@pytest.mark.parametrize("name", MUON_STEPS)
def test_two_steps_of_muon_give_the_values_of_the_rule(name: str) -> None:
    config, *expected = MUON_STEPS[name]
    theta = np.array([[1, -0.5], [0.25, 2], [-1, 0.75]], np.float32)
    gradients = np.array(
        [[[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]], [[-0.2, 0.1], [0.3, 0], [0.2, 0.4]]], np.float32
    )
    found, state = run(config.build(), theta, gradients, 0.1)
    np.testing.assert_allclose([array.ravel() for array in found], expected, rtol=0, atol=1e-4)
    velocity = leaves(state)["momentum.velocity"]
    np.testing.assert_allclose(velocity.ravel(), [-0.105, 0.29, 0.015, 0.38, 0.675, -0.17], atol=1e-6)


def test_muon_orthogonalizes() -> None:
    gradient = np.array([[1, 0.5], [0.5, 1]], np.float32)
    config = MuonConfig(momentum=MomentumConfig(momentum=0.0, dampening=0.0))
    (found,), _ = run(config.build(), np.zeros((2, 2), np.float32), gradient[None], 1.0)
    np.testing.assert_allclose(-found, [[0.94337, -0.190336], [-0.190336, 0.943371]], atol=1e-4)
    np.testing.assert_allclose(np.diag(found @ found.T), 1.0, atol=0.1)


def test_muon_keeps_what_a_zero_gradient_leaves_and_decays_the_rest() -> None:
    theta = np.ones((4, 4), np.float32)
    (kept,), _ = run(MuonConfig().build(), theta, np.zeros((1, 4, 4), np.float32), 0.01)
    np.testing.assert_allclose(kept, theta, atol=1e-6)
    config = MuonConfig(weight_decay=WeightDecayConfig(0.01))
    (shrunk,), _ = run(config.build(), theta, np.ones((1, 4, 4), np.float32), 0.01)
    np.testing.assert_allclose(shrunk, 0.998159, atol=1e-5)


@pytest.mark.parametrize(
    ("function", "shape", "ratio"),
    [
        ("Original", (512, 512), 1.0),
        ("Original", (1024, 512), 2**0.5),
        ("Original", (512, 1024), 1.0),
        ("Original", (7,), 1.0),
        ("MatchRmsAdamW", (1024, 512), 6.4),
        ("MatchRmsAdamW", (512, 512), 0.2 * 512**0.5),
    ],
)
def test_the_rate_of_muon_is_adjusted_to_the_shape(
    function: str, shape: tuple[int, ...], ratio: float
) -> None:
    assert AdjustLrFn(function).adjustment_ratio(shape) == pytest.approx(ratio, abs=1e-8)


def test_lion_as_in_burns_tests() -> None:
    gradients = np.array([[0.5, -0.25, 0], [-0.1, 0.5, -2]], np.float32)
    found, state = run(LionConfig(weight_decay=0.1).build(), np.array([1, -2, 3], np.float32), gradients, 0.1)
    np.testing.assert_allclose(found, [[0.89, -1.88, 2.97], [0.9811, -1.9612, 3.0403]], rtol=0, atol=1e-6)
    np.testing.assert_allclose(leaves(state)["momentum"], [0.00395, 0.002525, -0.02], rtol=0, atol=1e-6)


LAMB_THETA = np.array([1, -2, 3], np.float32)
LAMB_GRADIENTS = np.array([[0.1, -0.2, 0.3], [-0.4, 0.5, -0.6]], np.float32)


def test_lamb_as_in_burns_tests() -> None:
    found, state = run(LambConfig(weight_decay=0.1).build(), LAMB_THETA, LAMB_GRADIENTS, 0.01)
    expected = [[0.9802435, -1.9784473, 2.9766512], [1.0127187, -1.9956441, 2.9814672]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    recorded = leaves(state)
    np.testing.assert_allclose(recorded["moment_1"], [-0.031, 0.032, -0.033], rtol=0, atol=1e-7)
    np.testing.assert_allclose(recorded["moment_2"], [0.00016999, 0.00028996, 0.00044991], rtol=0, atol=1e-8)


def test_lamb_without_trust_ratio_and_from_nothing() -> None:
    config = LambConfig(weight_decay=0.1, use_trust_ratio=False)
    (found,), _ = run(config.build(), LAMB_THETA, LAMB_GRADIENTS[:1], 0.01)
    np.testing.assert_allclose(found, [0.9890001, -1.988, 2.987], rtol=0, atol=1e-6)
    zeros = np.zeros(3, np.float32)
    (found,), _ = run(LambConfig().build(), zeros, zeros[None], 0.01)
    assert not found.any()


def _adafactor(**fields: Any) -> Optimizer[Any]:
    return AdafactorConfig(**{"relative_step": False, "scale_parameter": False, **fields}).build()


def test_adafactor_of_a_vector_as_in_burns_tests() -> None:
    gradients = np.array([[0.2, -0.4, 0.7], [-0.1, 0.8, -0.5]], np.float32)
    optim = _adafactor(epsilon_1=0.01, clip_threshold=0.75)
    found, state = run(optim, np.array([1, -2, 3], np.float32), gradients, 0.2)
    expected = [[0.85913, -1.847205, 2.8440855], [0.9511715, -2.0468662, 2.982519]]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(leaves(state)["second_moment"], [0.032769524, 0.4456876, 0.3621562], atol=1e-6)


def test_adafactor_of_a_matrix_as_in_burns_tests() -> None:
    gradients = np.array(
        [[[0.2, -0.4, 0.6], [0.8, -1, 1.2]], [[-0.5, 0.25, 1], [0.125, -0.75, 0.375]]], np.float32
    )
    optim = _adafactor(epsilon_1=0.01, clip_threshold=0.75)
    found, state = run(optim, np.array([[1, -2, 3], [-4, 5, -6]], np.float32), gradients, 0.2)
    expected = [
        [[0.90609723, -1.8553506, 2.8252919], [-4.1636004, 5.157508, -6.152191]],
        [[1.109898, -1.929492, 2.5945199], [-4.202498, 5.3273153, -6.218259]],
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    recorded = leaves(state)
    np.testing.assert_allclose(recorded["second_moment"], [[0.34073257], [0.584606]], atol=1e-6)
    np.testing.assert_allclose(
        recorded["column_second_moment"], [[0.23100203, 0.43636158, 0.72064424]], atol=1e-6
    )


def test_adafactor_of_rank_three_as_in_burns_tests() -> None:
    gradient = np.array([[[1, 2, 3], [4, 5, 6]], [[2, -1, 4], [0.5, 3, -2]]], np.float32)
    optim = _adafactor(epsilon_1=0.01, clip_threshold=10.0)
    (found,), state = run(optim, np.zeros((2, 2, 3), np.float32), gradient[None], 0.2)
    expected = [
        [[-0.12350519, -0.1891674, -0.22781561], [-0.21083567, -0.20182975, -0.19445199]],
        [[-0.24725027, 0.080702476, -0.22837506], [-0.077785276, -0.30466932, 0.1436942]],
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    recorded = leaves(state)
    rows = [[[4.6766667], [25.676666]], [[7.01], [4.4266667]]]
    np.testing.assert_allclose(recorded["second_moment"], rows, rtol=1e-6)
    columns = [[[8.51, 14.51, 22.51]], [[2.135, 5.01, 10.01]]]
    np.testing.assert_allclose(recorded["column_second_moment"], columns, rtol=1e-6)


@pytest.mark.parametrize(
    ("fields", "theta", "gradient", "lr", "expected"),
    [
        ({"relative_step": True}, [2, -2], [1, 1], 0.1, [[1.9, -2.1]]),
        ({"relative_step": True}, [2, -2], [1, 1], 2.0, [[1, -3], [0.29289323, -3.7071068]]),
        ({}, [2, -2], [1, 1], 2.0, [[0, -4]]),
        ({"scale_parameter": True, "epsilon_2": 0.1}, [3, 4], [1, 1], 0.01, [[2.9646447, 3.9646447]]),
        ({"scale_parameter": True, "epsilon_2": 0.1}, [0, 0], [1, 1], 0.2, [[-0.02, -0.02]]),
        ({"clip_threshold": 0.25}, [1, -2], [1, -1], 0.2, [[0.95, -1.95]]),
        (
            {"relative_step": True, "scale_parameter": True, "weight_decay": 0.1},
            [3, 4], [1, 1], 2.0, [[-1.1355339, -0.33553392]],
        ),
        ({}, [0, 0], [0, 0], 0.1, [[0, 0]]),
    ],
)  # fmt: skip
def test_adafactor_step_sizes_as_in_burns_tests(
    fields: dict[str, Any], theta: Any, gradient: Any, lr: float, expected: Any
) -> None:
    gradients = np.array([gradient] * len(expected), np.float32)
    found, _ = run(_adafactor(**fields), np.array(theta, np.float32), gradients, lr)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_adafactor_of_a_clipped_linear_map_as_in_burns_tests() -> None:
    config = AdafactorConfig(
        epsilon_1=1.0,
        relative_step=False,
        scale_parameter=False,
        grad_clipping=GradientClippingConfig.Value(0.1),
    )
    model = Affine(np.array([[1, -2], [3, -4]], np.float32), np.array([0.5, -0.5], np.float32))
    gradients = {"weight": np.array([[0.25] * 2, [-0.75] * 2], np.float32), "bias": np.ones(2, np.float32)}
    model = config.init().step(0.1, model, given(model, gradients))
    found = values(model)
    expected = [[0.9900496, -2.0099504], [3.0099504, -3.9900496]]
    np.testing.assert_allclose(found["weight"], expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found["bias"], [0.49004963, -0.5099504], rtol=0, atol=1e-6)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_adafactor_keeps_half_precision_with_a_state_in_single(dtype: str) -> None:
    tensor, grad = Tensor([[1.0, 2.0]]).inner().cast(dtype), Tensor([[0.5, 0.5]]).inner().cast(dtype)
    state: RecordState | None
    new, state = AdafactorConfig().build().step(0.1, tensor, grad, None)
    assert state is not None and new.dtype == dtype
    assert {tensor.dtype for name, tensor in vars(state).items() if name != "time"} == {"f32"}


def test_every_fused_rule_is_in_the_table() -> None:
    fused = {type(config.build()) for config, _ in STEPS.values()}
    assert fused >= set(FusedOptimizer.__subclasses__())
