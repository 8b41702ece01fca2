"""The modules of the golden folder `burn/modules` that are no single layers."""

from collections.abc import Sequence
from typing import Any

from burnpy import Tensor, nn
from burnpy.module import (
    ArrayModule,
    Calibration,
    EnumModule,
    Flag,
    Initializer,
    Lora,
    Module,
    Param,
    ParamGroup,
    QLora,
    Quantizer,
    Reparameterization,
    RunningState,
)
from burnpy.nn.activation import ActivationConfig
from burnpy.pack import QuantScheme


def linear(d_input: int, d_output: int, *, bias: bool = True) -> nn.Linear:
    return nn.LinearConfig(d_input, d_output, bias=bias).init()


def one() -> Param:
    return Param.from_tensor(Tensor.ones((1,)))


class Block(Module):
    def __init__(self, d_input: int, d_output: int) -> None:
        self.linear = linear(d_input, d_output)
        self.norm = nn.LayerNormConfig(d_output).init()
        self.scale = one()
        self.activation = nn.Relu()
        self.factor = 0.5
        self.label = "block"

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm(self.activation(self.linear(x)))
        scaled: Tensor = y * self.scale.val().unsqueeze(2) * self.factor
        return scaled


class Containers(Module):
    def __init__(self, d: int, d_output: int, blocks: int, rows: int) -> None:
        self.first = Block(d, d)
        self.blocks = [Block(d, d) for _ in range(blocks)]
        self.pair = (linear(d, d), Block(d, d))
        self.triple = (linear(d, d), nn.LayerNormConfig(d).init(), linear(d, d))
        self.array = ArrayModule([linear(d, d), linear(d, d)])
        self.maybe: nn.Linear | None = linear(d, d, bias=False)
        self.absent: nn.Linear | None = None
        self.empty: list[nn.Linear] = []
        self.nested = [[linear(d, d), linear(d, d)] for _ in range(rows)]
        self.optional_list = [linear(d, d), None, linear(d, d)]
        self.table = Tensor.ones((3,))
        self.number = 7
        self.head = linear(d, d_output)

    def forward(self, x: Tensor) -> Tensor:
        layers = [self.first, *self.blocks, *self.pair, *self.triple, *self.array, self.maybe]
        for layer in filter(None, layers):
            x = layer(x)
        for row in self.nested:
            for layer in row:
                x = layer(x).tanh()
        for layer in filter(None, self.optional_list):
            x = layer(x)
        y: Tensor = self.head(x)
        return y


class Mixer(EnumModule):
    def __init__(self, kind: str, d: int) -> None:
        made = {
            "Dense": lambda: linear(d, d),
            "Norm": nn.LayerNormConfig(d).init,
            "Wide": lambda: Block(d, d),
        }
        layer: Module = made[kind]()  # type: ignore[operator]
        setattr(self, kind, layer)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.payload(x)  # type: ignore[operator]
        return y


class Enums(Module):
    def __init__(self, d: int, variants: Sequence[str]) -> None:
        self.one = Mixer("Dense", d)
        self.many = [Mixer(variant, d) for variant in variants]
        self.activation = ActivationConfig.PRelu(nn.PReluConfig()).init()

    def forward(self, x: Tensor) -> Tensor:
        x = self.one(x)
        for mixer in self.many:
            x = self.activation(mixer(x))
        return x


class Kinds(Module):
    _skipped = frozenset({"skipped"})

    def __init__(self, d_input: int, d_output: int) -> None:
        self.weight = Param.from_tensor(Tensor.ones((d_input, d_output)))
        self.scalar = one()
        self.cube = Param.from_tensor(Tensor.ones((1, d_input, d_output)))
        self.offsets = Param.from_tensor(Tensor.zeros((d_output,), dtype="i32"))
        self.grid = Param.from_tensor(Tensor.zeros((d_input, 2), dtype="i32"))
        self.keep = Param.from_tensor(Tensor.zeros((1, d_output), dtype="bool"))
        self.frozen = Param.from_tensor(Tensor.ones((d_output,))).set_require_grad(False)
        self.enabled = Flag(True)
        self.running_level = RunningState(Tensor.ones((d_output,)))
        self.skipped: float | None = 1.5

    def forward(self, x: Tensor) -> Tensor:
        y = x.matmul(self.weight.val() + self.cube.val().squeeze_dim(0)) * self.scalar.val().unsqueeze(2)
        y = y + self.offsets.val().cast(y.dtype).unsqueeze(2) * 0.001 + self.frozen.val().unsqueeze(2)
        y = y + self.running_level.value().unsqueeze(2)
        return y.mask_fill(self.keep.val().expand(*y.shape), 0.25)


