"""`PathFilter`: any criterion accepts, none means nothing."""

from collections.abc import Callable
from typing import Any

import pytest

from burnpy.store import PathFilter

BLOCKS = [
    f"backbone.{half}.{block}.{layer}.{param}"
    for half in ("encoder", "decoder")
    for block in ("block1", "block2")
    for layer in ("conv", "norm")
    for param in ("weight", "bias")
] + ["head.weight", "head.bias"]


@pytest.mark.parametrize(
    ("patterns", "accepted", "rejected"),
    [
        (
            [r"^encoder\..*", r".*\.weight$"],
            ["encoder.layer1.bias", "decoder.weight", "encoder.weight"],
            ["decoder.bias"],
        ),
        ([r"(^|.*\.)layers\.0\."], ["model.layers.0.weight", "layers.0.bias"], ["model.layers.10.weight"]),
        (["norm"], ["a.norm.b", "norm"], ["a.Norm.b", ""]),
        ([""], ["anything", ""], []),
    ],
)
def test_a_regex_is_found_anywhere(patterns: list[str], accepted: list[str], rejected: list[str]) -> None:
    found = PathFilter.from_regex_patterns(patterns)
    assert [path for path in accepted + rejected if found.matches(path)] == accepted


@pytest.mark.parametrize(
    ("pattern", "count"), [(r"^backbone\.encoder\..*", 8), (r".*\.block1\..*", 8), (r".*\.weight$", 9)]
)
def test_a_pattern_keeps_its_part_of_a_deep_model(pattern: str, count: int) -> None:
    found = PathFilter().with_regex(pattern)
    assert sum(found.matches(path) for path in BLOCKS) == count and len(BLOCKS) == 18


