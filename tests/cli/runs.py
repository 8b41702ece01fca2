"""Folders of runs: one by Burn, and small ones written by hand."""

import json
import shutil
from pathlib import Path

from tests.paths import GOLDEN


def burns_run(folder: Path, kind: str = "classification") -> Path:
    shutil.copytree(GOLDEN / "burn" / "training" / kind, folder)
    return folder


def small_run(folder: Path, **losses: list[float]) -> Path:
    """Losses of the epochs of a split."""
    for split, values in losses.items():
        for epoch, value in enumerate(values, start=1):
            path = folder / split / f"epoch-{epoch}" / "Loss.log"
            path.parent.mkdir(parents=True)
            path.write_text(f"{value + 0.5},2\n{value - 0.5},2\n{value},final\n")
    return folder


def json_run(folder: Path) -> Path:
    """One whose logger wrote ``metrics.jsonl``, was resumed in the middle of epoch 2, and killed in a line."""
    folder.mkdir()
    rows = [(1, 1, 3.0), (1, 2, 2.0), (1, None, 2.5), (2, 1, 9.0), (2, 2, 9.0), (2, 1, 1.0), (2, None, 1.0)]
    lines = [
        json.dumps({"time": 0.5, "split": "train", "epoch": epoch, "batch": batch, "values": {"Loss": value}})
        for epoch, batch, value in rows
    ]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + '\n{"time": 1, "spl')
    return folder


def csv_run(folder: Path) -> Path:
    folder.mkdir()
    rows = "train,,1,1,Loss,0.5\ntrain,,1,,Loss,0.5\nvalid,,1,,Loss,NaN\ntest,first,1,,Loss,0.25\n"
    (folder / "metrics.csv").write_text("split,tag,epoch,batch,metric,value\n" + rows)
    return folder
