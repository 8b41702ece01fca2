"""Every row of the container with every library, through pytest-benchmark.

For one figure after a change: ``pytest benches/python --case B --row save --peers burnpy``. Ratios that may be
claimed come from ``table.py``, which lets all entries of a row take turns.
"""

from collections.abc import Iterator

import pytest

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed: see `make peers`")

from benches.python import burn_pack
from benches.python.cases import all_cases
from benches.python.peers import PEERS
from benches.python.rows import PEAK, ROWS, Row, makes_sense, open_row


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    cases = all_cases(quick=option("--quick"))
    chosen = [
        pytest.param((cases[key], row, place, name), id=f"{key}-{row}-{place}-{name}")
        for key in option("--case") or list(cases)
        for row in option("--row") or list(ROWS)
        for place in ROWS[row]
        for name in option("--peers") or [*PEERS, burn_pack.NAME, "limit"]
        if makes_sense(cases[key], row, place) and not row.startswith(PEAK)
    ]
    metafunc.parametrize("opened", chosen, indirect=True)


@pytest.fixture
def opened(request: pytest.FixtureRequest, places) -> Iterator[Row]:
    case, row, place, name = request.param
    quick = request.config.getoption("--quick")
    with open_row(case, row, place, places[place], [name], quick=quick) as opened:
        if not opened.calls:
            pytest.skip(
                "; ".join(f"{peer}: {why}" for peer, why in opened.left_out.items()) or "no such limit"
            )
        yield opened


def test_a_row_takes_this_long(opened: Row, benchmark) -> None:
    call = opened.calls[0]
    benchmark.group = f"{opened.case.key} {opened.case.what}, {opened.name}, {opened.place}"
    benchmark.extra_info["bytes"] = opened.num_bytes

    benchmark.pedantic(call.run, setup=call.before, rounds=5, warmup_rounds=1)

    if benchmark.stats is not None:  # --benchmark-disable runs it once, untimed
        benchmark.extra_info["gb_per_s"] = opened.num_bytes / benchmark.stats.stats.median / 1e9
