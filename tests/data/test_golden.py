"""Transforms and loaders against what Burn did (`golden/burn/data`).

Not compared, as docs/decisions.md settles: the very permutations and draws of a seed (another generator), which items
a worker gets, and the order in which workers deliver. Of those the sizes, the multisets and the laws are compared.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from burnpy import Device
from burnpy.data import (
    ComposedDataset,
    DataLoader,
    PartialDataset,
    SamplerDataset,
    SamplerDatasetOptions,
    SelectionDataset,
    ShuffledDataset,
    SizeConfig,
    WindowsDataset,
    shuffled_indices,
)
from tests.data.samples import as_list, flat
from tests.paths import GOLDEN

MANIFEST: dict[str, Any] = json.loads((GOLDEN / "burn" / "data" / "manifest.json").read_text())

# Cases by (start, end) in which burnpy does what Burn does not, with the length that is reported.
DIFFERENT_RANGES = {
    (4, 20): 6,  # Burn reports 10 of 6 items, and reading the tail panics
}


def test_every_part_of_the_manifest_is_compared() -> None:
    assert set(MANIFEST) - {"backend", "burn", "files", "folder", "made_by", "seed", "what"} == {
        "composed_dataset", "loaders_plain", "loaders_shuffled", "partial_dataset", "partial_ranges",
        "sampler_dataset", "selection_dataset", "selection_from_indices", "shuffled_dataset", "windows_dataset",
    }  # fmt: skip


def test_composed() -> None:
    case = MANIFEST["composed_dataset"]
    assert list(ComposedDataset([range(n) for n in case["lengths"]])) == case["items"]


@pytest.mark.parametrize("case", MANIFEST["partial_dataset"])
def test_parts(case: dict[str, Any]) -> None:
    source = range(case["len"])
    if "split" in case:
        parts = PartialDataset.split(source, case["split"])
    else:
        parts = PartialDataset.split_chunks(source, case["split_chunks"], case["batch_size"])
    assert [list(part) for part in parts] == case["parts"]


@pytest.mark.parametrize("case", MANIFEST["partial_ranges"])
def test_ranges(case: dict[str, Any]) -> None:
    part = PartialDataset(range(case["len"]), case["start"], case["end"])
    expected = DIFFERENT_RANGES.get((case["start"], case["end"]), case["reported_len"])
    assert len(part) == expected
    assert list(part) == list(range(case["len"]))[case["start"] : case["end"]]


def test_selection_from_indices() -> None:
    case = MANIFEST["selection_from_indices"]
    assert list(SelectionDataset.from_indices_checked(range(case["len"]), case["indices"])) == case["items"]


@pytest.mark.parametrize("case", MANIFEST["selection_dataset"], ids=lambda case: str(case["seed"]))
def test_selections(case: dict[str, Any]) -> None:
    source, seed = range(case["len"]), case["seed"]
    selection = SelectionDataset.new_select_all(source)
    assert list(selection) == case["select_all"]
    selection.shuffle(seed)
    assert sorted(selection) == sorted(case["shuffled"])
    # Burn's law: shuffling all is the same as selecting all, shuffled; and another shuffle goes on from there.
    assert list(selection) == list(SelectionDataset.new_shuffled(source, seed))
    assert case["shuffled"] == case["new_shuffled"]
    selection.shuffle(seed)
    assert list(selection) != list(SelectionDataset.new_shuffled(source, seed))
    everything = list(selection)
    assert list(selection.slice(5, 9)) == everything[5:9] and len(case["slice_5_9"]) == 4
    parts = [list(part) for part in selection.split(3)]
    assert [len(part) for part in parts] == [len(part) for part in case["split_3"]]
    assert [item for part in parts for item in part] == everything


@pytest.mark.parametrize("case", MANIFEST["shuffled_dataset"])
def test_shuffles(case: dict[str, Any]) -> None:
    order = list(ShuffledDataset(range(case["len"]), case["seed"]))
    assert sorted(order) == sorted(case["order"])
    assert order == shuffled_indices(case["len"], case["seed"])


@pytest.mark.parametrize("case", MANIFEST["windows_dataset"])
def test_windows(case: dict[str, Any]) -> None:
    assert list(WindowsDataset(range(case["len"]), case["size"])) == case["windows"]


@pytest.mark.parametrize("case", MANIFEST["sampler_dataset"])
def test_samplers(case: dict[str, Any]) -> None:
    options = SamplerDatasetOptions().with_replace_samples(case["replacement"])
    size = SizeConfig.Ratio(case["ratio"]) if "ratio" in case else SizeConfig.Fixed(case["size"])
    options = options.with_size(size)
    sampler = SamplerDataset(range(case["len"]), options.with_seed(case["seed"]))
    for theirs in (case[name] for name in ("first_pass", "second_pass") if name in case):
        mine = list(sampler)
        assert len(mine) == len(theirs) and set(mine) <= set(range(case["len"]))
        if not case["replacement"]:
            assert sorted(_counts(mine, case["len"])) == sorted(_counts(theirs, case["len"]))


def _counts(items: list[int], length: int) -> list[int]:
    counted = Counter(items)
    return [counted[item] for item in range(length)]


@pytest.mark.parametrize("case", MANIFEST["loaders_plain"])
def test_loaders_in_order(case: dict[str, Any]) -> None:
    workers = case["num_workers"]
    loader = DataLoader(range(case["len"]), as_list, batch_size=case["batch_size"], num_workers=workers)
    assert loader.num_items() == case["num_items"]
    batches = loader.iter()
    seen, delivered = [batches.progress().items_processed], []
    for batch in batches:
        delivered.append(batch)
        seen.append(batches.progress().items_processed)
    assert delivered == case["batches"]
    if not workers:
        assert seen == case["progress_items_processed"]
    assert not case["len"] or batches.progress().is_completed()


@pytest.mark.parametrize("case", MANIFEST["loaders_shuffled"])
def test_shuffled_loaders(case: dict[str, Any]) -> None:
    options = {"batch_size": case["batch_size"], "shuffle": case["seed"], "num_workers": case["num_workers"]}
    loader = DataLoader(range(case["len"]), as_list, **options)
    for theirs in case["passes"]:
        _assert_alike(list(loader), theirs)
    moved = loader.to_device(Device.cpu())
    for theirs in case["passes_after_to_device"]:
        _assert_alike(list(moved), theirs)
    if "slice" in case:
        part = loader.slice(case["slice"]["start"], case["slice"]["end"])
        for theirs in case["slice"]["passes"]:
            _assert_alike(list(part), theirs)


def _assert_alike(mine: list[list[int]], theirs: list[list[int]]) -> None:
    assert sorted(len(batch) for batch in mine) == sorted(len(batch) for batch in theirs)
    assert sorted(flat(mine)) == sorted(flat(theirs))


def test_the_manifest_is_where_the_tests_expect_it() -> None:
    assert Path(GOLDEN / "burn" / "data" / "manifest.json").stat().st_size > 1000
