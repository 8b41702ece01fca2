"""What losses refuse, and what they say: the argument, the value, where it is."""

import json
import math
from typing import Any

import pytest

from burnpy import Tensor
from burnpy.errors import ArgumentError, ConfigError, DTypeError, ShapeError, TensorIndexError
from burnpy.nn import loss

ROWS = [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]
LATTICE = Tensor.zeros((2, 3, 3, 4))


def _ctc(targets: Any = ((1, 2), (1, 2)), inputs: Any = (3, 3), labels: Any = (2, 2), blank: int = 0) -> Any:
    log_probs = Tensor.zeros((3, 2, 4))
    made = loss.CTCLossConfig(blank=blank).init()
    return made(log_probs, Tensor(list(map(list, targets))), Tensor(list(inputs)), Tensor(list(labels)))


def _rnnt(targets: Any = ((1, 2), (1, 2)), steps: Any = (3, 3), labels: Any = (2, 2), blank: int = 0) -> Any:
    made = loss.RNNTLossConfig(blank=blank).init()
    return made(LATTICE, Tensor(list(map(list, targets))), Tensor(list(steps)), Tensor(list(labels)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: loss.LpLossConfig(0.0), "p must be greater than 0, got 0.0"),
        (lambda: loss.LpLossConfig(math.nan), "p must be greater than 0, got nan"),
        (lambda: loss.SmoothL1LossConfig(beta=0.0), "beta must be greater than 0, got 0.0"),
        (lambda: loss.HuberLossConfig(-1.0), "delta must be at least 0, got -1.0"),
        (lambda: loss.HuberLossConfig(math.nan), "delta must be at least 0, got nan"),
        (lambda: loss.PoissonNllLossConfig(eps=0.0), "eps must be greater than 0, got 0.0"),
        (lambda: loss.MarginRankingLossConfig(margin=-0.5), "margin must be at least 0, got -0.5"),
        (lambda: loss.MultiMarginLossConfig(margin=-0.5), "margin must be at least 0, got -0.5"),
        (lambda: loss.MultiMarginLossConfig(p=3), "p must be 1 or 2, got 3"),
        (lambda: loss.CrossEntropyLossConfig(smoothing=1.5), r"smoothing must lie in \[0, 1\], got 1.5"),
        (
            lambda: loss.CrossEntropyLossConfig(weights=[1.0, 0.0]),
            r"weights must be greater than 0, got 0.0 at \[1\]",
        ),
        (lambda: loss.CrossEntropyLossConfig(pad_tokens=[-1]), "pad_tokens"),
        (
            lambda: loss.BinaryCrossEntropyLossConfig(smoothing=-0.5),
            r"smoothing must lie in \[0, 1\], got -0.5",
        ),
        (
            lambda: loss.BinaryCrossEntropyLossConfig(weights=[math.nan, 1.0]),
            r"weights must .* got nan at \[0\]",
        ),
        (lambda: loss.CTCLossConfig(blank=-1), "blank"),
        (lambda: loss.RNNTLossConfig(blank=-1), "blank"),
        (lambda: loss.HuberLossConfig("a"), "delta must be a number, got 'a'"),  # type: ignore[arg-type]
        (lambda: loss.CosineEmbeddingLossConfig(reduction="mean"), "reduction"),  # type: ignore[arg-type]
    ],
)
def test_a_config_refuses_what_makes_no_loss(make: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()


@pytest.mark.parametrize(
    ("reduction", "message"),
    [
        ("none", "forward_no_reduction gives the unreduced values"),
        ("max", "reduction must be one of mean, sum, batch_mean, auto, got 'max'"),
        (None, "got None"),
        (loss.Reduction.BatchMean, "BatchMean is for KLDivLoss alone"),
    ],
)
def test_an_unknown_reduction_is_refused(reduction: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        loss.MseLoss()(Tensor([1.0]), Tensor([2.0]), reduction)


BATCH_MEAN: list[tuple[Any, list[Any]]] = [
    (loss.LpLossConfig(2.0).init(), [[1.0], [2.0]]),
    (loss.HuberLossConfig(1.0).init(), [[1.0], [2.0]]),
    (loss.PoissonNllLossConfig().init(), [[1.0], [2.0]]),
    (loss.GaussianNLLLossConfig().init(), [[1.0], [2.0], [1.0]]),
    (loss.HingeEmbeddingLossConfig().init(), [[1.0], [1.0]]),
    (loss.MarginRankingLossConfig().init(), [[1.0], [2.0], [1.0]]),
    (loss.MultiMarginLossConfig().init(), [[[1.0, 2.0]], [1]]),
    (loss.SoftMarginLoss(), [[1.0], [1.0]]),
    (loss.TripletMarginLossConfig().init(), [[[1.0]], [[2.0]], [[3.0]]]),
]


@pytest.mark.parametrize(("made", "inputs"), BATCH_MEAN)
def test_batch_mean_is_refused_by_all_but_kl_divergence(made: Any, inputs: list[Any]) -> None:
    with pytest.raises(ArgumentError, match="BatchMean is for KLDivLoss alone"):
        made(*map(Tensor, inputs), "batch_mean")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        # shapes
        (lambda: loss.MseLoss()(Tensor([1.0, 2.0]), Tensor([1.0, 2.0, 3.0])), ShapeError, "2.*3"),
        (lambda: loss.MseLoss()(Tensor([1.0, 2.0]), Tensor([[1.0, 2.0]])), ShapeError, "as many axes"),
        (lambda: loss.CrossEntropyLoss()(Tensor(ROWS), Tensor([0])), ShapeError, r"\[1\] .* \[2\]"),
        (
            lambda: loss.CrossEntropyLossConfig(weights=[1.0]).init()(Tensor(ROWS), Tensor([0, 1])),
            ShapeError,
            "1 weights for 3 classes",
        ),
        (
            lambda: loss.BinaryCrossEntropyLossConfig().init()(Tensor([0.5]), Tensor([1, 0])),
            ShapeError,
            r"targets must be of shape \[1\], got \[2\]",
        ),
        (
            lambda: loss.BinaryCrossEntropyLossConfig(weights=[1.0, 1.0]).init()(
                Tensor([[0.5, 0.5, 0.5]]), Tensor([[1, 0, 1]])
            ),
            ShapeError,
            r"weights must be of shape \[3\], got \[2\]",
        ),
        (
            lambda: loss.BinaryCrossEntropyLossConfig(weights=[1.0]).init()(Tensor([0.5]), Tensor([1])),
            ShapeError,
            r"weights must be of shape \[2\], got \[1\]",
        ),
        (
            lambda: loss.PoissonNllLossConfig().init()(Tensor([0.0]), Tensor([[1.0]])),
            ShapeError,
            r"targets must be of shape \[1\], got \[1, 1\]",
        ),
        (
            lambda: loss.CosineEmbeddingLossConfig().init()(Tensor([1.0]), Tensor([1.0]), Tensor([1])),
            ShapeError,
            r"x1 must have two axes, got shape \[1\]",
        ),
        (
            lambda: loss.CosineEmbeddingLossConfig().init()(Tensor(ROWS), Tensor([[1.0]]), Tensor([1, 1])),
            ShapeError,
            r"x2 must be of shape \[2, 3\], got \[1, 1\]",
        ),
        (
            lambda: loss.CosineEmbeddingLossConfig().init()(Tensor(ROWS), Tensor(ROWS), Tensor([1])),
            ShapeError,
            r"targets must be of shape \[2\], got \[1\]",
        ),
        (
            lambda: loss.MultiMarginLossConfig().init()(Tensor([1.0]), Tensor([0])),
            ShapeError,
            "x must have two axes",
        ),
        (
            lambda: loss.MultiMarginLossConfig().init()(Tensor(ROWS), Tensor([0])),
            ShapeError,
            r"targets must be of shape \[2\], got \[1\]",
        ),
        (
            lambda: loss.TripletMarginLossConfig().init()(Tensor(ROWS), Tensor([[1.0]]), Tensor(ROWS)),
            ShapeError,
            r"positive must be of shape \[2, 3\], got \[1, 1\]",
        ),
        (
            lambda: loss.TripletMarginLossConfig().init()(Tensor(ROWS), Tensor(ROWS), Tensor([[1.0]])),
            ShapeError,
            "negative must be of shape",
        ),
        (
            lambda: loss.TripletMarginLossConfig().init()(Tensor([1.0]), Tensor([1.0]), Tensor([1.0])),
            ShapeError,
            "anchor must have two axes",
        ),
        (lambda: _ctc(inputs=(3,)), ShapeError, "batch sizes differ: 2 inputs, 2 targets, 1 and 2 lengths"),
        (lambda: _rnnt(targets=((1,), (1,))), ShapeError, r"targets must be of shape \[2, 2\], got \[2, 1\]"),
        (lambda: _rnnt(steps=(3,)), ShapeError, r"logit_lengths must be of shape \[2\], got \[1\]"),
        (lambda: _rnnt(labels=(2, 2, 2)), ShapeError, r"target_lengths must be of shape \[2\], got \[3\]"),
        (
            lambda: loss.RNNTLossConfig().init()(Tensor(ROWS), Tensor([[1]]), Tensor([1]), Tensor([1])),
            ShapeError,
            "logits must have four axes",
        ),
        # dtypes
        (lambda: loss.MseLoss()(Tensor([1.0]), Tensor([1])), DTypeError, "f32 and i32"),
        (lambda: loss.CrossEntropyLoss()(Tensor(ROWS), Tensor([0.0, 1.0])), DTypeError, "integers, got f32"),
        (lambda: loss.CrossEntropyLoss()(Tensor([[1, 2]]), Tensor([0])), DTypeError, "i32"),
        (
            lambda: loss.BinaryCrossEntropyLossConfig().init()(Tensor([0.5]), Tensor([1.0])),
            DTypeError,
            "targets must be integers, got f32",
        ),
        (
            lambda: loss.MultiMarginLossConfig().init()(Tensor(ROWS), Tensor([0.0, 1.0])),
            DTypeError,
            "targets must be integers, got f32",
        ),
        (lambda: _ctc(inputs=(3.0, 3.0)), DTypeError, "integers, got f32"),
        (lambda: _rnnt(labels=(2.0, 2.0)), DTypeError, "target_lengths must be integers, got f32"),
        # values
        (
            lambda: loss.CrossEntropyLoss()(Tensor(ROWS), Tensor([0, 3])),
            TensorIndexError,
            r"targets must be in \[0, 3\), got 3 at \[1\]",
        ),
        (
            lambda: loss.CrossEntropyLoss(7)(Tensor(ROWS), Tensor([7, -1])),
            TensorIndexError,
            r"targets must be in \[0, 3\), got -1 at \[1\]",
        ),
        (
            lambda: loss.BinaryCrossEntropyLossConfig().init()(Tensor([[0.5, 0.5]]), Tensor([[1, 2]])),
            ArgumentError,
            r"targets must be in \[0, 1\], got 2 at \[0, 1\]",
        ),
        (
            lambda: loss.BinaryCrossEntropyLossConfig().init()(Tensor([0.5, 1.5]), Tensor([1, 1])),
            ArgumentError,
            r"x must be in \[0, 1\], got 1.5 at \[1\]",
        ),
        (
            lambda: loss.PoissonNllLossConfig().init()(Tensor([0.0, 0.0]), Tensor([1.0, -2.0])),
            ArgumentError,
            r"targets must be at least 0, got -2.0 at \[1\]",
        ),
        (
            lambda: loss.PoissonNllLossConfig(log_input=False).init()(Tensor([-0.5]), Tensor([1.0])),
            ArgumentError,
            r"predictions must be at least 0, got -0.5 at \[0\]",
        ),
        (
            lambda: loss.GaussianNLLLossConfig().init()(Tensor([0.0]), Tensor([0.0]), Tensor([-1.0])),
            ArgumentError,
            r"variances must be at least 0, got -1.0 at \[0\]",
        ),
        (
            lambda: loss.MultiMarginLossConfig().init()(Tensor(ROWS), Tensor([0, 5])),
            TensorIndexError,
            r"targets must be in \[0, 3\), got 5 at \[1\]",
        ),
        (
            lambda: _ctc(targets=((1, 2), (1, 7))),
            TensorIndexError,
            r"targets must be in \[0, 4\), got 7 at \[1, 1\]",
        ),
        (lambda: _ctc(inputs=(3, 4)), ArgumentError, r"input_lengths must be in \[0, 3\], got 4 at \[1\]"),
        (lambda: _ctc(labels=(3, 2)), ArgumentError, r"target_lengths must be in \[0, 2\], got 3 at \[0\]"),
        (lambda: _ctc(blank=4), ArgumentError, "blank 4 is none of 4 classes"),
        (
            lambda: _rnnt(targets=((1, 2), (4, 2))),
            TensorIndexError,
            r"targets must be in \[0, 4\), got 4 at \[1, 0\]",
        ),
        (lambda: _rnnt(steps=(3, 0)), ArgumentError, r"logit_lengths must be in \[1, 3\], got 0 at \[1\]"),
        (lambda: _rnnt(labels=(2, 3)), ArgumentError, r"target_lengths must be in \[0, 2\], got 3 at \[1\]"),
        (lambda: _rnnt(blank=4), ArgumentError, r"blank must be in \[0, 4\), got 4"),
    ],
)
def test_an_input_that_does_not_fit_is_refused(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_config_of_json_is_checked_as_one_of_python() -> None:
    text = json.dumps({"pad_tokens": None, "weights": [1.0, -1.0], "smoothing": None, "logits": True})
    with pytest.raises(ConfigError, match=r"weights must be greater than 0, got -1.0 at \[1\]"):
        loss.CrossEntropyLossConfig.load_binary(text.encode())


@pytest.mark.parametrize(("made", "inputs"), BATCH_MEAN[:6])
def test_a_column_is_no_row(made: Any, inputs: list[Any]) -> None:
    for i in range(1, len(inputs)):
        with pytest.raises(ShapeError, match=r"got (shape )?\[2, 1\]"):
            tensors = [Tensor([value[0]] * 2) for value in inputs]
            tensors[i] = tensors[i].reshape(2, 1)
            made.forward_no_reduction(*tensors)
