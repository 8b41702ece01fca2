"""Values of losses by hand, and how a loss is called."""

import math
from typing import Any

import numpy as np
import pytest

import burnpy as bp
from burnpy import Tensor
from burnpy.nn import loss
from burnpy.nn.loss import Reduction
from burnpy.tensor.activation import log_softmax, sigmoid

X = [[0.1, 0.2, 0.7, 0, 0], [0.7, 0.1, 0.1, 0.1, 0], [0.2, 0.2, 0.2, 0.2, 0.2], [0, 0.3, 0.3, 0.2, 0.2]]
Y = [2, 0, 4, 1]
SCORES = [[0.5150, 0.3097, 0.7556], [0.4974, 0.9879, 0.1564]]
LABELS = [[1, 0, 1], [1, 0, 0]]
A, B = [[1.0, 2.0], [3.0, 4.0]], [[2.0, 1.0], [3.0, 2.0]]
RATES, COUNTS = [0.0, 0.0, -40.0, 1.0, 2.0, 3.0], [1.0, 4.5, 2.5, 0.0, 0.0, 2.0]
TRIPLETS = (
    [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]],
    [[1.0, 1.0], [1.0, 2.0], [0.0, 0.0]],
    [[1.0, 0.0], [0.0, 0.0], [5.0, 0.0]],
)


def _wave(*factors: float, shape: tuple[int, ...]) -> Tensor:
    """Sines of a sum over the axes."""
    grid = np.indices(shape)
    return Tensor.from_numpy(np.sin(0.1 * sum(f * axis for f, axis in zip(factors, grid, strict=True))))


def _close(found: Tensor, expected: Any, tolerance: float = 5e-5) -> None:
    array = found.to_numpy()
    assert array.shape == np.shape(expected)
    np.testing.assert_allclose(array, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 1.354197),
        ({"logits": False}, 0.8816902),
        ({"logits": False, "smoothing": 0.1}, 1.7929223),
        ({"smoothing": 0.0}, 1.354197),
        ({"pad_tokens": []}, 1.354197),
    ],
)
def test_cross_entropy_of_five_classes(options: dict[str, Any], expected: float) -> None:
    _close(loss.CrossEntropyLossConfig(**options).init()(Tensor(X), Tensor(Y)), [expected])


def test_rows_of_pads_neither_count_nor_get_a_gradient() -> None:
    x = Tensor([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0]]).require_grad()
    value = loss.CrossEntropyLoss(2)(x, Tensor([0, 2]))
    gradient = x.grad(value.backward())
    assert gradient is not None
    _close(gradient, [[-0.1562053, 0.1141952, 0.04201007], [0, 0, 0]], 1e-6)


def test_a_batch_of_pads_alone_has_no_loss() -> None:
    assert math.isnan(loss.CrossEntropyLoss(1)(Tensor([[1.0, 2.0]]), Tensor([1])).item())


def test_the_target_of_a_pad_need_not_be_a_class() -> None:
    logits = Tensor([[1.0, 2.0], [0.0, 0.0]])
    assert loss.CrossEntropyLoss(9)(logits, Tensor([0, 9])).item() == pytest.approx(1.3132617)


@pytest.mark.parametrize(
    ("x", "y", "options", "expected"),
    [
        ([0.8271, 0.9626, 0.3796, 0.2355], [0, 1, 0, 1], {}, 0.7491),
        ([0.8271, 0.9626, 0.3796, 0.2355], [0, 1, 0, 1], {"weights": [3.0, 7.0]}, 3.1531),
        ([0.8271, 0.9626, 0.3796, 0.2355], [0, 1, 0, 1], {"smoothing": 0.1}, 0.7490),
        (SCORES, LABELS, {}, 0.7112),
        (SCORES, LABELS, {"weights": [3.0, 7.0, 0.9]}, 3.1708),
        (SCORES, LABELS, {"smoothing": 0.1}, 0.7228),
    ],
)
def test_binary_cross_entropy_of_logits_and_of_their_sigmoids(
    x: Any, y: Any, options: dict[str, Any], expected: float
) -> None:
    for logits, values in ((True, Tensor(x)), (False, sigmoid(Tensor(x)))):
        made = loss.BinaryCrossEntropyLossConfig(logits=logits, **options).init()
        _close(made(values, Tensor(y)), [expected], 1e-4)