def test_criteria_are_joined_by_or() -> None:
    found = PathFilter().with_regex("^a").with_full_path("b.w").with_predicate(lambda path, _: path == "c")
    assert [found.matches(path) for path in ("a.x", "b.w", "c", "b.w.x", "d")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert found.criteria_count() == 3 and not found.is_empty()


@pytest.mark.parametrize("empty", [PathFilter(), PathFilter.none(), PathFilter.from_paths([])])
def test_without_criteria_nothing_is_accepted(empty: PathFilter) -> None:
    assert empty.is_empty() and empty.criteria_count() == 0
    assert not empty.matches("") and not empty.matches("w")


@pytest.mark.parametrize(
    "everything", [PathFilter.all(), PathFilter().match_all(), PathFilter(match_all=True, regexes=["^x"])]
)
def test_match_all_accepts_everything_and_counts_as_one(everything: PathFilter) -> None:
    assert everything.matches("anything") and everything.matches("")
    assert not everything.is_empty() and everything.criteria_count() == 1


def test_a_predicate_is_told_path_and_container_path() -> None:
    seen = []
    found = PathFilter.from_predicate(lambda path, container: bool(seen.append((path, container))))
    found.matches("w")
    found.matches_with_container("w", "Struct:A")
    found.matches_with_container_path_str("w", "Struct:B")
    found.matches_with_container_path(["fc", "w"], ["Struct:A", "Struct:Linear"])
    assert seen == [("w", ""), ("w", "Struct:A"), ("w", "Struct:B"), ("fc.w", "Struct:A.Struct:Linear")]


def test_a_predicate_on_the_last_container_keeps_what_linears_own() -> None:
    linear = PathFilter.from_predicate(lambda _, container: container.split(".")[-1] == "Struct:Linear")
    assert linear.matches_with_container("fc.weight", "Struct:Model.Struct:Linear")
    assert not linear.matches_with_container("norm.gamma", "Struct:Model.Struct:LayerNorm")
    assert not linear.matches("fc.weight")


def test_keywords_and_methods_make_the_same_filter() -> None:
    def predicate(path: str, container_path: str) -> bool:
        return path == container_path

    by_keywords = PathFilter(regexes=["a", "b"], full_paths=["c", "d"], predicates=[predicate])
    by_methods = (
        PathFilter().with_regexes(["a", "b"]).with_full_paths(["c", "d"]).with_predicates([predicate])
    )
    assert str(by_keywords) == str(by_methods) == "PathFilter[regex: [a, b], paths: [c, d], predicates: 1]"
    assert by_keywords.criteria_count() == by_methods.criteria_count() == 5


def test_clearing_takes_one_kind_or_all() -> None:
    found = PathFilter(regexes=["a"], full_paths=["b"], predicates=[lambda _path, _container: False])
    found.clear_regex()
    assert str(found) == "PathFilter[paths: [b], predicates: 1]" and not found.matches("a")
    found.clear_paths()
    assert str(found) == "PathFilter[predicates: 1]" and not found.matches("b")
    found.clear_predicates()
    assert found.is_empty()
    everything = PathFilter.all()
    everything.clear()
    assert str(everything) == "PathFilter::none()" and not everything.matches("a")


@pytest.mark.parametrize("union", [PathFilter.or_, lambda a, b: a | b])
def test_a_union_accepts_what_either_accepts_and_changes_neither(
    union: Callable[[PathFilter, PathFilter], PathFilter],
) -> None:
    left, right = PathFilter(regexes=["^a"]), PathFilter(full_paths=["b"], predicates=[lambda p, _: p == "c"])
    both = union(left, right)
    assert [both.matches(path) for path in ("a", "b", "c", "d")] == [True, True, True, False]
    assert (left.criteria_count(), right.criteria_count(), both.criteria_count()) == (1, 2, 3)
    both.with_full_path("d")
    assert not left.matches("d") and not right.matches("d")


def test_a_union_with_everything_is_everything() -> None:
    for union in (PathFilter.all() | PathFilter(regexes=["a"]), PathFilter() | PathFilter.all()):
        assert str(union) == "PathFilter::all()"


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (PathFilter.all(), "PathFilter::all()"),
        (PathFilter.none(), "PathFilter::none()"),
        (PathFilter(regexes=["^a"]), "PathFilter[regex: [^a]]"),
        (PathFilter(full_paths=["a", "b"]), "PathFilter[paths: [a, b]]"),
    ],
)
def test_the_text_form_has_only_what_is_there(found: PathFilter, text: str) -> None:
    assert str(found) == repr(found) == text


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("a(b", r"a\(b.*character 1: unclosed group"),
        ("é[", r"é\[.*character 1: unclosed character class"),
        (r"(?=a)", "look-around"),
        (r"(a)\1", "character 3: backreferences are not supported"),
        ("(?:a{1000}){1000}", "size limit"),
        (r"\p{Nope}", "character 0: unicode property not found"),
    ],
)
def test_an_invalid_regex_is_told_with_its_place(pattern: str, words: str) -> None:
    for make in (PathFilter().with_regex, lambda one: PathFilter(regexes=["a", one])):
        with pytest.raises(ValueError, match=words):
            make(pattern)


def test_one_invalid_regex_adds_none() -> None:
    found = PathFilter()
    with pytest.raises(ValueError, match="unclosed"):
        found.with_regexes(["fine", "("])
    assert found.is_empty()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PathFilter(regexes="abc"), "regexes must be several texts, got the single text 'abc'"),
        (lambda: PathFilter(full_paths="abc"), "full_paths must be several"),
        (lambda: PathFilter().matches_with_container_path("a.b", []), "path must be several"),
        (lambda: PathFilter().with_full_path(3), "must be a text, got int"),
        (lambda: PathFilter().with_predicate("x"), "must be callable, got str"),
        (lambda: PathFilter().with_regex(None), "not an instance of 'str'"),
        (lambda: PathFilter() | "x", "unsupported operand"),
    ],
)
def test_arguments_of_the_wrong_type_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        make()


def test_matching_takes_time_linear_in_the_path() -> None:
    # A backtracking engine needs 2 to the power of 40 steps here.
    assert not PathFilter(regexes=["^(a+)+$"]).matches("a" * 40 + "b")