class Tied(Module):
    def __init__(self, n: int, d: int) -> None:
        self.embed = nn.EmbeddingConfig(n, d).init()
        self.hidden = linear(d, d)
        self.decode = self.embed.weight

    def forward(self, tokens: Tensor) -> Tensor:
        hidden: Tensor = self.hidden(self.embed(tokens)).tanh()
        return hidden.matmul(self.decode.val().transpose().unsqueeze(3))


class Residual(Module):
    def __init__(self, inner: Module) -> None:
        self.inner = inner
        self.gate = one()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.inner(x)
        return x + y * self.gate.val().unsqueeze(2)


class Mlp(Module):
    def __init__(self, d_input: int, d_hidden: int, d_output: int) -> None:
        self.fc1 = linear(d_input, d_hidden)
        self.fc2 = linear(d_hidden, d_output)
        self.activation = nn.Gelu()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.fc2(self.activation(self.fc1(x)))
        return y


class Mapped(Module):
    """In memory `[in, out]`, in the record `[out, in]`; and a shift that is recorded doubled."""

    def __init__(self, d_input: int, d_output: int, *, lazy: bool) -> None:
        if lazy:
            weight = Initializer.Ones().init((d_output, d_input)).init_mapper(Tensor.transpose)
        else:
            weight = Param.from_tensor(Tensor.ones((d_input, d_output)))
        self.weight = weight.save_mapper(Tensor.transpose).load_mapper(Tensor.transpose)
        shift = Param.from_tensor(Tensor.ones((d_output,)))
        self.shift = shift.save_mapper(lambda t: t * 2.0).load_mapper(lambda t: t / 2.0)

    def forward(self, x: Tensor) -> Tensor:
        return x.matmul(self.weight.val()) + self.shift.val().unsqueeze(2)


class ScaleBy(Reparameterization):
    name = "scale_by"

    def __init__(self) -> None:
        self.factor = one()

    def apply(self, base: Tensor) -> Tensor:
        return base * self.factor.val().unsqueeze(base.rank())


class ScaleWeights:
    def reparameterize(self, path: str, param: Param) -> ScaleBy | None:
        return ScaleBy() if path.endswith("weight") else None


class ConvBlock(Module):
    def __init__(self, channels: int, *, shortcut: bool) -> None:
        self.conv = _conv(channels, channels, 3)
        self.norm = nn.BatchNormConfig(channels).init()
        self.shortcut = _conv(channels, channels, 1) if shortcut else None

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(self.conv(x))
        return (y + (x if self.shortcut is None else self.shortcut(x))).relu()


class Cnn(Module):
    def __init__(self, channels: int, shortcuts: Sequence[bool], prob: float, classes: int) -> None:
        self.conv1 = _conv(2, channels, 3)
        self.norm1 = nn.BatchNormConfig(channels).init()
        self.blocks = [ConvBlock(channels, shortcut=shortcut) for shortcut in shortcuts]
        self.pool = nn.AdaptiveAvgPool2dConfig((2, 2)).init()
        self.dropout = nn.DropoutConfig(prob).init()
        self.fc = linear(channels * 4, classes)

    def forward(self, images: Tensor) -> Tensor:
        x = self.norm1(self.conv1(images)).relu()
        for block in self.blocks:
            x = block(x)
        y: Tensor = self.fc(self.dropout(self.pool(x).flatten(1, 3)))
        return y