@pytest.mark.parametrize(("x", "expected"), [([1.0, 0.0], 0.0), ([0.0, 1.0], 100.0)])
def test_hard_probabilities_cost_nothing_or_a_hundred(x: list[float], expected: float) -> None:
    assert loss.BinaryCrossEntropyLossConfig().init()(Tensor(x), Tensor([1, 0])).item() == expected


UNREDUCED: list[tuple[Any, list[Any], Any]] = [
    (loss.MseLoss(), [A, B], [[1, 1], [0, 4]]),
    (loss.LpLossConfig.l2(), [A, B], [[1, 1], [0, 4]]),
    (loss.LpLossConfig.l1(), [A, B], [[1, 1], [0, 2]]),
    (loss.HuberLossConfig(0.5).init(), [[-2, -0.5, 0, 0.3, 1.0], [0.0] * 5], [0.875, 0.125, 0, 0.045, 0.375]),
    (loss.HuberLossConfig(0.0).init(), [[-2.0, 1.0], [0.0] * 2], [0, 0]),
    (
        loss.KLDivLossConfig().init(),
        [[[-1, -0.5], [-2, -0.2]], [[0.4, 0.6], [0.1, 0.9]]],
        [[0.0334837, -0.0064954], [-0.0302585, 0.0851755]],
    ),
    (loss.PoissonNllLossConfig().init(), [RATES, COUNTS], [1, 1, 100, 2.7183, 7.3891, 14.0855]),
    (
        loss.PoissonNllLossConfig(full=True).init(),
        [RATES, COUNTS],
        [1, 4.9393, 101.1678, 2.7183, 7.3891, 14.7373],
    ),
    (loss.GaussianNLLLossConfig().init(), [[1.0, 2.0], [1.5, 1.0], [0.5, 1.0]], [-0.096574, 0.5]),
    (
        loss.GaussianNLLLossConfig(full=True).init(),
        [[1.0, 2.0], [1.5, 1.0], [0.5, 1.0]],
        [0.822365, 1.418939],
    ),
    (loss.CosineEmbeddingLossConfig().init(), [[[1.0, 2.0]] * 3, [[1.0, 2.0]] * 3, [1, -1, 0]], [0, 1, 0]),
    (loss.CosineEmbeddingLossConfig(margin=0.5).init(), [[[1.0, 2.0]], [[1.0, 2.0]], [-1]], [0.5]),
    (loss.HingeEmbeddingLossConfig().init(), [[0.5, 2, 1.5], [1.0, -1, -1]], [0.5, 0, 0]),
    (
        loss.MarginRankingLossConfig(margin=0.5).init(),
        [[1.0, 2, 3], [2.0, 1, 0.5], [1.0, -1, 1]],
        [1.5, 1.5, 0],
    ),
    (loss.MultiMarginLossConfig().init(), [[[0.1, 0.2, 0.7], [0.9, 0.05, 0.05]], [2, 0]], [0.3, 0.1]),
    (
        loss.MultiMarginLossConfig(p=2).init(),
        [[[0.1, 0.2, 0.7], [0.9, 0.05, 0.05]], [2, 0]],
        [0.136667, 0.015],
    ),
    (
        loss.SoftMarginLoss(),
        [[[0.5, -1], [2, -0.5]], [[1.0, -1], [-1, 1]]],
        [[0.474077, 0.313262], [2.126928, 0.974077]],
    ),
    (loss.SoftMarginLoss(), [[-100.0, -20, -5], [1.0, 1, 1]], [100, 20, 5.006715]),
    (loss.TripletMarginLossConfig().init(), list(TRIPLETS), [1.414214, 0.585786, 0]),
]


@pytest.mark.parametrize(("made", "inputs", "expected"), UNREDUCED)
def test_a_loss_of_each_element(made: Any, inputs: list[Any], expected: Any) -> None:
    _close(made.forward_no_reduction(*map(Tensor, inputs)), expected)


