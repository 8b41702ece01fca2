"""Adapters between conventions, and the guess at modules where there are none to ask."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from burnpy.errors import DTypeError
from burnpy.pack import QuantScheme, Tensor
from burnpy.store import (
    BurnToPyTorchAdapter,
    ChainAdapter,
    FloatCastAdapter,
    HalfPrecisionAdapter,
    IdentityAdapter,
    ModuleAdapter,
    ModuleContext,
    PyTorchToBurnAdapter,
    TensorSnapshot,
    infer_contexts,
)
from burnpy.store.dtype import numpy_dtype

NORMS = ["BatchNorm", "LayerNorm", "GroupNorm", "RmsNorm"]
HALVED = [
    "Linear", "Embedding", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "DeformConv2d", "LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm", "PRelu",
]  # fmt: skip


def _tensor(name: str, shape: tuple[int, ...] = (2, 3), dtype: Any = np.float32) -> TensorSnapshot:
    values = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape).astype(dtype)
    return TensorSnapshot.from_array(name, values, param_id=7)


def _in(*container: str) -> ModuleContext:
    return ModuleContext(container)


# ---- contexts


@pytest.mark.parametrize(
    ("container", "module", "innermost"),
    [
        (("Struct:Model", "Struct:Linear"), "Struct:Linear", "Struct:Linear"),
        (("Struct:Model", "Vec"), "Struct:Model", "Vec"),
        (("Struct:Model", "Enum:ConvBlock", "Array"), "Enum:ConvBlock", "Array"),
        (("Vec",), None, "Vec"),
        ((), None, "Unknown"),
    ],
)
def test_a_context_tells_module_and_container(
    container: tuple[str, ...], module: str | None, innermost: str
) -> None:
    ctx = ModuleContext(list(container))
    assert (ctx.module_type(), ctx.container_type(), ctx.container) == (module, innermost, container)


def test_a_context_of_one_text_is_refused() -> None:
    with pytest.raises(
        TypeError, match="container must be several texts, got the single text 'Struct:Linear'"
    ):
        ModuleContext("Struct:Linear")


# ---- PyTorch


@pytest.mark.parametrize("adapter", [PyTorchToBurnAdapter(), BurnToPyTorchAdapter()])
@pytest.mark.parametrize(
    "dtype", [np.float32, np.int32, np.float64, np.float16, ml_dtypes.bfloat16, np.uint8]
)
def test_the_weight_of_a_linear_is_transposed(adapter: ModuleAdapter, dtype: Any) -> None:
    adapted = adapter.adapt(_tensor("fc.weight", dtype=dtype), _in("Struct:Model", "Struct:Linear"))
    assert (adapted.name, adapted.shape, adapted.param_id) == ("fc.weight", (3, 2), 7)
    assert adapted.to_numpy().astype(int).tolist() == [[1, 4], [2, 5], [3, 6]]
    assert adapted.to_numpy().dtype == dtype
    packed = adapted.into_pack()
    assert np.frombuffer(packed.to_bytes(), dtype).astype(int).tolist() == [1, 4, 2, 5, 3, 6]
    assert packed.param_id == 7


def test_a_square_weight_is_transposed_too() -> None:
    weight = TensorSnapshot.from_array("w.weight", np.array([[1.0, 2.0], [3.0, 4.0]]))
    adapted = PyTorchToBurnAdapter().adapt(weight, _in("Struct:Linear"))
    assert adapted.to_numpy().ravel().tolist() == [1.0, 3.0, 2.0, 4.0] and adapted.dtype == "f64"


@pytest.mark.parametrize(
    ("name", "shape", "container"),
    [
        ("fc.bias", (10,), ("Struct:Linear",)),
        ("fc.weight", (10,), ("Struct:Linear",)),
        ("fc.weight", (2, 3, 4), ("Struct:Linear",)),
        ("fc.weights", (2, 3), ("Struct:Linear",)),
        ("fc.weight", (2, 3), ("Enum:Linear",)),
        ("fc.weight", (2, 3), ("Struct:Linear", "Struct:Adapter")),
        ("fc.weight", (2, 3), ("Vec",)),
        ("fc.weight", (2, 3), ()),
        ("conv.weight", (4, 3, 3, 3), ("Struct:Conv2d",)),
        ("conv.weight", (4, 3, 3, 3), ("Struct:ConvTranspose2d",)),
        ("embedding.weight", (10, 4), ("Struct:Embedding",)),
        ("norm.running_mean", (4,), ("Struct:BatchNorm",)),
        ("norm.running_var", (4,), ("Struct:BatchNorm",)),
        ("norm.weight", (4,), ("Struct:InstanceNorm",)),
        ("act.weight", (1,), ("Struct:PRelu",)),
        ("act.alpha", (1,), ("Struct:PRelu",)),
    ],
)
def test_everything_else_is_the_same_object(
    name: str, shape: tuple[int, ...], container: tuple[str, ...]
) -> None:
    tensor = _tensor(name, shape)
    for adapter in (PyTorchToBurnAdapter(), BurnToPyTorchAdapter(), IdentityAdapter()):
        assert adapter.adapt(tensor, _in(*container)) is tensor


def test_the_items_of_a_list_are_the_module_s_own() -> None:
    adapted = PyTorchToBurnAdapter().adapt(_tensor("layers.weight"), _in("Struct:Linear", "Vec"))
    assert adapted.shape == (3, 2)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("torch_name", "burn_name"), [("weight", "gamma"), ("bias", "beta")])
def test_the_parameters_of_a_norm_are_renamed_and_back(norm: str, torch_name: str, burn_name: str) -> None:
    ctx = _in("Struct:Model", f"Struct:{norm}")
    burn = PyTorchToBurnAdapter().adapt(_tensor(f"a.norm.{torch_name}", (4,)), ctx)
    assert (
        burn.name == f"a.norm.{burn_name}" and burn.to_numpy().tolist() == [1, 2, 3, 4] and burn.param_id == 7
    )
    assert BurnToPyTorchAdapter().adapt(burn, ctx).name == f"a.norm.{torch_name}"
    assert PyTorchToBurnAdapter().adapt(burn, ctx) is burn
    assert PyTorchToBurnAdapter().adapt(_tensor(torch_name, (4,)), ctx).name == burn_name


@pytest.mark.parametrize("norm", NORMS)
def test_the_other_name_of_a_norm_s_parameter_is_told(norm: str) -> None:
    to_burn = PyTorchToBurnAdapter().get_alternative_param_name
    to_pytorch = BurnToPyTorchAdapter().get_alternative_param_name
    container = f"Struct:{norm}"
    assert (to_burn("gamma", container), to_burn("beta", container)) == ("weight", "bias")
    assert (to_pytorch("weight", container), to_pytorch("bias", container)) == ("gamma", "beta")
    assert to_burn("weight", container) is None and to_pytorch("gamma", container) is None
    assert to_burn("running_mean", container) is None


@pytest.mark.parametrize("container", ["Struct:Linear", "Struct:InstanceNorm", "BatchNorm", ""])
def test_no_other_name_is_told_outside_of_norms(container: str) -> None:
    assert PyTorchToBurnAdapter().get_alternative_param_name("gamma", container) is None
    assert BurnToPyTorchAdapter().get_alternative_param_name("weight", container) is None
    assert IdentityAdapter().get_alternative_param_name("gamma", "Struct:BatchNorm") is None


def test_a_quantized_weight_passes_untransposed() -> None:
    quantized = TensorSnapshot.from_pack(
        Tensor("fc.weight", QuantScheme(value="Q4F"), (3, 3), data=bytes(16))
    )
    assert PyTorchToBurnAdapter().adapt(quantized, _in("Struct:Linear")) is quantized


def test_a_packed_weight_is_not_silently_left_as_it_is() -> None:
    packed = TensorSnapshot("fc.weight", "f4e2m1fn", (4, 2), lambda: bytes(4))
    with pytest.raises(DTypeError, match=r"'fc.weight': f4e2m1fn is packed and cannot be transposed"):
        PyTorchToBurnAdapter().adapt(packed, _in("Struct:Linear"))


def test_a_transpose_is_announced_at_once_and_made_when_it_is_drawn() -> None:
    drawn: list[str] = []

    def provide() -> np.ndarray[Any, Any]:
        drawn.append("fc")
        return np.zeros((5, 10), np.float32)

    adapted = PyTorchToBurnAdapter().adapt(
        TensorSnapshot("fc.weight", "f32", (5, 10), provide), _in("Struct:Linear")
    )
    packed = adapted.into_pack()
    assert (adapted.shape, adapted.nbytes, packed.byte_len(), drawn) == ((10, 5), 200, 200, [])
    packed.to_bytes()
    adapted.to_numpy()
    assert drawn == ["fc", "fc"]


# ---- chains


def test_a_chain_adapts_with_one_after_the_other() -> None:
    chain = PyTorchToBurnAdapter().chain(HalfPrecisionAdapter())
    adapted = chain.adapt(_tensor("fc.weight", (10, 5)), _in("Struct:Linear"))
    assert (adapted.shape, adapted.dtype, adapted.to_numpy()[1, 0]) == ((5, 10), "f16", 2.0)
    assert repr(chain) == "ChainAdapter(PyTorchToBurnAdapter(), HalfPrecisionAdapter(to=None))"


class _Names(ModuleAdapter):
    def __init__(self, **names: str) -> None:
        self.names = names

    def adapt(self, tensor: TensorSnapshot, ctx: ModuleContext) -> TensorSnapshot:
        return tensor

    def get_alternative_param_name(self, param_name: str, container_type: str) -> str | None:
        return self.names.get(param_name)


@pytest.mark.parametrize(
    ("first", "next", "name"),
    [
        (_Names(a="b"), _Names(b="c"), "c"),
        (_Names(a="b"), _Names(a="x"), "b"),
        (_Names(), _Names(a="x"), "x"),
        (_Names(), _Names(), None),
        (IdentityAdapter(), _Names(a="x").chain(_Names(x="y")), "y"),
    ],
)
def test_a_chain_asks_the_second_for_the_first_one_s_answer(
    first: ModuleAdapter, next: ModuleAdapter, name: str | None
) -> None:
    assert ChainAdapter(first, next).get_alternative_param_name("a", "Struct:Any") == name


def test_a_chain_of_something_else_is_refused() -> None:
    with pytest.raises(TypeError, match="a chain needs adapters, got function"):
        IdentityAdapter().chain(lambda tensor: tensor)  # type: ignore[arg-type]


def test_an_adapter_without_adapt_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"ModuleAdapter must define adapt\(\)"):
        ModuleAdapter().adapt(_tensor("w"), _in())


# ---- half precision


@pytest.mark.parametrize("module", HALVED)
def test_half_precision_turns_each_into_the_other(module: str) -> None:
    ctx = _in("Struct:Model", f"Struct:{module}")
    half = HalfPrecisionAdapter().adapt(_tensor("m.weight"), ctx)
    assert (half.dtype, half.shape, half.param_id) == ("f16", (2, 3), 7)
    assert half.to_numpy().dtype == np.float16
    single = HalfPrecisionAdapter().adapt(half, ctx)
    assert single.dtype == "f32" and single.to_numpy().tolist() == [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    ("dtype", "container"),
    [
        (np.float32, ("Struct:BatchNorm",)),
        (np.float32, ("Struct:Mine",)),
        (np.float32, ("Enum:Linear",)),
        (np.float32, ()),
        (np.float64, ("Struct:Linear",)),
        (ml_dtypes.bfloat16, ("Struct:Linear",)),
        (np.int32, ("Struct:Linear",)),
        (np.bool_, ("Struct:Linear",)),
    ],
)
def test_half_precision_leaves_the_rest(dtype: Any, container: tuple[str, ...]) -> None:
    tensor = _tensor("m.weight", dtype=dtype)
    assert HalfPrecisionAdapter().adapt(tensor, _in(*container)) is tensor


@pytest.mark.parametrize(
    ("to", "dtype", "result"),
    [
        ("f16", np.float32, "f16"),
        ("f16", np.float16, "f16"),
        ("f32", np.float16, "f32"),
        ("f32", np.float32, "f32"),
    ],
)
def test_half_precision_goes_one_way_where_one_is_named(to: Any, dtype: Any, result: str) -> None:
    adapter = HalfPrecisionAdapter(to=to)
    assert adapter.adapt(_tensor("fc.weight", dtype=dtype), _in("Struct:Linear")).dtype == result


def test_modules_are_added_and_taken_away() -> None:
    tensor = _tensor("m.weight")
    adapter = (
        HalfPrecisionAdapter()
        .with_module("BatchNorm")
        .with_module("Enum:Mine")
        .without_module("Struct:Linear")
    )
    for container, dtype in [("Struct:BatchNorm", "f16"), ("Enum:Mine", "f16"), ("Struct:Linear", "f32")]:
        assert adapter.adapt(tensor, _in(container)).dtype == dtype
    assert HalfPrecisionAdapter().adapt(tensor, _in("Struct:Linear")).dtype == "f16"


@pytest.mark.parametrize("name", ["BatchNorm", "Enum:Linear", ""])
def test_a_module_that_is_not_there_cannot_be_taken_away(name: str) -> None:
    with pytest.raises(ValueError, match="is none of Struct:Conv1d"):
        HalfPrecisionAdapter().without_module(name)


def test_half_precision_has_two_directions() -> None:
    with pytest.raises(ValueError, match="to must be 'f16', 'f32' or None, got 'bf16'"):
        HalfPrecisionAdapter(to="bf16")  # type: ignore[arg-type]


# ---- casts

FLOATS = ["f64", "f32", "flex32", "f16", "bf16"]


@pytest.mark.parametrize("source", [*FLOATS, "f8e4m3fn", "f8e5m2"])
@pytest.mark.parametrize("target", FLOATS)
def test_every_float_is_cast_whatever_the_module(source: str, target: str) -> None:
    values = np.array([1.0, -2.0, 0.5]).astype(numpy_dtype(source))
    tensor = TensorSnapshot("w", source, (3,), lambda: values)
    adapted = FloatCastAdapter.to(target).adapt(tensor, _in())
    assert adapted.dtype == target and (adapted is tensor) == (source == target)
    assert adapted.to_numpy().astype(float).tolist() == [1.0, -2.0, 0.5]


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint32, np.bool_, np.complex64])
def test_what_is_no_float_is_not_cast(dtype: Any) -> None:
    tensor = _tensor("w", dtype=dtype)
    assert FloatCastAdapter.to("f16").adapt(tensor, _in()) is tensor


def test_a_quantized_tensor_is_not_cast() -> None:
    quantized = TensorSnapshot.from_pack(Tensor("w", QuantScheme(), (8,), data=bytes(12)))
    assert FloatCastAdapter.to("f16").adapt(quantized, _in()) is quantized


@pytest.mark.parametrize("dtype", ["i32", "bool", "f8e4m3fn", np.int32])
def test_a_cast_to_what_is_no_float_is_refused(dtype: Any) -> None:
    with pytest.raises(ValueError, match="dtype must be a float that Burn knows, got"):
        FloatCastAdapter.to(dtype)


@pytest.mark.parametrize("dtype", ["F16", "qfloat", object])
def test_a_cast_to_an_unknown_dtype_is_refused(dtype: Any) -> None:
    with pytest.raises(DTypeError, match=r"dtype"):
        FloatCastAdapter.to(dtype)


def _cast(values: Any, dtype: Any, target: str) -> np.ndarray[Any, Any]:
    tensor = TensorSnapshot.from_array("w", np.array(values, dtype))
    return FloatCastAdapter.to(target).adapt(tensor, _in()).to_numpy()


@pytest.mark.parametrize(
    ("dtype", "target", "values", "results"),
    [
        # halfway between two f16: to the even one
        (np.float32, "f16", [2049.0, 2051.0], [2048.0, 2052.0]),
        (np.float32, "bf16", [257.0, 259.0], [256.0, 260.0]),
        (np.float32, "f16", [65519.0, 65520.0, -1e30], [65504.0, np.inf, -np.inf]),
        (np.float32, "bf16", [3.4e38, -3.4e38], [np.inf, -np.inf]),
        (np.float32, "f16", [2.0**-24, 2.0**-26], [2.0**-24, 0.0]),
        # f64 is rounded to f32 first: just above halfway becomes halfway, and then even
        (np.float64, "f16", [2049.0 + 2**-40], [2048.0]),
        (np.float64, "bf16", [257.0 + 2**-40], [256.0]),
        (np.float64, "f32", [1e300, 0.1], [np.inf, float(np.float32(0.1))]),
        (ml_dtypes.bfloat16, "f16", [1, -2, 0.5, 4, -0.25, 8], [1, -2, 0.5, 4, -0.25, 8]),
        (ml_dtypes.bfloat16, "f16", [1e30], [np.inf]),
        (np.float16, "f32", [2.0**-24, 65504.0], [2.0**-24, 65504.0]),
        (ml_dtypes.bfloat16, "f32", [2.0**-130], [2.0**-130]),
        (np.float16, "f64", [0.1], [float(np.float16(0.1))]),
    ],
)
def test_casts_round_to_the_nearest_even(dtype: Any, target: str, values: Any, results: Any) -> None:
    assert _cast(values, dtype, target).astype(float).tolist() == results


@pytest.mark.parametrize("target", FLOATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16])
def test_what_is_no_number_stays_none(dtype: Any, target: str) -> None:
    assert np.isnan(_cast([np.nan, -np.nan], dtype, target).astype(float)).all()
    assert _cast([np.inf, -np.inf, -0.0], dtype, target).astype(float).tolist() == [np.inf, -np.inf, 0.0]
    assert np.signbit(_cast([-0.0], dtype, target).astype(float)).all()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0), (1,)])
def test_any_shape_is_cast(shape: tuple[int, ...]) -> None:
    adapted = FloatCastAdapter.to("bf16").adapt(_tensor("w", shape), _in())
    assert adapted.to_numpy().shape == shape == adapted.shape
    assert adapted.into_pack().byte_len() == adapted.nbytes == 2 * int(np.prod(shape))


# ---- modules guessed


@pytest.mark.parametrize(
    ("shapes", "module"),
    [
        ({"m.weight": (5, 10), "m.bias": (5,)}, "Linear"),
        ({"m.weight": (5, 10)}, "Linear"),
        ({"weight": (5, 10)}, "Linear"),
        ({"0.weight": (5, 10)}, "Linear"),
        ({"lm_head.weight": (100, 8)}, "Linear"),
        ({"embed_out.weight": (100, 8)}, "Linear"),
        ({"embed.weight": (8, 8), "embed.bias": (8,)}, "Linear"),
        ({"pos_proj.weight": (8, 8)}, "Linear"),
        ({"possible.weight": (8, 8)}, "Linear"),
        ({"embedding.weight": (100, 8)}, "Embedding"),
        ({"model.embed_tokens.weight": (100, 8)}, "Embedding"),
        ({"transformer.wte.weight": (100, 8)}, "Embedding"),
        ({"wpe.weight": (100, 8)}, "Embedding"),
        ({"tok_emb.weight": (100, 8)}, "Embedding"),
        ({"tokEmbeddings.0.weight": (100, 8)}, "Embedding"),
        ({"pos.weight": (100, 8)}, "Embedding"),
        ({"shared.weight": (100, 8)}, "Embedding"),
        ({"bn.weight": (4,), "bn.bias": (4,), "bn.running_mean": (4,), "bn.running_var": (4,)}, "BatchNorm"),
        ({"bn.running_mean": (4,), "bn.running_var": (4,), "bn.num_batches_tracked": ()}, "BatchNorm"),
        ({"bn.gamma": (4,), "bn.beta": (4,), "bn.running_mean": (4,), "bn.running_var": (4,)}, "BatchNorm"),
        ({"norm.weight": (4,), "norm.bias": (4,)}, "LayerNorm"),
        ({"norm.weight": (4,)}, "RmsNorm"),
        ({"norm.gamma": (4,), "norm.beta": (4,)}, "LayerNorm"),
        ({"norm.gamma": (4,)}, "RmsNorm"),
        ({"c.weight": (4, 3, 3), "c.bias": (4,)}, "Conv1d"),
        ({"c.weight": (4, 3, 3, 3)}, "Conv2d"),
        ({"c.weight": (4, 3, 3, 3, 3)}, "Conv3d"),
        ({"act.weight": (1,)}, None),
        ({"prelu1.weight": (8,)}, None),
        ({"m.bias": (8,)}, None),
        ({"m.weight": ()}, None),
        ({"m.weight": (1, 1, 1, 1, 1, 1)}, None),
        ({"m.running_mean": (4,)}, None),
    ],
)
def test_a_module_is_told_by_names_and_shapes(shapes: dict[str, tuple[int, ...]], module: str | None) -> None:
    found = infer_contexts(shapes)
    (guess,) = found.guesses
    assert guess.module_type == (module and f"Struct:{module}") and guess.reason
    assert set(found.contexts) == (set(shapes) if module else set())
    assert {ctx.module_type() for ctx in found.contexts.values()} <= {guess.module_type}
    assert not found.unconvertible


def test_an_encoder_layer_of_pytorch_is_told_apart() -> None:
    shapes = {
        "self_attn.in_proj_weight": (24, 8), "self_attn.in_proj_bias": (24,),
        "self_attn.out_proj.weight": (8, 8), "self_attn.out_proj.bias": (8,),
        "linear1.weight": (32, 8), "linear1.bias": (32,), "norm1.weight": (8,), "norm1.bias": (8,),
    }  # fmt: skip
    found = infer_contexts(shapes)
    assert {guess.path: guess.module_type for guess in found.guesses} == {
        "self_attn.out_proj": "Struct:Linear",
        "linear1": "Struct:Linear",
        "norm1": "Struct:LayerNorm",
    }
    assert list(found.unconvertible) == ["self_attn.in_proj_weight", "self_attn.in_proj_bias"]
    assert "split" in found.unconvertible["self_attn.in_proj_weight"]
    assert "self_attn.in_proj_weight" not in found.contexts


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("rnn.weight_ih_l0", "gates"),
        ("rnn.bias_hh_l1_reverse", "gates"),
        ("fc.weight_g", "weight norm"),
        ("fc.parametrizations.weight.original1", "weight norm"),
        ("attn.q_proj_weight", "attention"),
        ("attn.bias_k", "attention"),
    ],
)
def test_what_no_renaming_carries_over_is_listed_with_the_reason(name: str, word: str) -> None:
    found = infer_contexts({name: (4, 4)})
    assert list(found.unconvertible) == [name] and word in found.unconvertible[name]
    assert not found.contexts and not found.guesses


def test_other_tensors_are_left_alone_without_a_word() -> None:
    found = infer_contexts({"freqs": (4, 4), "rope.inv_freq": (4,), "": (1,)})
    assert not found.contexts and not found.guesses and not found.unconvertible


def test_a_guess_carries_pytorch_s_names_into_burn_s_and_back() -> None:
    names = ["fc.weight", "fc.bias", "norm.weight", "norm.bias", "emb.weight"]
    tensors = [
        _tensor(name, shape) for name, shape in zip(names, [(2, 3), (2,), (4,), (4,), (5, 2)], strict=True)
    ]
    burn = _adapted(tensors, PyTorchToBurnAdapter())
    assert [(tensor.name, tensor.shape) for tensor in burn] == [
        ("fc.weight", (3, 2)), ("fc.bias", (2,)), ("norm.gamma", (4,)), ("norm.beta", (4,)), ("emb.weight", (5, 2)),
    ]  # fmt: skip
    back = _adapted(burn, BurnToPyTorchAdapter())
    assert [tensor.name for tensor in back] == names
    assert all(np.array_equal(a.to_numpy(), b.to_numpy()) for a, b in zip(back, tensors, strict=True))


def _adapted(tensors: list[TensorSnapshot], adapter: ModuleAdapter) -> list[TensorSnapshot]:
    contexts = infer_contexts({tensor.name: tensor.shape for tensor in tensors}).contexts
    return [adapter.adapt(tensor, contexts[tensor.name]) for tensor in tensors]


@pytest.mark.parametrize(
    "make", [lambda: infer_contexts(["a.weight"]), lambda: infer_contexts({"a.weight": 3})]
)
def test_shapes_of_the_wrong_type_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises((AttributeError, TypeError)):
        make()
