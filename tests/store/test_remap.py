"""New names: `KeyRemapper`, and the closing of gaps in numbers."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from burnpy import _core
from burnpy.store import (
    KeyRemapper,
    NameCollision,
    TensorSnapshot,
    contiguous_names,
    map_indices_contiguous,
    map_indices_contiguous_except,
)


def _tensors(*names: str) -> list[TensorSnapshot]:
    return [
        TensorSnapshot.from_array(name, np.full(2, place, np.float32)) for place, name in enumerate(names)
    ]


# ---- patterns


@pytest.mark.parametrize(
    ("pattern", "replacement", "name", "new"),
    [
        (r"^fc1\.", "linear1.", "fc1.weight", "linear1.weight"),
        (r"conv(\d)", "layers.$1", "a.conv3.w", "a.layers.3.w"),
        (r"conv(\d)", "layers.${1}_x", "conv3", "layers.3_x"),
        (r"conv(\d)", "layers.$1_x", "conv3", "layers."),
        (r"(?P<kind>conv|fc)", "my_$kind.", "fc.w", "my_fc..w"),
        (r"(?<kind>conv|fc)", "${kind}2", "conv.w", "conv2.w"),
        (r"a", "$$1", "a", "$1"),
        (r"(a)|(b)", "[$2]", "ab", "[][b]"),
        (r"a", "b", "a.a.aa", "b.b.bb"),
        (r"a", "$7", "xax", "xx"),
        (r"^nothing$", "x", "something", "something"),
        (r"\bé\b", "e", "é.w", "e.w"),
        (r"", "-", "ab", "-a-b-"),
    ],
)
def test_every_match_is_replaced(pattern: str, replacement: str, name: str, new: str) -> None:
    assert KeyRemapper().add_pattern(pattern, replacement).remap_names([name]) == [(new, name)]


def test_a_pattern_works_on_what_the_one_before_it_left() -> None:
    remapper = KeyRemapper([("^a", "b"), ("^b", "c"), ("^a", "never")])
    assert remapper.remap_names(["a.w", "x"]) == [("c.w", "a.w"), ("x", "x")]


def test_tensors_keep_their_order_and_elements_under_new_names() -> None:
    tensors, pairs = KeyRemapper([(r"^fc(\d)\.", "net.$1.")]).remap(_tensors("fc1.w", "norm", "fc2.w"))
    assert [tensor.name for tensor in tensors] == ["net.1.w", "norm", "net.2.w"]
    assert pairs == [("net.1.w", "fc1.w"), ("norm", "norm"), ("net.2.w", "fc2.w")]
    assert [tensor.to_numpy()[0] for tensor in tensors] == [0.0, 1.0, 2.0]


def test_every_way_to_make_a_remapper_makes_the_same() -> None:
    patterns = [("a", "b"), ("c", "$0")]
    made = [
        KeyRemapper(patterns),
        KeyRemapper.from_patterns(patterns),
        KeyRemapper.from_pattern_iter(iter(patterns)),
        KeyRemapper().add_pattern("a", "b").add_pattern("c", "$0"),
    ]
    made += [KeyRemapper.from_compiled_patterns(remapper.to_regex_pairs()) for remapper in made]
    assert {repr(remapper) for remapper in made} == {"KeyRemapper([('a', 'b'), ('c', '$0')])"}
    assert KeyRemapper().is_empty() and not made[0].is_empty()
    assert made[0].to_regex_pairs() == [(_core.Regex("a"), "b"), (_core.Regex("c"), "$0")]


@pytest.mark.parametrize("names", [["a.w", "b.w"], ["b.w", "a.w"], ["c", "a.w", "b.w"]])
def test_two_tensors_of_one_new_name_are_an_error_that_names_both(names: list[str]) -> None:
    with pytest.raises(NameCollision) as raised:
        KeyRemapper([("^a", "b")]).remap(_tensors(*names))
    error = raised.value
    assert error.name == "b.w" and set(error.sources) == {"a.w", "b.w"}
    assert all(repr(name) in str(error) for name in ("a.w", "b.w"))
    again = pickle.loads(pickle.dumps(error))
    assert (again.name, again.sources, str(again)) == (error.name, error.sources, str(error))


def test_two_tensors_of_one_name_from_the_start_are_an_error_too() -> None:
    with pytest.raises(NameCollision, match="'w' and 'w' would both be named 'w'"):
        KeyRemapper().remap(_tensors("w", "w"))


def test_names_may_be_swapped_by_way_of_a_third() -> None:
    remapper = KeyRemapper([("^a$", "tmp"), ("^b$", "a"), ("^tmp$", "b")])
    assert remapper.remap_names(["a", "b"]) == [("b", "a"), ("a", "b")]


@pytest.mark.parametrize(
    ("replacement", "hint"),
    [(r"x.\1", "${1}"), (r"\12", "${12}"), (r"\g<name>.w", "${name}"), (r"\g<0>", "${0}")],
)
def test_a_group_as_python_writes_it_is_refused_with_a_hint(replacement: str, hint: str) -> None:
    with pytest.raises(ValueError) as raised:
        KeyRemapper().add_pattern("(a)", replacement)
    assert f"write {hint}" in str(raised.value)
    with pytest.raises(ValueError, match="write"):
        KeyRemapper.from_compiled_patterns([(_core.Regex("(a)"), replacement)])


def test_an_invalid_regex_is_told_with_its_place_and_adds_nothing() -> None:
    remapper = KeyRemapper()
    with pytest.raises(ValueError, match=r"'?\"a\(b\" is wrong at character 1: unclosed group"):
        remapper.add_pattern("a(b", "x")
    assert remapper.is_empty()


@pytest.mark.parametrize(
    "make",
    [
        lambda: KeyRemapper([("a",)]),
        lambda: KeyRemapper(["ab", "cde"]),
        lambda: KeyRemapper().add_pattern("a", None),
        lambda: KeyRemapper().add_pattern(3, "a"),
        lambda: KeyRemapper([("a", "b")]).remap_names([3]),
        lambda: KeyRemapper([("a", "b")]).remap(["name"]),
    ],
)
def test_arguments_of_the_wrong_type_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError, AttributeError)):
        make()


def test_a_regex_can_be_pickled_compared_and_shown() -> None:
    regex = _core.Regex(r"^a\.")
    assert pickle.loads(pickle.dumps(regex)) == regex and hash(regex) == hash(_core.Regex(r"^a\."))
    assert regex != _core.Regex("a") and regex != r"^a\."
    assert repr(regex) == r"Regex('^a\\.')" and regex.pattern == r"^a\."


# ---- numbers

CONTIGUOUS = [
    (["fc.0.weight", "fc.2.weight", "fc.4.weight"], ["fc.0.weight", "fc.1.weight", "fc.2.weight"]),
    (
        ["encoder.0.w", "encoder.2.w", "decoder.1.w", "decoder.5.w"],
        ["encoder.0.w", "encoder.1.w", "decoder.0.w", "decoder.1.w"],
    ),
    (
        [f"feature.layers.{outer}.conv_block.{inner}.weight" for outer in (0, 2) for inner in (0, 2)],
        [f"feature.layers.{outer}.conv_block.{inner}.weight" for outer in (0, 1) for inner in (0, 1)],
    ),
    (
        ["a.0.b.0.c.0.weight", "a.0.b.0.c.2.weight", "a.0.b.2.c.0.weight", "a.2.b.0.c.0.weight"],
        ["a.0.b.0.c.0.weight", "a.0.b.0.c.1.weight", "a.0.b.1.c.0.weight", "a.1.b.0.c.0.weight"],
    ),
    (["conv.weight", "fc.bias"], ["conv.weight", "fc.bias"]),
    (["fc.0.w", "fc.1.w", "fc.2.w"], ["fc.0.w", "fc.1.w", "fc.2.w"]),
    ([], []),
    (["fc.10.w", "fc.9.w"], ["fc.1.w", "fc.0.w"]),
    (["3.weight", "1.weight"], ["1.weight", "0.weight"]),
    (["fc.007.w", "fc.9.w"], ["fc.0.w", "fc.1.w"]),
    ([f"fc.{2**64 - 1}.w", f"fc.{2**64}.w"], ["fc.0.w", f"fc.{2**64}.w"]),
    (["fc.-1.w", "fc.²3.w", "fc.1a.w", "fc.٣.w"], ["fc.-1.w", "fc.²3.w", "fc.1a.w", "fc.٣.w"]),
    ([f"fc.{'0' * 5000}1.w"], ["fc.0.w"]),
]


@pytest.mark.parametrize(("names", "new"), CONTIGUOUS)
def test_numbers_are_closed_up(names: list[str], new: list[str]) -> None:
    tensors, pairs = map_indices_contiguous(_tensors(*names))
    assert [tensor.name for tensor in tensors] == new
    assert pairs == list(zip(new, names, strict=True)) == contiguous_names(names)


@pytest.mark.parametrize(
    ("kept", "names", "new"),
    [
        (
            "flows",
            ["flows.0.w", "flows.2.w", "flows.4.w", "fc.0.w", "fc.2.w"],
            ["flows.0.w", "flows.2.w", "flows.4.w", "fc.0.w", "fc.1.w"],
        ),
        (
            "flows.2.in_layers",
            [f"flows.{outer}.in_layers.{inner}.w" for outer in (0, 2) for inner in (0, 2)],
            [
                "flows.0.in_layers.0.w",
                "flows.0.in_layers.1.w",
                "flows.1.in_layers.0.w",
                "flows.1.in_layers.2.w",
            ],
        ),
        ("", ["0.weight", "2.weight"], ["0.weight", "2.weight"]),
        ("", ["0.a.1.weight", "2.a.1.weight"], ["0.a.0.weight", "2.a.0.weight"]),
    ],
)
def test_numbers_stay_after_a_prefix_that_is_kept(kept: str, names: list[str], new: list[str]) -> None:
    tensors, pairs = map_indices_contiguous_except(_tensors(*names), lambda key: key == kept)
    assert [tensor.name for tensor in tensors] == new
    assert pairs == list(zip(new, names, strict=True))


def test_one_number_in_two_spellings_is_a_collision() -> None:
    with pytest.raises(NameCollision, match=r"'fc\.00\.w' and 'fc\.0\.w' would both be named 'fc\.0\.w'"):
        map_indices_contiguous(_tensors("fc.00.w", "fc.0.w"))


def test_a_keep_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(TypeError, match="keep must be callable, got str"):
        map_indices_contiguous_except(_tensors("fc.0.w"), "fc")  # type: ignore[arg-type]
