"""Groups of parameters against real Burn: what they match, and their JSON."""

import json
from typing import Any

import pytest

from burnpy.errors import ParamGroupError
from burnpy.module import ParamGroup, ParamId
from tests.paths import GOLDEN

with open(GOLDEN / "burn" / "optim" / "manifest.json") as _file:
    FACTS: dict[str, Any] = json.load(_file)["param_groups"]

PROBES = [(ParamId(probe["id"]), probe["path"]) for probe in FACTS["probes"]]
# Burn forgets the exclusion here, burnpy keeps it.
KEPT = "from_predicate('fc').exclude(from_path('fc1.bias')).fuse(from_path('norm.beta'))"
CONSTRUCTORS = {name: getattr(ParamGroup, name) for name in dir(ParamGroup) if name.startswith("from_")}
CONSTRUCTORS |= {"all": ParamGroup.all, "from_ids": lambda ids: ParamGroup.from_ids(map(ParamId, ids))}


def constructed(text: str) -> ParamGroup:
    group: ParamGroup = eval(text.replace("\\", "\\\\"), {"__builtins__": {}}, CONSTRUCTORS)
    return group


@pytest.mark.parametrize("fact", FACTS["groups"], ids=lambda fact: fact["group"])
def test_a_group_read_from_burns_json_matches_what_burns_matches(fact: dict[str, Any]) -> None:
    group = ParamGroup.from_json_value(fact["json"])
    assert [group.matches(id, path) for id, path in PROBES] == fact["matches"]
    assert json.loads(group.to_json()) == fact["json"]


@pytest.mark.parametrize("fact", FACTS["groups"], ids=lambda fact: fact["group"])
def test_a_group_matches_what_burns_matches(fact: dict[str, Any]) -> None:
    group = constructed(fact["group"])
    expected = list(fact["matches"])
    if fact["group"] == KEPT:
        expected[1] = False
        with pytest.raises(ParamGroupError, match="no form in Burn's JSON"):
            group.to_json()
    else:
        assert json.loads(group.to_json()) == fact["json"]
    assert [group.matches(id, path) for id, path in PROBES] == expected
