"""The tables that there are: cases, rows and who is measured."""

from collections.abc import Callable
from dataclasses import dataclass

from benches.python import burn_pack, checkpoint_rows, rows
from benches.python.cases import Case, all_cases
from benches.python.checkpoint_peers import CHECKPOINT_PEERS
from benches.python.checkpoints import all_checkpoints
from benches.python.peers import PEERS


@dataclass(frozen=True)
class Suite:
    """One table. ``names`` are the entries of a row, burnpy first; ``record`` ends the name of its record."""

    title: str
    record: str
    cases: Callable[..., dict[str, Case]]
    rows: dict[str, tuple[str, ...]]
    makes_sense: Callable[[Case, str, str], bool]
    names: list[str]
    builder: type[rows.RowBuilder]
    room_factor: int
    """Room that a place must have, in sizes of the case: its files side by side, and some air."""

    @property
    def keys(self) -> list[str]:
        return list(self.cases(quick=True))


SUITES = {
    "container": Suite(
        title="Container benchmarks",
        record="",
        cases=all_cases,
        rows=rows.ROWS,
        makes_sense=rows.makes_sense,
        names=[*PEERS, burn_pack.NAME, "limit"],
        builder=rows.RowBuilder,
        room_factor=6,
    ),
    "checkpoints": Suite(
        title="Checkpoint benchmarks",
        record="-checkpoints",
        cases=all_checkpoints,
        rows=checkpoint_rows.CHECKPOINT_ROWS,
        makes_sense=checkpoint_rows.makes_sense,
        names=[*CHECKPOINT_PEERS, "limit"],
        builder=checkpoint_rows.CheckpointRowBuilder,
        room_factor=3,
    ),
}

CASES = [key for suite in SUITES.values() for key in suite.keys]
ROWS = list(dict.fromkeys(row for suite in SUITES.values() for row in suite.rows))
