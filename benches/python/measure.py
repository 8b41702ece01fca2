"""Paired measurement: every call of a row once a round, rounds until there are enough."""

import gc
import time
from dataclasses import dataclass

from benches.python.rows import Call, Measured, Row

MIN_ROUNDS = 3


@dataclass(frozen=True)
class Timings:
    """The figures of one call, one for each round."""

    call: Call
    figures: list[float]


def measure(row: Row, *, rounds: int, budget_s: float) -> list[Timings]:
    """At least three rounds, at most ``rounds``; in between it stops when the row has used up ``budget_s``.

    A peak of memory does not vary and costs a process: one round.
    """
    if row.unit == "bytes":
        rounds = 1
    figures: dict[str, list[float]] = {call.name: [] for call in row.calls}
    start = time.perf_counter()
    for done in range(rounds):
        if done >= MIN_ROUNDS and time.perf_counter() - start > budget_s:
            break
        # Another one goes first each time: nobody always runs in the wake of the same neighbour.
        turn = done % max(len(row.calls), 1)
        for call in row.calls[turn:] + row.calls[:turn]:
            figures[call.name].append(once(call))
    return [Timings(call, figures[call.name]) for call in row.calls]


def once(call: Call) -> float:
    """Seconds of one run, or what the call measured. The result is let go after the clock has stopped."""
    call.before()
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    result = call.run()
    seconds = time.perf_counter() - start
    gc.enable()
    return float(result) if isinstance(result, Measured) else seconds
