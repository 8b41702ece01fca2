"""Groups of parameters."""

import json
import pickle

import pytest

from burnpy.errors import ParamGroupError
from burnpy.module.group import ParamGroup
from burnpy.module.param_id import ParamId

ONE, TWO = ParamId(1), ParamId(2)


@pytest.mark.parametrize(
    ("group", "path", "expected"),
    [
        (ParamGroup.from_path("model.backbone.weight"), "model.backbone.weight", True),
        (ParamGroup.from_path("model.backbone.weight"), "model.backbone.bias", False),
        (ParamGroup.from_path("model.backbone.weight"), None, False),
        (ParamGroup.from_paths([]), "a", False),
        (ParamGroup.from_predicate("backbone"), "model.backbone.weight", True),
        (ParamGroup.from_predicate("backbone"), "model.other.weight", False),
        (ParamGroup.from_predicates(["a", "b"]), "a.b", True),
        (ParamGroup.from_predicates(["a", "b"]), "a.c", False),
        (ParamGroup.from_predicates([]), "a", True),
        (ParamGroup.from_predicates([]), None, False),
        (ParamGroup.from_any_predicates(["backbone", "encoder"]), "model.encoder.weight", True),
        (ParamGroup.from_any_predicates(["backbone", "encoder"]), "model.decoder.weight", False),
        (ParamGroup.from_any_predicates([]), "a", True),
        (ParamGroup.from_regex(r"^model\.layer\.[0-9]+\.weight$"), "model.layer.3.weight", True),
        (ParamGroup.from_regex(r"^model\.layer\.[0-9]+\.weight$"), "model.layer.weight", False),
        (ParamGroup.from_regexes(["a", "^b"]), "ba", True),
        (ParamGroup.from_regexes(["a", "^b"]), "ab", False),
        (ParamGroup.from_any_regexes(["a$", r"^model\.bias$"]), "model.bias", True),
        (ParamGroup.from_any_regexes([]), "a", True),
        (ParamGroup.all(), None, True),
        (ParamGroup.from_ids([ONE]), None, True),
        (ParamGroup.from_ids([TWO]), "a", False),
        (ParamGroup.from_ids([TWO]).fuse(ParamGroup.from_path("a")), "a", True),
        (ParamGroup.from_ids([TWO]).fuse(ParamGroup.all()), None, True),
        (
            ParamGroup.from_predicate("backbone").exclude(ParamGroup.from_path("backbone.bias")),
            "backbone.bias",
            False,
        ),
    ],
)
def test_a_group_matches_by_id_and_path(group: ParamGroup, path: str | None, expected: bool) -> None:
    assert group.matches(ONE, path) is expected


def test_the_exclusions_of_an_excluded_group_do_not_count() -> None:
    weight, bias = ParamGroup.from_path("w"), ParamGroup.from_path("b")
    assert weight.exclude(bias.exclude(weight)).matches(ONE, "w")


def test_a_fusion_keeps_the_exclusions_of_its_parts() -> None:
    group = ParamGroup.from_predicate("a").exclude(ParamGroup.from_path("ab")).fuse(ParamGroup.from_path("c"))
    assert group.matches(ONE, "a") and group.matches(ONE, "c") and not group.matches(ONE, "ab")


@pytest.mark.parametrize("make", [ParamGroup.from_regex, lambda p: ParamGroup.from_regexes([p])])
def test_an_invalid_pattern_is_told_with_the_place(make: object) -> None:
    with pytest.raises(ParamGroupError, match=r"\[invalid\("):
        make("[invalid(")  # type: ignore[operator]


def test_a_single_text_where_several_are_wanted_is_refused() -> None:
    with pytest.raises(TypeError, match="'abc'"):
        ParamGroup.from_paths("abc")


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        (ParamGroup.all(), {"matcher": "All", "excludes": None}),
        (ParamGroup.from_ids([ONE]), {"matcher": {"Explicit": [{"value": 1}]}, "excludes": None}),
        (
            ParamGroup.from_any_predicates(["a", "b"]).exclude(ParamGroup.from_path("c")),
            {
                "matcher": {"Combined": [{"Path": {"Include": ["b"]}}, {"Path": {"Include": ["a"]}}]},
                "excludes": {"Path": {"Exact": ["c"]}},
            },
        ),
        (ParamGroup.from_any_regexes([]), {"matcher": {"Path": {"Include": []}}, "excludes": None}),
        (ParamGroup.from_regex("x"), {"matcher": {"Path": {"Regex": ["x"]}}, "excludes": None}),
    ],
)
def test_the_json_is_burns_and_leads_back(group: ParamGroup, expected: object) -> None:
    assert json.loads(group.to_json()) == expected
    assert ParamGroup.from_json_value(json.loads(group.to_json())) == group
    assert pickle.loads(pickle.dumps(group)) == group


@pytest.mark.parametrize("value", [None, {}, {"matcher": "Some"}, {"matcher": {"Path": {"Glob": []}}}])
def test_json_of_no_group_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match="is no"):
        ParamGroup.from_json_value(value)
