"""What metrics refuse, and what they say of it."""

import math
from typing import Any

import numpy as np
import pytest

from burnpy import Tensor
from burnpy.errors import ArgumentError, ConfigError, DTypeError, ShapeError, TensorIndexError
from burnpy.train import metric as m

CLASSES = [m.AccuracyMetric, m.TopKAccuracyMetric, m.PerplexityMetric]
TOKENS = [m.CharErrorRate, m.WordErrorRate, m.BleuScore, m.RougeLScore]
COUNTS = [m.PrecisionMetric, m.RecallMetric, m.FBetaScoreMetric, m.AurocMetric, m.AucPrMetric]
TWO_BY_TWO = [[0.1, 0.9], [0.8, 0.2]]


@pytest.mark.parametrize("build", CLASSES)
@pytest.mark.parametrize(
    ("outputs", "targets"), [(TWO_BY_TWO, [0]), (TWO_BY_TWO, [[0], [1]]), ([0.1, 0.9], [0, 1])]
)
def test_scores_and_classes_of_other_shapes_are_refused(build: Any, outputs: Any, targets: Any) -> None:
    with pytest.raises(ShapeError, match=r"\(batch, classes\) and \(batch,\); outputs have shape"):
        build().update(outputs, targets)


@pytest.mark.parametrize("build", CLASSES)
def test_scores_and_classes_of_other_kinds_are_refused(build: Any) -> None:
    with pytest.raises(DTypeError, match="targets must be of kind int, got f32"):
        build().update(TWO_BY_TWO, [0.0, 1.0])
    with pytest.raises(DTypeError, match="outputs must be of kind float, got i32"):
        build().update([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("build", TOKENS)
def test_rows_of_tokens_of_other_shapes_and_kinds_are_refused(build: Any) -> None:
    with pytest.raises(ShapeError, match=r"shapes \(batch, width\) of one batch"):
        build().update([[1, 2]], [[1, 2], [3, 4]])
    with pytest.raises(ShapeError, match="width"):
        build().update([1, 2], [1, 2])
    with pytest.raises(DTypeError, match="kind int"):
        build().update([[1.0, 2.0]], [[1, 2]])


@pytest.mark.parametrize("build", [*COUNTS, m.HammingScore])
def test_scores_and_labels_of_other_shapes_are_refused(build: Any) -> None:
    with pytest.raises(ShapeError, match="of one shape"):
        build().update(TWO_BY_TWO, [[0, 1]])
    with pytest.raises(ShapeError, match=r"shape \(batch, (classes|labels)\)"):
        build().update([0.1, 0.9], [0, 1])
    with pytest.raises(DTypeError, match="kind float"):
        build().update([[0, 1]], [[0, 1]])


@pytest.mark.parametrize("build", COUNTS)
def test_the_number_of_classes_must_stay(build: Any) -> None:
    metric = build()
    metric.update(TWO_BY_TWO, [[0, 1], [1, 0]])
    with pytest.raises(ArgumentError, match="has 3 classes, those before had 2"):
        metric.update([[0.1, 0.2, 0.3]], [[0, 0, 1]])
    metric.clear()
    metric.update([[0.1, 0.2, 0.3]], [[0, 0, 1]])


def test_a_class_that_is_not_in_the_vocabulary_is_refused() -> None:
    with pytest.raises(TensorIndexError, match="5"):
        m.PerplexityMetric().update(TWO_BY_TWO, [0, 5])
    with pytest.raises(ArgumentError, match="k = 3 is more than the 2 classes"):
        m.PrecisionMetric.multiclass(3, m.ClassReduction.Macro).update(TWO_BY_TWO, [[0, 1], [1, 0]])


def test_empty_batches_count_nothing_or_are_refused() -> None:
    none, no_class = np.zeros((0, 2), dtype=np.float32), np.zeros(0, dtype=np.int32)
    for build in CLASSES:
        metric = build()
        metric.update(none, no_class)
        metric.update(TWO_BY_TWO, [1, 0])
        assert math.isfinite(metric.result())
    for counting in COUNTS[:3]:
        counted = counting()
        counted.update(none, none.astype(bool))
        counted.update(TWO_BY_TWO, [[0, 1], [1, 0]])
        assert counted.result() == 100
    with pytest.raises(ArgumentError, match="no elements"):
        m.LossMetric().update(np.zeros(0, dtype=np.float32))
    with pytest.raises(ArgumentError, match="no labels"):
        m.HammingScore().update(none, none.astype(np.int32))
    for build in (m.BleuScore, m.RougeLScore):
        with pytest.raises(ArgumentError, match="no rows"):
            build().update(none.astype(np.int32), none.astype(np.int32))
    with pytest.raises(ArgumentError, match="no classes"):
        m.PrecisionMetric().update(none.T, none.T.astype(bool))
    empty = np.zeros((0, 1, 4, 4), dtype=np.float32)
    with pytest.raises(ArgumentError, match="empty"):
        m.PsnrMetric(m.PsnrMetricConfig(1.0)).update(empty, empty)


def test_update_wants_an_input_or_outputs_and_targets() -> None:
    with pytest.raises(TypeError, match="AccuracyInput, or outputs and targets, got Tensor"):
        m.AccuracyMetric().update(Tensor(TWO_BY_TWO))
    with pytest.raises(TypeError, match="AccuracyInput, or outputs and targets, got LossInput"):
        m.AccuracyMetric().update(m.LossInput(Tensor([1.0])), m.MetricMetadata())  # type: ignore[arg-type]


IMAGES = [
    m.PsnrMetric(m.PsnrMetricConfig(1.0)),
    m.SsimMetric(m.SsimMetricConfig(1.0, kernel_size=3)),
    m.MsSsimMetric(m.MsSsimMetricConfig(1.0, kernel_size=3, channels=1, betas=[1.0])),
]


@pytest.mark.parametrize("metric", IMAGES, ids=lambda metric: metric.name())
def test_images_of_other_shapes_and_kinds_are_refused(metric: Any) -> None:
    image = np.zeros((1, 1, 4, 4), dtype=np.float32)
    with pytest.raises(ShapeError, match="of one shape"):
        metric.update(image, image[..., :3])
    with pytest.raises(ShapeError, match="channels, height, width"):
        metric.update(image[0], image[0])
    with pytest.raises(DTypeError, match="kind float"):
        metric.update(image.astype(np.int32), image.astype(np.int32))


def test_masks_of_other_shapes_and_kinds_are_refused() -> None:
    masks = np.ones((1, 1, 2, 2), dtype=np.int32)
    with pytest.raises(ShapeError, match="three dimensions"):
        m.DiceMetric().update(masks[0, 0], masks[0, 0])
    with pytest.raises(ShapeError, match="of one shape"):
        m.DiceMetric().update(masks, np.ones((1, 1, 2, 3), dtype=np.int32))
    with pytest.raises(ShapeError, match="have 4 dimensions, not 3"):
        m.DiceMetric(ndim=3).update(masks, masks)
    with pytest.raises(ShapeError, match="two classes, got 1"):
        m.DiceMetric(m.DiceMetricConfig(include_background=True)).update(masks, masks)
    with pytest.raises(DTypeError, match="kind int"):
        m.DiceMetric().update(masks.astype(np.float32), masks)
    with pytest.raises(ConfigError, match="ndim must be at least 3, got 2"):
        m.DiceMetric(ndim=2)


def ssim(**values: Any) -> m.SsimMetricConfig:
    return m.SsimMetricConfig(**{"pixel_range": 1.0, **values})


def ms_ssim(**values: Any) -> m.MsSsimMetricConfig:
    return m.MsSsimMetricConfig(**{"pixel_range": 1.0, **values})


REFUSED: list[tuple[Any, str]] = [
    *[(lambda c=c, n=n, v=v: c(**{n: v}), n) for c in (ssim, ms_ssim) for n in ("pixel_range", "k1", "k2", "sigma")
      for v in (0.0, -1.0, math.nan, math.inf)],
    *[(lambda c=c, v=v: c(kernel_size=v), "kernel_size") for c in (ssim, ms_ssim) for v in (0, 2, -3)],
    *[(lambda v=v: ms_ssim(betas=v), "betas") for v in ([], [0.0, 0.0], [-0.1, 1.0], [math.nan], [math.inf])],
    (lambda: ms_ssim(channels=0), "channels"),
    (lambda: ssim().with_k1_k2(0.0, 1.0), "k1"),
    (lambda: ms_ssim().with_betas([]), "betas"),
    (lambda: m.PsnrMetricConfig(0.0), "max_pixel_val"),
    (lambda: m.PsnrMetricConfig(1.0, epsilon=0.0), "epsilon"),
    (lambda: m.PsnrMetricConfig(math.nan), "max_pixel_val"),
    (lambda: m.BleuScore(0), "max_n"),
    (lambda: m.DecisionRule.TopK(0), "k"),
    (lambda: m.FBetaScoreMetric(beta=-1.0), "beta"),
    (lambda: m.FBetaScoreMetric(beta=math.nan), "beta"),
    (lambda: m.LossMetric(weight_by="rows"), "weight_by"),  # type: ignore[arg-type]
]  # fmt: skip


@pytest.mark.parametrize(("build", "name"), REFUSED, ids=range(len(REFUSED)))
def test_a_parameter_that_cannot_be_is_refused_by_name(build: Any, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"\b{name} must"):
        build()


@pytest.mark.parametrize(
    ("scores", "targets", "message"),
    [
        (np.zeros((0, 2), np.float32), np.zeros((0, 2), bool), "empty"),
        ([[math.nan, 0.5]], [[0, 1]], "finite"),
        ([[0.5, 0.5]], [[1, 1]], "exactly one class"),
        ([[0.5]], [[1]], "two classes at least, got 1"),
    ],
)
def test_what_a_correlation_of_classes_refuses(scores: Any, targets: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        m.MatthewsCorrelationCoefficientMetric.multiclass().update(scores, targets)


def test_what_a_correlation_of_one_column_refuses() -> None:
    with pytest.raises(ConfigError, match=r"threshold must be from 0 to 1, got 1\.5"):
        m.MatthewsCorrelationCoefficientMetric.binary(1.5)
    with pytest.raises(ArgumentError, match="takes one column, got 2"):
        m.MatthewsCorrelationCoefficientMetric.binary().update(TWO_BY_TWO, [[0, 1], [1, 0]])
