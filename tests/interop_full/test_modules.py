"""Burn loads the records of burnpy's modules, computes what they compute, and writes the same bytes again."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import burnpy as bp
from burnpy import nn
from burnpy.module import Lora, Module, Param, RunningState
from burnpy.nn.activation import ActivationConfig
from burnpy.nn.transformer import TransformerDecoderInput, TransformerEncoderInput
from burnpy.pack import Reader
from tests.interop_full.program import Array, array, ask
from tests.nn import composed

pytestmark = pytest.mark.interop

Inputs = Mapping[str, bp.Tensor]
Outputs = dict[str, bp.Tensor]


class Layer(NamedTuple):
    """A configuration, and the shapes of the inputs: of floats, of a mask, or the number of tokens."""

    config: Any
    shapes: dict[str, tuple[int, ...]]
    tokens: int | None = None


def _x(*shape: int, **others: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {"x": shape} | others


LAYERS = {
    "linear": Layer(nn.LinearConfig(4, 3), _x(2, 5, 4)),
    "linear without bias": Layer(nn.LinearConfig(4, 3, bias=False), _x(2, 5, 4)),
    "linear by columns": Layer(nn.LinearConfig(4, 3, layout=nn.LinearLayout.Col), _x(2, 5, 4)),
    "embedding": Layer(nn.EmbeddingConfig(7, 4), _x(2, 5), tokens=7),
    "conv1d": Layer(nn.Conv1dConfig(4, 6, 3, stride=2, groups=2), _x(2, 4, 9)),
    "conv2d": Layer(nn.Conv2dConfig((3, 4), (3, 2), dilation=(1, 2)), _x(2, 3, 7, 8)),
    "conv2d by groups": Layer(
        nn.Conv2dConfig((4, 6), (3, 3), groups=2, padding=nn.PaddingConfig2d.Same()), _x(2, 4, 6, 5)
    ),
    "conv transpose2d": Layer(nn.ConvTranspose2dConfig((3, 4), (3, 3), stride=(2, 2)), _x(2, 3, 4, 5)),
    "batch norm": Layer(nn.BatchNormConfig(3), _x(4, 3, 5, 5)),
    "group norm": Layer(nn.GroupNormConfig(2, 6), _x(2, 6, 3, 4)),
    "layer norm": Layer(nn.LayerNormConfig(6), _x(2, 3, 6)),
    "rms norm": Layer(nn.RmsNormConfig(6), _x(2, 3, 6)),
    "prelu": Layer(nn.PReluConfig(num_parameters=3), _x(2, 3, 6)),
    "activation": Layer(ActivationConfig.SwiGlu(nn.SwiGluConfig(4, 6)), _x(3, 4)),
    "lstm": Layer(nn.LstmConfig(3, 5, True), _x(2, 4, 3)),
    "lstm reversed": Layer(nn.LstmConfig(3, 5, False, batch_first=False, reverse=True), _x(4, 2, 3)),
    "bilstm": Layer(nn.BiLstmConfig(3, 5, True), _x(2, 4, 3)),
    "gru": Layer(nn.GruConfig(3, 5, True), _x(2, 4, 3)),
    "attention": Layer(nn.MultiHeadAttentionConfig(8, 2), _x(2, 4, 8, pad=(2, 4))),
    "encoder": Layer(nn.TransformerEncoderConfig(8, 16, 2, 2), _x(2, 4, 8, pad=(2, 4))),
    "encoder, norms first": Layer(
        nn.TransformerEncoderConfig(8, 16, 2, 1, norm_first=True), _x(2, 4, 8, pad=(2, 4))
    ),
    "decoder": Layer(
        nn.TransformerDecoderConfig(8, 16, 2, 2), _x(2, 3, 8, memory=(2, 4, 8), pad=(2, 4))
    ),
}  # fmt: skip


def run_layer(module: Any, inputs: Inputs) -> Outputs:
    """The outputs by the names that the program gives them."""
    x = inputs["x"]
    match module:
        case nn.Lstm() | nn.BiLstm():
            output, state = module(x)
            return {"output": output, "cell": state.cell, "hidden": state.hidden}
        case nn.MultiHeadAttention():
            found = module(nn.MhaInput.self_attn(x).mask_pad(inputs["pad"]))
            return {"output": found.context, "weights": found.weights}
        case nn.TransformerEncoder():
            return {"output": module(TransformerEncoderInput(x).mask_pad(inputs["pad"]))}
        case nn.TransformerDecoder():
            target = TransformerDecoderInput(x, inputs["memory"]).memory_mask_pad(inputs["pad"])
            return {"output": module(target)}
    return {"output": module(x)}


def run_user_module(module: Any, inputs: Inputs) -> Outputs:
    if isinstance(module, Param):
        return {"output": inputs["x"] @ module.val()}
    return {"output": module(inputs["x"])}


def drawn(shape: tuple[int, ...], tokens: int | None = None, *, mask: bool = False) -> Array:
    random = np.random.default_rng(3)
    if mask:
        # The last token of the first sentence is none.
        values = np.zeros(shape, np.bool_)
        values[0, -1] = True
        return values
    if tokens:
        return random.integers(0, tokens, shape)
    return random.standard_normal(shape).astype(np.float32)


def spread(module: Any) -> None:
    """Other values than those of the beginning, many of which are 0 or 1."""
    random = np.random.default_rng(5)
    for _, leaf in bp.Module.named_params(module) if isinstance(module, Module) else [("", module)]:
        if isinstance(leaf, RunningState):
            leaf.set_value(
                bp.Tensor.from_numpy(random.uniform(0.5, 2, leaf.value().shape).astype(np.float32))
            )
            continue
        shape, dtype = leaf.val().shape, leaf.val().dtype
        if leaf.kind != "float":
            value = bp.Tensor.from_numpy(random.integers(0, 2, shape)).cast(dtype)
            leaf.set_base(value)
            continue
        value = bp.Tensor.from_numpy(random.normal(0.2, 0.6, shape).astype(np.float32)).cast(dtype)
        leaf.set_base(value.set_require_grad(leaf.active))


def assert_burn_agrees(
    folder: Path, module: Any, inputs: dict[str, Array], run: Callable[[Any, Inputs], Outputs], **told: Any
) -> None:
    """Save, let Burn load and run, and compare outputs and bytes."""
    record, saved = folder / "record.bpk", folder / "saved.bpk"
    bp.ModuleRecord.from_module(module).save(record)
    answer = ask("module", folder, record=record, saved=saved, inputs=inputs, **told)

    plain = module.valid() if isinstance(module, Module) else module
    expected = run(
        plain, {name: bp.Tensor.from_numpy(value.copy()).inner() for name, value in inputs.items()}
    )
    assert answer.keys() == expected.keys()
    tolerance = 1e-5 if all(output.dtype == "f32" for output in expected.values()) else 1e-2
    for name, output in expected.items():
        found = output.cast("f64").numpy()
        np.testing.assert_allclose(array(answer[name]), found, rtol=tolerance, atol=tolerance, err_msg=name)
    assert_same_record(saved, record)


def assert_same_record(found: Path, expected: Path) -> None:
    """The same bytes; but Burn gives running states ids of its own, whatever a record says."""
    with Reader.from_file(found) as one, Reader.from_file(expected) as other:
        entries = [reader.into_tensors() for reader in (one, other)]
        states = {name for name in other.keys() if "running_" in name}  # noqa: SIM118 (not a mapping)
        assert (one.metadata(), one.scalars()) == (other.metadata(), other.scalars())
    if not states:
        assert found.read_bytes() == expected.read_bytes()
        return
    contents = [
        [(e.name, e.dtype, e.shape, None if e.name in states else e.param_id, e.to_bytes()) for e in some]
        for some in entries
    ]
    assert contents[0] == contents[1]


@pytest.mark.parametrize("name", LAYERS)
def test_burn_computes_what_a_layer_computes(name: str, tmp_path: Path) -> None:
    layer = LAYERS[name]
    bp.manual_seed(1)
    module = layer.config.init()
    spread(module)
    inputs = {key: drawn(shape, layer.tokens, mask=key == "pad") for key, shape in layer.shapes.items()}

    kind = "Activation" if name == "activation" else type(layer.config).__name__.removesuffix("Config")
    assert_burn_agrees(tmp_path, module, inputs, run_layer, name=kind, config=layer.config)


def _half(dtype: str) -> Callable[[], Module]:
    return lambda: composed.Mlp(4, 8, 3).no_grad().cast(dtype)


USER_MODULES: dict[str, tuple[str, Callable[[], Any], dict[str, Any], tuple[int, ...]]] = {
    "containers": ("Containers", lambda: composed.Containers(3, 2, 2, 2), {"sizes": [3, 2, 2, 2]}, (4, 3)),
    "enums": (
        "Enums", lambda: composed.Enums(3, ["Wide", "Norm", "Dense"]),
        {"sizes": [3], "variants": ["Wide", "Norm", "Dense"]}, (4, 3),
    ),
    "kinds of parameters": ("Kinds", lambda: composed.Kinds(3, 4), {"sizes": [3, 4]}, (5, 3)),
    "tied weights": ("Tied", lambda: composed.Tied(7, 4), {"sizes": [7, 4]}, (2, 3)),
    "generic": (
        "Residual",
        lambda: composed.Residual(composed.Residual(composed.Residual(composed.linear(3, 3)))),
        {"sizes": [3]}, (4, 3),
    ),
    "mlp": ("Mlp", lambda: composed.Mlp(4, 8, 3), {"sizes": [4, 8, 3]}, (5, 4)),
    "mlp in f16": ("Mlp", _half("f16"), {"sizes": [4, 8, 3]}, (5, 4)),
    "mlp in bf16": ("Mlp", _half("bf16"), {"sizes": [4, 8, 3]}, (5, 4)),
    "low-rank factors": (
        "MlpLora", lambda: composed.Mlp(4, 8, 3).apply_lora(Lora(2, 3.0)), {"sizes": [4, 8, 3]}, (5, 4),
    ),
    "a parameter alone": ("Bare", lambda: Param.from_tensor(bp.Tensor.ones((3, 4))), {"sizes": [3, 4]}, (5, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", USER_MODULES)
def test_burn_computes_what_a_module_of_the_user_computes(name: str, tmp_path: Path) -> None:
    kind, build, told, shape = USER_MODULES[name]
    bp.manual_seed(1)
    module = build()
    spread(module)
    inputs = {"x": drawn(shape, 7 if kind == "Tied" else None)}

    def run(plain: Any, given: Inputs) -> Outputs:
        dtype = plain.fc1.weight.val().dtype if kind.startswith("Mlp") else given["x"].dtype
        return run_user_module(plain, {"x": given["x"].cast(dtype)})

    assert_burn_agrees(tmp_path, module, inputs, run, name=kind, **told)


@pytest.mark.parametrize("how", ["directly", "without gradients"])
def test_running_statistics_of_a_trained_module_are_burns(how: str, tmp_path: Path) -> None:
    bp.manual_seed(1)
    module = composed.Cnn(3, [False, True], 0.25, 4)
    random = np.random.default_rng(2)
    for _ in range(3):
        images = random.standard_normal((4, 2, 6, 5)).astype(np.float32)
        module(bp.Tensor.from_numpy(images))
    if how == "without gradients":
        module = module.valid()

    told = {"name": "Cnn", "sizes": [3, 4]}
    assert_burn_agrees(tmp_path, module, {"x": drawn((2, 2, 6, 5))}, run_user_module, **told)


def test_a_module_keeps_its_tie_on_the_way_through_burn(tmp_path: Path) -> None:
    module = composed.Tied(7, 4)
    spread(module)
    assert_burn_agrees(tmp_path, module, {"x": drawn((2, 3), 7)}, run_user_module, name="Tied", sizes=[7, 4])

    back = composed.Tied(7, 4).load_record(bp.ModuleRecord.load(tmp_path / "saved"))

    assert back.decode is back.embed.weight or back.decode.id == back.embed.weight.id
    np.testing.assert_array_equal(back.decode.val().numpy(), module.embed.weight.val().numpy())
