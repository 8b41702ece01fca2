"""Cases of the golden folders `metrics` and `metrics-vision`: what Burn's metrics said, batch by batch."""

import functools
import json
import math
import re
from typing import Any

import numpy as np

from burnpy import Tensor
from burnpy.train import metric as m
from tests.paths import GOLDEN

Json = dict[str, Any]


@functools.cache
def manifest(folder: str) -> Json:
    with open(GOLDEN / "burn" / folder / "manifest.json") as file:
        content: Json = json.load(file)
    return content


def cases(folder: str) -> list[Json]:
    found: list[Json] = manifest(folder)["cases"]
    return found


def build(constructor: str) -> m.Metric:
    """The metric of a constructor as the manifest writes it."""
    text = constructor.removesuffix(" on one class")
    if text == "DiceMetric(dimensions=3, epsilon=0.5)":
        return m.DiceMetric(m.DiceMetricConfig(epsilon=0.5), ndim=3)
    text = text.replace("dimensions=", "ndim=").replace("true", "True")
    text = re.sub(r"\b(Macro|Micro)\b", r"ClassReduction.\1", text)
    text = re.sub(r"AddEpsilon\(", "BleuSmoothing.AddEpsilon(", text).replace(
        "(Exponential)", "(BleuSmoothing.Exponential())"
    )
    built: m.Metric = eval(text, dict(vars(m)))
    return built


def fed(metric: m.Metric, given: Json) -> m.SerializedEntry:
    """Update with a batch of the manifest."""
    if "lr" in given:
        return metric.update(None, m.MetricMetadata(lr=given["lr"]))
    if "loss" in given:
        return metric.update(_array(given["loss"], "f4"))
    first, second = given.get("outputs", given.get("predictions")), given["targets"]
    shape = given.get("shape")
    kind: str | type = "f4" if isinstance(metric, m.PsnrMetric | m.SsimMetric | m.MsSsimMetric) else "i4"
    if "predictions" in given:
        return metric.update(_array(first, "f4"), _array(second, bool))
    if isinstance(metric, m.DiceMetric | m.PsnrMetric | m.SsimMetric | m.MsSsimMetric):
        return metric.update(_array(first, kind, shape), _array(second, kind, shape))
    tokens = isinstance(metric, m.CharErrorRate | m.WordErrorRate | m.BleuScore | m.RougeLScore)
    return metric.update(_array(first, "i4" if tokens else "f4"), _array(second, "i4"))


def number(value: float | str) -> float:
    return float(value)


def same(found: float, expected: float | str, rel: float) -> bool:
    wanted = number(expected)
    if math.isnan(wanted):
        return math.isnan(found)
    return math.isclose(found, wanted, rel_tol=rel, abs_tol=rel)


def same_text(found: str, expected: str, rel: float, digits: float = 0.0) -> bool:
    """Whether two texts differ in nothing but the last digits of their numbers."""
    pattern = r"-?(?:\d+\.?\d*(?:e-?\d+)?|NaN|inf)"
    if re.sub(pattern, "#", found) != re.sub(pattern, "#", expected):
        return False
    pairs = zip(re.findall(pattern, found), re.findall(pattern, expected), strict=True)
    return all(a == b or abs(float(a) - float(b)) <= rel * abs(float(b)) + digits for a, b in pairs)


def _array(values: Any, dtype: Any, shape: list[int] | None = None) -> Tensor:
    array = np.asarray(values, dtype=dtype)
    return Tensor.from_numpy(array if shape is None else array.reshape(shape))