@pytest.mark.parametrize(
    ("beta", "errors", "expected"), [(1.0, [0.5, 1.5, 3], [0.125, 1, 2.5]), (0.5, [0.25, 1], [0.0625, 0.75])]
)
def test_smooth_l1_is_unreduced_when_called(beta: float, errors: list[float], expected: list[float]) -> None:
    made = loss.SmoothL1LossConfig(beta=beta).init()
    _close(made(Tensor(errors), Tensor([0.0] * len(errors))), expected)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [(Reduction.Mean, 1.5), ("mean", 1.5), ("Sum", 6.0), ("sum", 6.0), ("auto", 1.5)],
)
def test_a_reduction_is_told_by_its_member_or_its_name(reduction: Any, expected: float) -> None:
    assert loss.MseLoss()(Tensor(A), Tensor(B), reduction).tolist() == [expected]
    assert loss.MseLoss().forward(Tensor(A), Tensor(B), reduction=reduction).shape == (1,)


def test_kl_divergence_is_by_the_batch_unless_told_otherwise() -> None:
    x, t = Tensor([[-1, -0.5], [-2, -0.2]]), Tensor([[0.4, 0.6], [0.1, 0.9]])
    made = loss.KLDivLossConfig().init()
    _close(made(x, t), [0.0409527])
    _close(made(x, t, "batch_mean"), [0.0409527])
    _close(made(x, t, "sum"), [0.0819054])


@pytest.mark.parametrize(
    ("reduction", "expected"), [("mean", [-0.1, -0.1, 0, 0.06, 0.1]), ("sum", [-0.5, -0.5, 0, 0.3, 0.5])]
)
def test_the_gradient_of_huber_ends_at_delta(reduction: str, expected: list[float]) -> None:
    x = Tensor([-2, -0.5, 0, 0.3, 1.0]).require_grad()
    made = loss.HuberLossConfig(0.5).init()
    gradient = x.grad(made(x, Tensor([0.0] * 5), reduction).backward())
    assert gradient is not None
    _close(gradient, expected)


@pytest.mark.parametrize(
    ("probabilities", "blank", "targets", "expected"),
    [
        (np.full((3, 1, 2), 0.5), 0, [[1, 1]], 3 * math.log(2)),
        (np.full((3, 1, 3), 1 / 3), 2, [[0, 1]], -math.log(5 / 27)),
        (np.full((2, 1, 2), 0.5), 0, [[1]], -math.log(0.75)),
        (np.full((2, 1, 2), 0.5), 0, [[1, 1]], math.inf),
    ],
)
def test_ctc_of_even_probabilities(probabilities: Any, blank: int, targets: Any, expected: float) -> None:
    lengths = Tensor([len(probabilities)]), Tensor([len(targets[0])])
    log_probs = Tensor.from_numpy(np.log(probabilities))
    for zeroed in (False, True):
        made = loss.CTCLossConfig(blank=blank, zero_infinity=zeroed).init()
        wanted = 0.0 if zeroed and math.isinf(expected) else expected
        _close(made(log_probs, Tensor(targets), *lengths), [wanted], 1e-9)


def test_ctc_of_three_sequences_and_their_mean_by_length() -> None:
    log_probs = log_softmax(_wave(7, 13, 3, shape=(5, 3, 4)), 2)
    targets, lengths = Tensor([[1, 2, 0], [1, 0, 0], [3, 2, 1]]), Tensor([2, 1, 3])
    made = loss.CTCLossConfig().init()
    expected = [3.5236571, 3.4953139, 4.2626772]
    inputs = (log_probs, targets, Tensor([5, 5, 5]), lengths)
    _close(made(*inputs), expected, 1e-7)
    mean = sum(value / n for value, n in zip(expected, [2, 1, 3], strict=True)) / 3
    _close(made.forward_with_reduction(*inputs), [mean], 1e-7)
    _close(made.forward_with_reduction(*inputs, "sum"), [sum(expected)], 1e-7)


def test_targets_of_ctc_beyond_their_length_do_not_matter() -> None:
    log_probs, made = log_softmax(_wave(7, 13, 3, shape=(5, 1, 4)), 2), loss.CTCLossConfig().init()
    values = [made(log_probs, Tensor([[1, rest]]), Tensor([5]), Tensor([1])).item() for rest in (0, 3, 9, -1)]
    assert len(set(values)) == 1


@pytest.mark.parametrize(
    ("shape", "targets", "expected"),
    [
        ((1, 2, 2, 2), [[1]], 2 * math.log(2)),
        ((1, 3, 1, 2), [[]], 3 * math.log(2)),
        ((1, 1, 3, 2), [[1, 1]], 3 * math.log(2)),
    ],
)
def test_a_transducer_of_even_probabilities(shape: Any, targets: Any, expected: float) -> None:
    tokens = Tensor.from_numpy(np.array(targets, np.int64).reshape(1, -1))
    logits = Tensor.zeros(shape, dtype="f64")
    made = loss.RNNTLossConfig().init()
    _close(made(logits, tokens, Tensor([shape[1]]), Tensor([shape[2] - 1])), [expected], 1e-9)


