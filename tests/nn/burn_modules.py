"""Modules in the golden folder `burn/modules`: Burn's records loaded, run, differentiated and saved again."""

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from burnpy import Tensor, nn
from burnpy.autodiff import Gradients
from burnpy.config.codec import decode
from burnpy.module import Flag, ModuleMapper, Param
from tests.paths import GOLDEN

Array = NDArray[Any]
Entry = dict[str, Any]
Inputs = dict[str, Tensor]
Outputs = Mapping[str, Tensor]
FOLDER = GOLDEN / "burn" / "modules"
# What is allowed beside twice Burn's own error in single precision: a share of max(1, |value|).
SLACK = {"f64": 1e-9, "f32": 1e-5, "f16": 2**-9, "bf16": 2**-6}


@functools.cache
def entries() -> dict[str, Entry]:
    content = json.loads((FOLDER / "manifest.json").read_text())
    return {entry["name"]: entry for entry in content["files"]}


def config_of(entry: Entry, home: Any = nn) -> Any:
    """The configuration of a case about one layer."""
    told = entry["configs"][0]
    return decode(told["json"], getattr(home, told["type"]))


def array(entry: Entry) -> Array:
    """Values, those that Burn printed in single precision read so before they are widened."""
    if entry.get("dtype", "F32") in ("F32", "F64"):
        width = np.float64 if entry.get("dtype") == "F64" else np.float32
        return np.array([float(value) for value in entry["values"]], width).reshape(entry["shape"])
    kind = {"I32": np.int32, "Bool(Native)": np.bool_}.get(entry["dtype"], np.float64)
    return np.array(entry["values"], kind).reshape(entry["shape"])


@dataclass(frozen=True)
class BurnModule:
    """A case: how its module is made, and what it computes.

    Attributes:
        name: of the case.
        build: makes a fresh module.
        forward: computes the outputs by name.
        single: Burn computes a part in single precision, also where all else is double.
    """

    name: str
    build: Callable[[], Any]
    forward: Callable[[Any, Inputs], Outputs]
    single: bool = False

    @property
    def entry(self) -> Entry:
        return entries()[self.name]

    def slack(self, dtype: str) -> float:
        """What is allowed beside Burn's own error, as a share."""
        used_as = {entry["used_as"].lower() for entry in self.entry["inputs"].values() if "used_as" in entry}
        dtype = used_as.pop() if used_as else dtype
        return 1e-6 if self.single and dtype == "f64" else SLACK[dtype]

    def loaded(self, dtype: str = "f32") -> Any:
        """A module with the values of the record, in another precision if asked for."""
        module = self.build().load_file(FOLDER / self.entry["file"])
        return module if dtype == "f32" else module.cast(dtype)

    def inputs(self, dtype: str = "f32") -> Inputs:
        """The inputs on an autodiff device, floats as leaves."""
        tensors = {}
        for name, entry in self.entry["inputs"].items():
            tensor = Tensor.from_numpy(array(entry))
            wanted = entry["used_as"].lower() if "used_as" in entry else dtype
            tensors[name] = tensor.cast(wanted).require_grad() if tensor.kind == "float" else tensor
        return tensors

    def check_structure(self, replaced: Mapping[str, str] = {}) -> None:
        """How the module is shown and counted; its flags; what does not train.

        Args:
            replaced: texts of Burn's that are others here.
        """
        module, entry = self.loaded(), self.entry
        for shown, told in ((module, "display"), (module.valid(), "display_valid")):
            text: str = entry[told] if told in entry else entry["display"]
            for theirs, ours in replaced.items():
                text = text.replace(theirs, ours)
            assert str(shown) == text
        assert module.num_params() == entry["num_params"]
        paths = [path for path, _ in module.named_params()]
        assert sorted(paths) == sorted(tensor["name"] for tensor in entry["tensors"])
        flags = [path for path, leaf in module.named_params(flags=True) if isinstance(leaf, Flag)]
        assert flags == entry.get("flags", [])
        params = {path: leaf for path, leaf in module.named_params() if isinstance(leaf, Param)}
        still = [path for path, leaf in params.items() if leaf.kind != "float" or not leaf.active]
        assert still == entry.get("not_require_grad", [])

    def check_values(self, dtype: str = "f32") -> None:
        """What the module for inference computes, on plain inputs."""
        plain = {name: tensor.inner() for name, tensor in self.inputs(dtype).items()}
        found = self.forward(self.loaded(dtype).valid(), plain)
        truth = self.entry.get("f64", self.entry)["eval"]["outputs"]
        burns = truth
        if dtype != "f64":
            burns = self.entry["eval" if dtype == "f32" else f"eval_{dtype}"]["outputs"]
        assert set(found) == set(burns)
        for name, value in burns.items():
            assert_close(found[name], truth[name], value, f"{self.name}: {name}", self.slack(dtype))

    def check_training(self, dtype: str = "f32", *, flags: bool = True) -> None:
        """What the module computes and which gradients it gives on an autodiff device."""
        key = "train" if flags else "train_flags_off"
        if key not in self.entry:
            return
        truth, burns = self.entry["f64"][key], self.entry[key]
        burns = truth if dtype == "f64" else burns
        module, inputs = self.loaded(dtype), self.inputs(dtype)
        module = module if flags else module.map(_FlagsOff())
        outputs = self.forward(module, inputs)
        for name, value in burns["outputs"].items():
            assert_close(
                outputs[name], truth["outputs"][name], value, f"{self.name}: {name}", self.slack(dtype)
            )
        gradients = _loss(outputs, self.entry["output_weights"]).backward()
        params = {path: leaf for path, leaf in module.named_params() if isinstance(leaf, Param)}
        for path, value in burns["param_grads"].items():
            if path not in params:
                continue  # a running state, whose value Burn differentiates too
            gradient = _recorded_gradient(params[path], gradients)
            what = f"{self.name}: gradient of {path}"
            assert_close(gradient, truth["param_grads"][path], value, what, self.slack(dtype))
        without = {path for path, leaf in params.items() if leaf.kind == "float"} - set(burns["param_grads"])
        assert all(params[path].base().grad(gradients) is None for path in without), f"{self.name}: {without}"
        for name, value in burns["input_grads"].items():
            what = f"{self.name}: gradient of {name}"
            assert_close(
                inputs[name].grad(gradients), truth["input_grads"][name], value, what, self.slack(dtype)
            )

    def check_running(self) -> None:
        """Running values after training steps on the same input, in the module and in records of it."""
        told, module, inputs = self.entry["running"], self.loaded(), self.inputs()
        for i, committed in enumerate(told["committed_after_0_1_2_3_forwards"]):
            if i:
                self.forward(module, inputs)
            for path, values in committed.items():
                found = dict(module.named_params())[path].value()
                _assert_list(found, values, f"{self.name}: {path} after {i} steps")
        valid = module.valid()
        for path, values in told["after_valid"].items():
            _assert_list(
                dict(valid.named_params())[path].value(), values, f"{self.name}: {path} after valid()"
            )
        plain = {name: tensor.inner() for name, tensor in inputs.items()}
        for name, value in told["eval_after"]["outputs"].items():
            found = self.forward(valid, plain)[name]
            np.testing.assert_allclose(found.numpy(), array(value), rtol=1e-4, atol=1e-5)
        # Unlike Burn: a record taken directly is that from `valid()`; the file that lags is read all the same.
        for kind in ("record_taken_directly", "record_taken_from_valid"):
            self.build().load_file(FOLDER / told[kind]["file"])

    def check_saved(self, folder: Path) -> None:
        """The record of the loaded module is Burn's file, to the byte."""
        self.loaded().save_file(folder / "saved.bpk")
        content = (folder / "saved.bpk").read_bytes()
        assert hashlib.sha256(content).hexdigest() == self.entry["sha256"]


