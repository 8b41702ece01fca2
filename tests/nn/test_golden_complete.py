"""Every case of the golden folders about modules is run by one of the tests beside this."""

from tests.nn import (
    test_golden_burn,
    test_golden_burn_sequences,
    test_golden_composed,
    test_golden_numerics,
)
from tests.nn.activation import test_golden_burn as burn_activations
from tests.nn.activation import test_golden_numerics as numerics_activations
from tests.nn.burn_modules import entries
from tests.nn.golden_modules import names_of
from tests.nn.sequences import RUNS
from tests.tensor.golden_numerics import case_names


def test_every_module_of_burn_is_tested() -> None:
    tested = [
        *test_golden_burn.CASES,
        *test_golden_burn_sequences.NAMES,
        *test_golden_composed.NAMES,
        *burn_activations.CASES,
        "user_bare_param",
    ]
    assert sorted(tested) == sorted(entries())


def test_every_case_of_numerics_about_modules_is_tested() -> None:
    kinds = [*test_golden_numerics.PLAIN, "BatchNorm", *RUNS, "RotaryEncoding"]
    functions = ["autoregressive_mask", "batch_norm_train"]
    tested = [*names_of(kinds), *numerics_activations.CASES, *functions]
    assert sorted(tested) == sorted(case_names("modules"))