class Deep(Module):
    def __init__(self, count: int, d: int) -> None:
        self.layers = [linear(d, d) for _ in range(count)]

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x).tanh()
        return x


class Tree(EnumModule):
    """A plan is `Leaf`, `Norm`, or the children of a branch with what else it has."""

    def __init__(self, plan: Any, d: int) -> None:
        if plan == "Leaf":
            self.Leaf = linear(d, d)
        elif plan == "Norm":
            self.Norm = nn.LayerNormConfig(d).init()
        else:
            self.Branch = Branch(plan, d)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.payload(x)  # type: ignore[operator]
        return y.tanh() if self.variant == "Leaf" else y


class Branch(Module):
    def __init__(self, plan: dict[str, Any], d: int) -> None:
        self.children = [Tree(child, d) for child in plan["children"]]
        self.gate = one() if plan["gate"] else None
        self.last = (linear(d, d), nn.LayerNormConfig(d).init() if plan["norm"] else None)

    def forward(self, x: Tensor) -> Tensor:
        y = x
        for child in self.children:
            y = child(y)
        if self.gate is not None:
            y = y * self.gate.val().unsqueeze(2)
        y = self.last[0](y) + x
        return y if self.last[1] is None else self.last[1].forward(y)


def _conv(channels_in: int, channels_out: int, size: int) -> nn.Conv2d:
    config = nn.Conv2dConfig((channels_in, channels_out), (size, size), padding=nn.PaddingConfig2d.Same())
    return config.init()


def _quantizer(value: str) -> Quantizer:
    """The record that is loaded brings its own blocks."""
    return Quantizer(Calibration.MinMax, QuantScheme(value=value, store="Native"))


def build(name: str, told: dict[str, Any]) -> Any:
    """The module of a case, of the sizes that its record tells."""
    shapes = {tensor["name"]: tensor["shape"] for tensor in told["tensors"]}
    d = next(iter(shapes.values()))[0]
    sizes = told.get("sizes", [])
    match name.removeprefix("user_"):
        case "containers":
            return Containers(*sizes)
        case "enums":
            return Enums(d, told["variants"])
        case "kinds":
            return Kinds(*shapes["weight"])
        case "tied":
            return Tied(*shapes["embed.weight"])
        case "generic":
            return Residual(Residual(Residual(linear(d, d))))
        case "mlp_frozen_group":
            return Mlp(*sizes).freeze_group(ParamGroup.from_predicate("fc1"))
        case "mapped" | "mapped_eager":
            return Mapped(*reversed(shapes["weight"]), lazy=name == "user_mapped")
        case "mlp_f16" | "mlp_bf16" | "mlp_f64":
            return Mlp(*sizes).no_grad()
        case "lora":
            return Mlp(*sizes).apply_lora(Lora(**told["lora"]))
        case "qlora":
            return Mlp(*sizes).apply_qlora(QLora(Lora(**told["lora"]), _quantizer("Q8S")))
        case "quantized_q8s" | "quantized_q8f_all" | "quantized_q4s_block":
            group = ParamGroup.all() if name.endswith("all") else ParamGroup.from_predicate("weight")
            return Mlp(*sizes).quantize_weights_group(_quantizer(told["scheme"]["value"]), group)
        case "lora_group":
            lora = Lora(**told["lora"], group=ParamGroup.from_predicate("fc2"))
            return Mlp(*sizes).apply_lora(lora)
        case "lora_merged":
            return Mlp(*sizes).apply_lora(Lora(**told["lora"])).materialize()
        case "reparam_custom":
            return Mlp(*sizes).apply_reparameterization(ScaleWeights())
        case "cnn_plain" | "cnn_dropout":
            prob = 0.0 if name == "user_cnn_plain" else 0.25
            return Cnn(d, told["shortcuts"], prob, shapes["fc.bias"][0])
        case "deep":
            return Deep(len(shapes) // 2, d)
        case "tree":
            return Tree(told["tree"], d)
        case _:
            return Mlp(*sizes)
