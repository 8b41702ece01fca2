"""Every configuration file that Burn wrote, read and written again to the byte."""

import json
from dataclasses import fields
from importlib import import_module
from typing import Any

import pytest

from burnpy.config import Config
from burnpy.config.codec import decode, encode
from burnpy.errors import ConfigError
from tests.paths import GOLDEN

FOLDER = GOLDEN / "burn" / "config"
MANIFEST: dict[str, Any] = json.loads((FOLDER / "manifest.json").read_text())
CONFIGS: dict[str, dict[str, Any]] = MANIFEST["configs"]
# Where the classes are, by the names that Burn gives them.
HOMES = [
    "burnpy.lr_scheduler", "burnpy.optim", "burnpy.module", "burnpy.nn", "burnpy.nn.conv", "burnpy.nn.pool",
    "burnpy.nn.transformer", "burnpy.nn.loss", "tests.config.user_configs",
]  # fmt: skip
# Burn writes what it cannot read again.
UNREADABLE = {"numbers_not_finite.json"}

pytestmark = pytest.mark.golden


def class_of(name: str) -> Any:
    for home in HOMES:
        try:
            return getattr(import_module(home), name)
        except (ImportError, AttributeError):
            continue
    pytest.skip(f"{name} is not there yet")


def read(cls: Any, text: str) -> Any:
    return cls.load_binary(text.encode()) if issubclass(cls, Config) else decode(json.loads(text), cls)


def test_the_files_that_burn_cannot_read_are_those_that_are_named() -> None:
    assert {file for file, told in CONFIGS.items() if not told["loads"]} == UNREADABLE


@pytest.mark.parametrize("file", sorted(set(CONFIGS) - UNREADABLE))
def test_a_file_of_burn_is_read_and_written_to_the_byte(file: str) -> None:
    cls = class_of(CONFIGS[file]["type"])
    text = (FOLDER / file).read_text()
    assert encode(read(cls, text), cls) == text


@pytest.mark.parametrize(
    "file",
    sorted(file for file, told in MANIFEST["files"].items() if told["what"].startswith("default numbers")),
)
def test_what_is_not_given_is_what_burn_takes(file: str) -> None:
    cls = class_of(CONFIGS[file]["type"])
    text = (FOLDER / file).read_text()
    config = read(cls, text)
    required = {field.name: getattr(config, field.name) for field in fields(cls) if not field.kw_only}
    assert str(cls(**required)) == text


@pytest.mark.parametrize("file", sorted(UNREADABLE))
def test_a_file_that_burn_cannot_read_is_refused(file: str) -> None:
    with pytest.raises(ConfigError, match="not_a_number is null, not a number"):
        read(class_of(CONFIGS[file]["type"]), (FOLDER / file).read_text())


@pytest.mark.parametrize("case", MANIFEST["loading_adam"], ids=lambda case: case["what"])
def test_what_is_odd_in_a_file_is_read_or_refused_as_burn_does(case: dict[str, Any]) -> None:
    cls = class_of("AdamConfig")
    if case["loads"]:
        assert json.loads(str(read(cls, case["text"]))) == case["value"]
        return
    with pytest.raises(ConfigError):
        read(cls, case["text"])
