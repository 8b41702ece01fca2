"""The result of an application: what it counts, how it reads, what it suggests."""

import pickle
from typing import Any

import pytest

from burnpy._core import closest, jaro
from burnpy.errors import BurnpyError
from burnpy.store import AdapterError, ApplyError, ApplyResult, DTypeMismatch, LoadError, ShapeMismatch
from burnpy.store.apply import suggestion

# ---- similarity


@pytest.mark.parametrize(
    ("text", "other", "value"),
    [
        ("dixon", "dicksonx", 0.76667),
        ("dwayne", "duane", 0.82222),
        ("encoder.norm.gamma", "encoder.norm.weight", 0.83821),
        ("fc.1.weight", "fc.2.weight", 0.93939),
        ("do_not_exist_in_pt.weight", "conv1.weight", 0.47222),
        ("", "", 1.0),
        ("", "a", 0.0),
        ("a", "", 0.0),
        ("a", "a", 1.0),
        ("a", "b", 0.0),
        ("ab", "ba", 0.0),
        ("ab", "ab", 1.0),
        ("abc", "xyz", 0.0),
        ("a", "ab", 0.83333),
        ("Grüße", "Grüsse", 0.82222),
    ],
)
def test_similarity_has_burn_s_values(text: str, other: str, value: float) -> None:
    assert jaro(text, other) == pytest.approx(value, abs=5e-6)


def _jaro_as_written_down(s: str, t: str) -> float:
    """The rule letter by letter, as slow as it reads."""
    if not s or not t or len(s) == len(t) == 1:
        return float(s == t)
    w = max(len(s), len(t)) // 2 - 1
    used: set[int] = set()
    m = tau = 0
    previous = -1
    for i, letter in enumerate(s):
        for j in range(max(0, i - w), min(len(t), i + w + 1)):
            if j not in used and t[j] == letter:
                used.add(j)
                m += 1
                tau += j < previous
                previous = j
                break
    return (m / len(s) + m / len(t) + (m - tau) / m) / 3 if m else 0.0


@pytest.mark.parametrize("text", ["a", "layers.0.attention.query.weight", "abcabcabc", "ééaa", "norm.beta"])
@pytest.mark.parametrize(
    "other", ["b", "a", "layers.10.attn.q_proj.weight", "cbacba", "aaéé", "norm.bias" * 9]
)
def test_similarity_is_what_the_rule_says_letter_by_letter(text: str, other: str) -> None:
    assert jaro(text, other) == pytest.approx(_jaro_as_written_down(text, other), abs=1e-12)


def test_the_closest_is_the_first_of_the_best_if_it_is_close_enough() -> None:
    assert closest("fc.1.weight", ["fc.3.weight", "fc.2.weight"]) == "fc.3.weight"
    assert closest("do_not_exist_in_pt.weight", ["conv1.weight"]) is None
    assert closest("anything", []) is None


@pytest.mark.parametrize(
    ("path", "unused", "meant"),
    [
        ("feature.BaseConv.weight", ["classifier.weight", "feature.weight"], "feature.weight"),
        ("a.Norm.Deep.w", ["a.Deep.w", "a.Norm.w"], "a.Deep.w"),
        # the stripped path is not there: the nearest name
        ("encoder.Norm.weight", ["encoder.norm.weight", "x"], "encoder.norm.weight"),
        # first and last parts, single letters and capitals alone are no variants
        ("Base.weight", ["weight"], None),
        ("feature.Weight", ["feature"], "feature"),
        ("aaaa.B.cccc", ["aaaa.cccc"], "aaaa.cccc"),
        ("encoder.norm.gamma", ["encoder.norm.weight", "decoder.norm.weight"], "encoder.norm.weight"),
        # of equals the first in sorted order, whatever the order they come in
        ("fc.1.weight", ["fc.3.weight", "fc.2.weight"], "fc.2.weight"),
        ("do_not_exist_in_pt.weight", ["conv1.weight"], None),
        ("w", [], None),
        ("", ["w"], None),
    ],
)
def test_a_missing_path_suggests_an_unused_name(path: str, unused: list[str], meant: str | None) -> None:
    assert suggestion(path, unused) == meant


# ---- errors

ERRORS: list[tuple[ApplyError, str, str]] = [
    (
        ShapeMismatch("fc.weight", expected=[2, 3], found=(3, 2)),
        "ShapeMismatch",
        "fc.weight: shape is [3, 2], the module has [2, 3]",
    ),
    (
        DTypeMismatch("steps", expected="i64", found="f32"),
        "DTypeMismatch",
        "steps: dtype is f32, the module has i64",
    ),
    (AdapterError("w", ValueError("no")), "AdapterError", "w: the adapter failed: no"),
    (LoadError("w", "the file ends"), "LoadError", "w: cannot be read: the file ends"),
]


