"""The activations of the golden family `modules`, in double and in single precision: values and gradients."""

from typing import Any

import pytest

from burnpy import Tensor, nn
from burnpy.module import Module, Param
from tests.tensor.golden_numerics import Case, Inputs, Outputs, case_names, manifest

CASES = {
    name: manifest()["families"]["modules"]["cases"][name]["op"]
    for name in case_names("modules")
    if name.startswith(("act_", "glu_", "prelu_"))
}
SEVERAL = {
    "act_nan": [nn.Relu(), nn.Relu6(), nn.HardtanhConfig().init()],
    "act_large": [nn.Sigmoid(), nn.Tanh(), nn.SiLU(), nn.Gelu(), nn.Mish()],
}


def _module(name: str, config: dict[str, Any]) -> Module:
    options = {"lambda_" if key == "lambda" else key: value for key, value in config.items()}
    if name in ("Gelu", "GLU"):
        return getattr(nn, name)(**options)  # type: ignore[no-any-return]
    made = getattr(nn, f"{name}Config")(**options).init() if options else getattr(nn, name)()
    return made.valid() if name == "RRelu" else made  # type: ignore[no-any-return]


def _run(case: Case, t: Inputs) -> Outputs:
    if case.name in SEVERAL:
        modules = {type(module).__name__.lower(): module for module in SEVERAL[case.name]}
        return {name: modules[name](t["x"]) for name in case.group("out.")}
    module = _module(CASES[case.name], case.config)
    if isinstance(module, nn.PRelu):
        module.alpha = Param.initialized(module.alpha.id, t["alpha"])
    return {"output": module(t["x"])}


@pytest.mark.golden
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CASES)
def test_an_activation_has_the_values_and_gradients_of_the_golden_case(name: str, dtype: str) -> None:
    Case.load("modules", name, dtype).check(_run)


def test_large_numbers_stay_finite_in_mish_too() -> None:
    assert nn.Mish()(Tensor([-1000.0, 1000.0])).tolist() == [0.0, 1000.0]
