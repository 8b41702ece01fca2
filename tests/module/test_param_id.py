"""Ids of parameters and their text forms."""

import pickle

import pytest

from burnpy.module.param_id import ParamId

TEXTS = {
    0: "0000000000000",
    1: "0400000000000",
    7: "0s00000000000",
    123456: "83h0200000000",
    0x0123456789ABCDEF: "tv6qn2b78khg2",
    2**64 - 1: "vvvvvvvvvvvvu",
}


@pytest.mark.parametrize(("value", "text"), TEXTS.items())
def test_a_text_and_a_number_lead_to_each_other(value: int, text: str) -> None:
    assert str(ParamId(value)) == text
    assert ParamId.parse(text) == ParamId.parse(text.upper()) == ParamId(value)


def test_an_old_id_of_six_bytes_is_filled_with_zeros() -> None:
    assert ParamId.parse("5kmiqb9d5k") == ParamId(49672054713645)


@pytest.mark.parametrize(
    "text", ["", "w", "00000000000000", "0" * 20, "invalid_id", "6ba7b810-9dad-11d1-80b4-00c04"]
)
def test_what_is_no_id_is_refused_with_the_text(text: str) -> None:
    with pytest.raises(ValueError, match="is no ParamId") as caught:
        ParamId.parse(text)
    assert repr(text) in str(caught.value)


@pytest.mark.parametrize("value", [-1, 2**64])
def test_a_number_that_is_not_64_bits_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=str(value)):
        ParamId(value)


def test_ids_are_equal_by_number_and_survive_a_pickle() -> None:
    assert len({ParamId(3), ParamId(3), ParamId(4)}) == 2
    assert pickle.loads(pickle.dumps(ParamId(5))) == ParamId(5)
    assert len({ParamId.new() for _ in range(100)}) == 100
