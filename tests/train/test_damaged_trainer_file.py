"""A trainer file that is not what was written: its set is none."""

from pathlib import Path

import pytest

from burnpy.errors import BurnpyError, RecordValidationError
from burnpy.record.state import StateSink
from burnpy.train.checkpoint import TrainerRecord
from tests.train.toy import learner, training

PLAIN = {"epoch": 3, "rates": [0.5, 0.25], "random": [1, 2, 3, 4]}


def test_any_other_character_in_the_text_is_noticed() -> None:
    data = TrainerRecord(PLAIN, StateSink()).into_bytes()
    start = data.index(b'{"version"')
    for place in range(start, data.index(b"4]}") + 3):
        changed = bytearray(data)
        changed[place] = ord("7") if changed[place] != ord("7") else ord("8")
        with pytest.raises(BurnpyError):
            TrainerRecord.from_bytes(bytes(changed))
    assert TrainerRecord.from_bytes(data).plain == PLAIN


def test_a_text_without_its_hash_is_refused() -> None:
    data = TrainerRecord(PLAIN, StateSink()).into_bytes()
    with pytest.raises(RecordValidationError, match="damaged: its text is not that of its hash"):
        TrainerRecord.from_bytes(data.replace(b"trainer.sha256", b"trainer.sha255"))


def test_the_set_before_is_resumed_from(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    training(tmp_path, epochs=2).launch(learner())
    path = tmp_path / "checkpoint" / "trainer-2.bpk"
    data = bytearray(path.read_bytes())
    start = data.index(b'"random": [') + len(b'"random": [')
    data[start] = ord("7") if data[start] != ord("7") else ord("8")
    path.write_bytes(data)
    with caplog.at_level("INFO", logger="burnpy.train"):
        training(tmp_path, epochs=2, resume="latest").launch(learner())
    assert "resuming from the checkpoint of epoch 1" in caplog.text
