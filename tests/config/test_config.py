"""Configurations: made, checked, written and read as Burn does."""

import enum
import json
from dataclasses import KW_ONLY
from pathlib import Path

import pytest

from burnpy.config import F32, Config, NonNegative, Positive, Variants, same_as
from burnpy.errors import ConfigError
from tests.paths import GOLDEN


class Floats(Config):
    f32s: list[F32]
    f64s: list[float]


class Layout(enum.Enum):
    ROW = "Row"
    COL = "Col"


class Task(Variants):
    pass


class Plain(Task, of=Task):
    pass


class Classes(Task, of=Task):
    value: int


class Graded(Task, of=Task):
    as_object = True
    value: int


class Named(Task, of=Task):
    _: KW_ONLY
    low: F32 = -1.0
    name: str = "a"


class Pair(Task, of=Task):
    as_list = True
    first: float
    second: str


class Inner(Config):
    _: KW_ONLY
    rate: F32 = 0.1


class Outer(Config):
    sizes: tuple[int, int]
    name: str
    _: KW_ONLY
    flag: bool = True
    task: Task = Task.Plain()  # type: ignore[attr-defined]
    inner: Inner = Inner()
    limit: int | None = None
    layout: Layout = Layout.ROW


def test_floats_are_written_as_burn_writes_them_to_the_byte() -> None:
    text = (GOLDEN / "burn" / "config" / "floats.json").read_text()
    assert str(Floats.load_binary(text.encode())) == text


def test_keys_come_required_first_then_optional_then_defaulted() -> None:
    config = Outer([1, 2], "x")
    assert list(json.loads(str(config))) == ["sizes", "name", "limit", "flag", "task", "inner", "layout"]
    assert str(config).startswith('{\n  "sizes": [\n    1,\n    2\n  ],\n  "name": "x",\n  "limit": null,')


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (Plain(), '"Plain"'),
        (Classes(3), '{"Classes": 3}'),
        (Graded(3), '{"Graded": {"value": 3}}'),
        (Named(low=0.5), '{"Named": {"low": 0.5, "name": "a"}}'),
        (Pair(42.0, "b"), '{"Pair": [42.0, "b"]}'),
    ],
)
def test_a_variant_is_written_by_what_it_carries_and_comes_back(task: Task, text: str) -> None:
    config = Outer((1, 2), "x", task=task)
    assert json.loads(str(config))["task"] == json.loads(text)
    assert Outer.load_binary(str(config).encode()) == config


def test_a_field_is_changed_in_a_copy() -> None:
    config = Outer((1, 2), "x")
    assert config.with_limit(3).limit == 3 and config.limit is None
    assert config.with_limit(3).with_limit(None) == config
    with pytest.raises(AttributeError):
        config.with_sizes((1, 1))


def test_single_precision_is_rounded_when_a_configuration_is_made() -> None:
    assert Inner().rate == 0.10000000149011612
    assert json.loads(str(Inner())) == {"rate": 0.1}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"sizes": (1, 2, 3), "name": "x"}, ["sizes", "2 values", "(1, 2, 3)"]),
        ({"sizes": (1, 2.5), "name": "x"}, ["sizes[1]", "integer", "2.5"]),
        ({"sizes": (1, 2), "name": 3}, ["name", "str", "3"]),
        ({"sizes": (1, 2), "name": "x", "flag": 1}, ["flag", "bool", "1"]),
        ({"sizes": (1, 2), "name": "x", "inner": {"rate": 1}}, ["inner", "Inner"]),
    ],
)
def test_a_value_of_another_type_is_refused_by_the_name_of_its_field(
    arguments: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        Outer(**arguments)  # type: ignore[arg-type]
    assert all(word in str(caught.value) for word in ["Outer", *words])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda value: value.pop("flag"), ["flag is missing"]),
        (lambda value: value.update(flag=None), ["flag", "null"]),
        (lambda value: value["inner"].update(rate="0.1"), ["inner.rate", '"0.1"', "number"]),
        (lambda value: value.update(task="Other"), ["task", "Other", "Plain, Classes"]),
        (lambda value: value.update(task={"Plain": 1}), ["task", "0 values"]),
        (lambda value: value.update(layout="Diagonal"), ["layout", "Row, Col"]),
        (lambda value: value.update(sizes=[1]), ["sizes", "1 items, not 2"]),
    ],
)
def test_a_file_that_does_not_fit_is_refused_by_its_name_and_the_key(
    change: object, words: list[str], tmp_path: Path
) -> None:
    value = json.loads(str(Outer((1, 2), "x")))
    change(value)  # type: ignore[operator]
    (tmp_path / "config.json").write_text(json.dumps(value))
    with pytest.raises(ConfigError) as caught:
        Outer.load(tmp_path / "config.json")
    assert caught.value.kind == "InvalidFormat"
    assert all(word in str(caught.value) for word in ["config.json", *words])