@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
def test_an_error_has_burn_s_kind_the_path_and_the_numbers(error: ApplyError, kind: str, text: str) -> None:
    assert (error.kind, error.path, str(error)) == (kind, text.split(":")[0], text)
    assert isinstance(error, ApplyError) and isinstance(error, BurnpyError)


@pytest.mark.parametrize(("error", "kind", "text"), ERRORS)
def test_an_error_is_pickled_with_its_fields(error: ApplyError, kind: str, text: str) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and (again.kind, str(again)) == (kind, text)
    assert {name: str(value) for name, value in vars(again).items()} == {
        name: str(value) for name, value in vars(error).items()
    }


def test_the_fields_of_a_mismatch_are_at_hand() -> None:
    shape = ShapeMismatch("w", expected=[2], found=[3])
    dtype = DTypeMismatch("w", expected="f32", found="i8")
    assert (shape.expected, shape.found, dtype.expected, dtype.found) == ((2,), (3,), "f32", "i8")


# ---- the result


def test_missing_tensors_are_no_failure_and_errors_are() -> None:
    assert ApplyResult().is_success()
    assert ApplyResult(missing=[("w", "")], unused=["x"], skipped=["y"]).is_success()
    assert not ApplyResult(errors=[LoadError("w", "gone")]).is_success()


def test_a_plain_success_is_five_counters_in_a_frame() -> None:
    result = ApplyResult(applied=["a", "b"], skipped=["c"])
    lines = str(result).splitlines()
    assert [line.split()[1:3] for line in lines[1:-1]] == [
        ["applied", "2"], ["skipped", "1"], ["missing", "0"], ["unused", "0"], ["errors", "0"],
    ]  # fmt: skip
    assert lines[0] == lines[-1] and {len(line) for line in lines} == {24}
    assert repr(result) == str(result)


def test_sections_follow_in_order_and_only_where_there_is_something() -> None:
    result = ApplyResult(
        missing=[("fc.1.weight", "Struct:Model.Struct:Linear"), ("other", "")],
        unused=["fc.2.weight"],
        errors=[ShapeMismatch("w", expected=(1,), found=(2,))],
        renamed=[("norm.gamma", "norm.weight")],
        cast=[("w", "f32", "bf16")],
    )
    assert str(result).split("+\n", 2)[2].splitlines() == [
        "",
        "missing (2):",
        "  fc.1.weight (Struct:Model.Struct:Linear)",
        "    did you mean 'fc.2.weight'?",
        "  other",
        "",
        "unused (1):",
        "  fc.2.weight",
        "",
        "errors (1):",
        "  w: shape is [2], the module has [1]",
        "",
        "renamed (1):",
        "  norm.weight -> norm.gamma",
        "",
        "cast (1):",
        "  w: f32 -> bf16",
    ]


@pytest.mark.parametrize(
    "listed",
    [
        {"missing": [(f"m{place:02}", "") for place in range(13)]},
        {"unused": [f"m{place:02}" for place in range(13)]},
        {"errors": [LoadError(f"m{place:02}", "x") for place in range(13)]},
        {"renamed": [(f"n{place:02}", f"m{place:02}") for place in range(13)]},
        {"cast": [(f"m{place:02}", "f32", "f16") for place in range(13)]},
    ],
    ids=lambda listed: next(iter(listed)),
)
def test_a_section_lists_ten_and_counts_the_rest(listed: dict[str, Any]) -> None:
    text = str(ApplyResult(**listed))
    assert sum(f"m{place:02}" in text for place in range(13)) == 10
    assert text.endswith("\n  ... and 3 more") and "(13):" in text
    name, values = next(iter(listed.items()))
    assert "more" not in str(ApplyResult(**{name: values[:10]}))


def test_a_missing_path_below_an_enum_brings_a_hint_with_both_remedies() -> None:
    result = ApplyResult(
        missing=[
            ("apex", "Struct:M.Struct:Linear"),
            ("feature.BaseConv.bias", "Struct:M.Enum:ConvBlock.Struct:Linear"),
            ("feature.BaseConv.weight", "Struct:M.Enum:ConvBlock.Struct:Linear"),
        ],
        unused=["feature.bias", "feature.weight"],
    )
    lines = str(result).split("missing (3):\n")[1].splitlines()
    assert lines[0].startswith("  2 of these lie below an enum variant")
    assert "skip_enum_variants(True)" in lines[1] and "with_key_remapping" in lines[1]
    assert lines[2:5] == [
        "  apex (Struct:M.Struct:Linear)",
        "  feature.BaseConv.bias (Struct:M.Enum:ConvBlock.Struct:Linear)",
        "    did you mean 'feature.bias'?",
    ]
    assert "enum variant" not in str(ApplyResult(missing=[("a", "Struct:M")]))


def test_the_enum_hint_counts_also_what_is_not_shown() -> None:
    missing = [(f"w{place}", "Struct:M") for place in range(10)] + [("x.A.w", "Enum:E")]
    assert "1 of these lie below an enum variant" in str(ApplyResult(missing=missing))
