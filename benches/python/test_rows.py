"""Every row of every suite with every library, through pytest-benchmark.

For one figure after a change: ``pytest benches/python --case B --row save --peers burnpy``. Ratios that may be
claimed come from ``table.py``, which lets all entries of a row take turns.
"""

from collections.abc import Iterator

import pytest

pytest.importorskip("pytest_benchmark", reason="pytest-benchmark is not installed: see `make peers`")

from benches.python.rows import PEAK, Row, open_row
from benches.python.suites import SUITES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    option = metafunc.config.getoption
    chosen = [
        pytest.param((suite, case, row, place, name), id=f"{case.key}-{row}-{place}-{name}")
        for suite in (SUITES[key] for key in option("--suite") or SUITES)
        for case in suite.cases(quick=option("--quick")).values()
        if case.key in (option("--case") or [case.key])
        for row in suite.rows
        if row in (option("--row") or [row]) and not row.startswith(PEAK)
        for place in suite.rows[row]
        if suite.makes_sense(case, row, place)
        for name in suite.names
        if name in (option("--peers") or [name])
    ]
    metafunc.parametrize("opened", chosen, indirect=True)


@pytest.fixture
def opened(request: pytest.FixtureRequest, places) -> Iterator[Row]:
    suite, case, row, place, name = request.param
    quick = request.config.getoption("--quick")
    with open_row(suite.builder(case, row, place, places[place], quick=quick), [name]) as opened:
        if not opened.calls:
            reasons = [f"{peer}: {why}" for peer, why in opened.left_out.items()]
            pytest.skip("; ".join(reasons) or f"nothing for {name}")
        yield opened


def test_a_row_takes_this_long(opened: Row, benchmark) -> None:
    call = opened.calls[0]
    benchmark.group = f"{opened.case.key} {opened.case.what}, {opened.name}, {opened.place}"
    benchmark.extra_info["bytes"] = opened.num_bytes

    benchmark.pedantic(call.run, setup=call.before, rounds=5, warmup_rounds=1)

    if benchmark.stats is not None:  # --benchmark-disable runs it once, untimed
        benchmark.extra_info["gb_per_s"] = opened.num_bytes / benchmark.stats.stats.median / 1e9
