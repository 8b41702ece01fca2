"""Checkpoints of a run in a store."""

from pathlib import Path

import pytest

from burnpy import ModuleRecord
from burnpy.nn import LinearConfig
from burnpy.train.checkpoint import FileCheckpointer
from tests.storage.conftest import Bucket


@pytest.mark.parametrize("kind", ["s3", "memory"])
def test_records_are_kept_by_epoch_and_step_replaced_and_deleted(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if kind == "s3":
        bucket: Bucket = request.getfixturevalue("s3")
        kept = FileCheckpointer(bucket.at("run/checkpoint"), "model")
    else:
        pytest.importorskip("fsspec")
        kept = FileCheckpointer(f"memory://{tmp_path.name}/checkpoint", "model")
    first, second = (LinearConfig(4, 3).init().into_record() for _ in range(2))
    for key in (1, "step-12", 2):
        kept.save(key, first)
    kept.save(2, second)
    assert kept.restore(2, ModuleRecord).into_bytes() == second.into_bytes()
    assert kept.restore("step-12", ModuleRecord).into_bytes() == first.into_bytes()
    assert str(kept.path("step-12")).endswith("/checkpoint/step-12/model.bpk")
    kept.delete(1)
    kept.delete(1)
    with pytest.raises(FileNotFoundError, match="no checkpoint model of epoch 1"):
        kept.restore(1, ModuleRecord)