class _FlagsOff(ModuleMapper):
    """Turns every flag off."""

    def map_flag(self, flag: Flag) -> Flag:
        return flag.with_value(False)


def layer(name: str, home: Any = nn, *, single: bool = False) -> BurnModule:
    """The case of one layer, whose output is that of one call with the inputs in order."""
    config = config_of(entries()[name], home)

    def forward(module: Any, inputs: Inputs) -> Outputs:
        return {"output": module.forward(*inputs.values())}

    return BurnModule(name, config.init, forward, single)


def names_of(types: list[str]) -> list[str]:
    """The cases of single layers of some types of configuration."""
    told = {name: [config["type"] for config in entry["configs"]] for name, entry in entries().items()}
    return [name for name, found in told.items() if len(found) == 1 and found[0] in types]


def assert_close(
    found: Tensor | None, truth: Entry | None, burns: Entry | None, what: str, slack: float
) -> None:
    """At most twice as far from the truth as Burn is, or a share of max(1, |value|)."""
    if burns is None:
        assert found is None, f"{what} is there"
        return
    assert found is not None and truth is not None, f"{what} is missing"
    expected = array(truth).astype(np.float64)
    values = found.cast("f64").numpy() if found.kind == "float" else found.numpy()
    assert values.shape == expected.shape, f"{what}: shape {values.shape}, not {expected.shape}"
    limit = np.maximum(2 * np.abs(array(burns) - expected), slack * np.maximum(1, np.abs(expected)))
    off = ~(np.abs(values - expected) <= limit)
    assert not off.any(), (
        f"{what}: {int(off.sum())} of {off.size} values are off, such as {values[off][0]}, not {expected[off][0]}"
    )


def _recorded_gradient(param: Param, gradients: Gradients) -> Tensor | None:
    """A parameter's gradient in the form of its record."""
    gradient = param.base().grad(gradients)
    return None if gradient is None else param.map(lambda _: gradient).transform_for_save()


def _loss(outputs: Outputs, weights: Mapping[str, list[float]]) -> Tensor:
    """The sum of all outputs times the case's weights."""
    terms = []
    for name, values in weights.items():
        output = outputs[name]
        factors = np.array(values, np.float32).reshape(output.shape)
        terms.append((output * Tensor.from_numpy(factors).cast(output.dtype)).sum())
    return functools.reduce(Tensor.add, terms)


def _assert_list(found: Tensor, values: list[float], what: str) -> None:
    np.testing.assert_allclose(found.numpy().ravel(), values, rtol=1e-5, atol=1e-6, err_msg=what)