@pytest.mark.parametrize(
    ("shape", "targets", "expected"),
    [
        ((1, 4, 3, 3), [[1, 2]], [4.4491]),
        ((2, 5, 4, 4), [[1, 2, 3], [2, 1, 3]], [7.9356, 7.2033]),
    ],
)
def test_a_transducer_of_waves(shape: Any, targets: Any, expected: Any) -> None:
    lengths = Tensor([shape[1]] * shape[0]), Tensor([shape[2] - 1] * shape[0])
    logits = _wave(11, 7, 13, 3, shape=shape)
    made = loss.RNNTLossConfig().init()
    _close(made(logits, Tensor(targets), *lengths), expected)
    _close(made.forward_with_reduction(logits, Tensor(targets), *lengths), [np.mean(expected)])


def _paths(log_probs: Any, targets: list[int], steps: int) -> float:
    """The likelihood of a transducer, as a sum over the lattice node by node."""
    alpha = np.full((steps, len(targets) + 1), -np.inf)
    for t in range(steps):
        for u in range(len(targets) + 1):
            ways = [0.0] if t == u == 0 else []
            ways += [alpha[t - 1, u] + log_probs[t - 1, u, 0]] if t else []
            ways += [alpha[t, u - 1] + log_probs[t, u - 1, targets[u - 1]]] if u else []
            alpha[t, u] = np.logaddexp.reduce(ways)
    return float(alpha[-1, -1] + log_probs[steps - 1, len(targets), 0])


def test_a_transducer_is_the_sum_over_its_lattice_for_every_length() -> None:
    rng = np.random.default_rng(3)
    logits, targets = rng.normal(size=(4, 6, 4, 5)), rng.integers(1, 5, size=(4, 3))
    steps, labels = [6, 1, 4, 5], [3, 2, 0, 1]
    log_probs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    expected = [-_paths(log_probs[i], list(targets[i, : labels[i]]), steps[i]) for i in range(4)]
    inputs = (Tensor.from_numpy(logits), Tensor.from_numpy(targets), Tensor(steps), Tensor(labels))
    _close(loss.RNNTLossConfig().init()(*inputs), expected, 1e-12)


def test_a_transducer_without_a_possible_path_is_infinite_and_gives_no_gradient() -> None:
    probabilities = np.full((2, 2, 2, 2), 0.5)
    probabilities[0, :, 0, 1] = 0.0
    with np.errstate(divide="ignore"):
        x = Tensor.from_numpy(np.log(probabilities)).require_grad()
    values = loss.RNNTLossConfig(logits=False).init()(x, Tensor([[1], [1]]), Tensor([2, 2]), Tensor([1, 1]))
    _close(values, [math.inf, 2 * math.log(2)], 1e-9)
    gradient = x.grad(values.backward())
    assert gradient is not None
    assert not gradient.to_numpy()[0].any() and np.isfinite(gradient.to_numpy()).all()


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_losses_keep_half_precision(dtype: str) -> None:
    x, t = Tensor(A).cast(dtype), Tensor(B).cast(dtype)
    reducible: list[Any] = [
        made for made, _, _ in UNREDUCED if type(made).__name__ in ("MseLoss", "HuberLoss")
    ]
    for made in [*reducible, loss.KLDivLossConfig().init(), loss.SoftMarginLoss()]:
        assert made(x, t).dtype == dtype
    logits = _wave(11, 7, 13, 3, shape=(1, 4, 3, 3)).cast(dtype)
    value = loss.RNNTLossConfig().init()(logits, Tensor([[1, 2]]), Tensor([4]), Tensor([2]))
    assert value.dtype == dtype and value.item() == pytest.approx(4.4491, rel=0.02)


def test_a_loss_is_a_module_without_parameters() -> None:
    made = loss.CrossEntropyLossConfig(weights=[1.0, 2.0]).init()
    assert isinstance(made, bp.Module) and made.num_params() == 0 and not list(made.named_params())
    assert made.clone()(Tensor([[0.0, 0.0]]), Tensor([1])).item() == pytest.approx(math.log(2))