@pytest.mark.parametrize(
    "text", ["", "{", '{"a": 1,}', "\ufeff{}", '{"rate": NaN}', "[]", "\udc80", "[" * 100_000]
)
def test_what_is_no_json_of_a_configuration_is_refused(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Inner.load_binary(text.encode("utf-8", "surrogateescape"))
    assert caught.value.kind == "InvalidFormat"


def test_unknown_keys_and_missing_optional_ones_are_no_error() -> None:
    value = json.loads(str(Outer((1, 2), "x")))
    del value["limit"]
    value["other"] = 1
    assert Outer.load_binary(json.dumps(value).encode()) == Outer((1, 2), "x")


def test_a_number_that_json_cannot_hold_is_not_saved_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    Inner().save(path)
    with pytest.raises(ConfigError, match="rate is inf"):
        Inner(rate=float("inf")).save(path)
    assert Inner.load(path) == Inner() and list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_not_there_raises_pythons_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Inner.load(tmp_path / "none.json")


class Pool(Config):
    size: Positive
    _: KW_ONLY
    step: Positive = same_as("size")
    pads: tuple[NonNegative, NonNegative] = (0, 0)
    limit: Positive | None = None


def test_a_default_that_is_another_field_is_taken_when_the_configuration_is_made() -> None:
    assert Pool(3).step == 3
    assert Pool(3, step=2).with_limit(1).step == 2
    assert list(json.loads(str(Pool(3)))) == ["size", "limit", "step", "pads"]
    assert Pool.load_binary(str(Pool(3, step=2)).encode()) == Pool(3, step=2)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"size": 0}, ["Pool: size must be at least 1, got 0"]),
        ({"size": 1, "step": -2}, ["step must be at least 1, got -2"]),
        ({"size": 1, "pads": (0, -1)}, ["pads[1] must be at least 0, got -1"]),
        ({"size": 1, "limit": 0}, ["limit must be at least 1, got 0"]),
        ({"size": 1.5}, ["size must be an integer, got 1.5"]),
    ],
)
def test_an_integer_below_its_bound_is_refused(arguments: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        Pool(**arguments)  # type: ignore[arg-type]
    assert all(word in str(caught.value) for word in words)
    if isinstance(arguments["size"], int):
        text = json.dumps({"limit": None, "step": 1, "pads": [0, 0]} | arguments)
        with pytest.raises(ConfigError) as caught:
            Pool.load_binary(text.encode())
        assert caught.value.kind == "InvalidFormat"


def test_a_variant_checks_what_it_carries() -> None:
    with pytest.raises(ConfigError, match=r"Task.Pair: second must be a str, got 3"):
        Pair(1.0, 3)  # type: ignore[arg-type]
    assert Named(low=0.1).low == 0.10000000149011612


def test_a_variant_that_carries_nothing_need_not_be_called() -> None:
    assert Outer((1, 2), "x", task=Plain) == Outer((1, 2), "x", task=Plain())  # type: ignore[arg-type]
