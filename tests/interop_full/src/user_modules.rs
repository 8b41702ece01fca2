//! Modules as users write them; the fields have the names and the order of those in `tests/nn/composed.py`.

use crate::request::{Request, told};
use burn::module::{Flag, Lora, Module, Param, ParamId, RunningState};
use burn::nn::activation::{Activation, ActivationConfig};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::pool::{AdaptiveAvgPool2d, AdaptiveAvgPool2dConfig};
use burn::nn::{
    BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Embedding, EmbeddingConfig, Gelu, LayerNorm,
    LayerNormConfig, Linear, LinearConfig, PReluConfig, PaddingConfig2d, Relu,
};
use burn::tensor::{Bool, Device, FloatDType, Int, Tensor};
use serde_json::{Value, json};

/// The output of one of the modules below.
pub fn run(request: &Request) -> Value {
    let device = Device::flex();
    let output = match request.text("name") {
        "Containers" => {
            let [d, d_output, blocks, rows] = request.sizes();
            let module = request.load(Containers::new(d, d_output, blocks, rows, &device));
            told(module.forward(request.floats("x")))
        }
        "Enums" => {
            let [d] = request.sizes();
            let variants: Vec<_> =
                request.list("variants").iter().map(|v| v.as_str().expect("a name")).collect();
            told(request.load(Enums::new(d, &variants, &device)).forward(request.floats("x")))
        }
        "Kinds" => {
            let [d_input, d_output] = request.sizes();
            told(request.load(Kinds::new(d_input, d_output, &device)).forward(request.floats("x")))
        }
        "Tied" => {
            let [n, d] = request.sizes();
            told(request.load(Tied::new(n, d, &device)).forward(request.ints("x")))
        }
        "Residual" => {
            let [d] = request.sizes();
            let inner = Residual::new(Residual::new(linear(d, d, &device), &device), &device);
            let module = request.load(Residual::new(inner, &device));
            told(module.forward(request.floats("x")))
        }
        "Cnn" => {
            let [channels, classes] = request.sizes();
            told(request.load(Cnn::new(channels, classes, &device)).forward(request.floats("x")))
        }
        "Mlp" => told(request.load(Mlp::new(request.sizes(), &device)).forward(request.floats("x"))),
        "MlpLora" => {
            let module = Mlp::new(request.sizes(), &device).apply_lora(Lora::new(2, 3.0));
            told(request.load(module).forward(request.floats("x")))
        }
        "Bare" => {
            let [d_input, d_output] = request.sizes();
            let weight = Param::from_tensor(Tensor::<2>::zeros([d_input, d_output], &device));
            told(request.floats::<2>("x").matmul(request.load(weight).val()))
        }
        other => panic!("no such module: {other}"),
    };
    json!({"output": output})
}

fn linear(d_input: usize, d_output: usize, device: &Device) -> Linear {
    LinearConfig::new(d_input, d_output).init(device)
}

fn ones(count: usize, device: &Device) -> Param<Tensor<1>> {
    Param::from_tensor(Tensor::ones([count], device))
}

// ---- containers

#[derive(Module, Debug)]
struct Block {
    linear: Linear,
    norm: LayerNorm,
    scale: Param<Tensor<1>>,
    activation: Relu,
    factor: f64,
    label: String,
}

impl Block {
    fn new(d: usize, device: &Device) -> Self {
        Self {
            linear: linear(d, d, device),
            norm: LayerNormConfig::new(d).init(device),
            scale: ones(1, device),
            activation: Relu::new(),
            factor: 0.5,
            label: String::from("block"),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let y = self.norm.forward(self.activation.forward(self.linear.forward(x)));
        y * self.scale.val().unsqueeze() * self.factor
    }
}

#[derive(Module, Debug)]
struct Containers {
    first: Block,
    blocks: Vec<Block>,
    pair: (Linear, Block),
    triple: (Linear, LayerNorm, Linear),
    array: [Linear; 2],
    maybe: Option<Linear>,
    absent: Option<Linear>,
    empty: Vec<Linear>,
    nested: Vec<Vec<Linear>>,
    optional_list: Vec<Option<Linear>>,
    table: Tensor<1>,
    number: usize,
    head: Linear,
}

impl Containers {
    fn new(d: usize, d_output: usize, blocks: usize, rows: usize, device: &Device) -> Self {
        let square = || linear(d, d, device);
        let block = || Block::new(d, device);
        Self {
            first: block(),
            blocks: (0..blocks).map(|_| block()).collect(),
            pair: (square(), block()),
            triple: (square(), LayerNormConfig::new(d).init(device), square()),
            array: [square(), square()],
            maybe: Some(LinearConfig::new(d, d).with_bias(false).init(device)),
            absent: None,
            empty: Vec::new(),
            nested: (0..rows).map(|_| vec![square(), square()]).collect(),
            optional_list: vec![Some(square()), None, Some(square())],
            table: Tensor::ones([3], device),
            number: 7,
            head: linear(d, d_output, device),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let mut y = self.first.forward(x);
        for block in &self.blocks {
            y = block.forward(y);
        }
        y = self.pair.1.forward(self.pair.0.forward(y));
        y = self.triple.2.forward(self.triple.1.forward(self.triple.0.forward(y)));
        for layer in self.array.iter().chain(&self.maybe) {
            y = layer.forward(y);
        }
        for layer in self.nested.iter().flatten() {
            y = layer.forward(y).tanh();
        }
        for layer in self.optional_list.iter().flatten() {
            y = layer.forward(y);
        }
        self.head.forward(y)
    }
}

// ---- choices

#[derive(Module, Debug)]
enum Mixer {
    Dense(Linear),
    Norm(LayerNorm),
    Wide(Block),
}

impl Mixer {
    fn new(variant: &str, d: usize, device: &Device) -> Self {
        match variant {
            "Dense" => Self::Dense(linear(d, d, device)),
            "Norm" => Self::Norm(LayerNormConfig::new(d).init(device)),
            _ => Self::Wide(Block::new(d, device)),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Dense(layer) => layer.forward(x),
            Self::Norm(layer) => layer.forward(x),
            Self::Wide(layer) => layer.forward(x),
        }
    }
}

#[derive(Module, Debug)]
struct Enums {
    one: Mixer,
    many: Vec<Mixer>,
    activation: Activation,
}

impl Enums {
    fn new(d: usize, variants: &[&str], device: &Device) -> Self {
        Self {
            one: Mixer::new("Dense", d, device),
            many: variants.iter().map(|variant| Mixer::new(variant, d, device)).collect(),
            activation: ActivationConfig::PRelu(PReluConfig::new()).init(device),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let first = self.one.forward(x);
        self.many.iter().fold(first, |x, mixer| self.activation.forward(mixer.forward(x)))
    }
}

// ---- kinds of parameters, and what a record says of flags and running values

#[derive(Module, Debug)]
struct Kinds {
    weight: Param<Tensor<2>>,
    scalar: Param<Tensor<1>>,
    cube: Param<Tensor<3>>,
    offsets: Param<Tensor<1, Int>>,
    grid: Param<Tensor<2, Int>>,
    keep: Param<Tensor<2, Bool>>,
    frozen: Param<Tensor<1>>,
    enabled: Param<Flag>,
    running_level: RunningState<Tensor<1>>,
    #[module(skip)]
    skipped: Option<f32>,
}

impl Kinds {
    fn new(d_input: usize, d_output: usize, device: &Device) -> Self {
        let id = ParamId::new;
        Self {
            weight: Param::from_tensor(Tensor::zeros([d_input, d_output], device)),
            scalar: ones(1, device),
            cube: Param::from_tensor(Tensor::zeros([1, d_input, d_output], device)),
            offsets: Param::initialized(id(), Tensor::zeros([d_output], device)),
            grid: Param::initialized(id(), Tensor::zeros([d_input, 2], device)),
            keep: Param::initialized(id(), Tensor::<2, Int>::zeros([1, d_output], device).bool()),
            frozen: ones(d_output, device).set_require_grad(false),
            enabled: Param::from_bool(true),
            running_level: RunningState::new(Tensor::zeros([d_output], device)),
            skipped: Some(1.5),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let weight = self.weight.val() + self.cube.val().squeeze_dim(0);
        let y = x.matmul(weight) * self.scalar.val().unsqueeze();
        let y = y + self.offsets.val().float().unsqueeze() * 0.001 + self.frozen.val().unsqueeze();
        let y = y + self.running_level.value().unsqueeze();
        let shape = y.dims();
        y.mask_fill(self.keep.val().expand(shape), 0.25)
    }
}

// ---- one parameter under two paths

#[derive(Module, Debug)]
struct Tied {
    embed: Embedding,
    hidden: Linear,
    decode: Param<Tensor<2>>,
}

impl Tied {
    fn new(n: usize, d: usize, device: &Device) -> Self {
        let embed = EmbeddingConfig::new(n, d).init(device);
        let decode = embed.weight.clone();
        Self { embed, hidden: linear(d, d, device), decode }
    }

    fn forward(&self, tokens: Tensor<2, Int>) -> Tensor<3> {
        let hidden = self.hidden.forward(self.embed.forward(tokens)).tanh();
        hidden.matmul(self.decode.val().transpose().unsqueeze())
    }
}

// ---- a generic wrapper

#[derive(Module, Debug)]
struct Residual<M: Module> {
    inner: M,
    gate: Param<Tensor<1>>,
}

impl<M: Module> Residual<M> {
    fn new(inner: M, device: &Device) -> Self {
        Self { inner, gate: ones(1, device) }
    }

    fn add(&self, x: Tensor<2>, y: Tensor<2>) -> Tensor<2> {
        x + y * self.gate.val().unsqueeze()
    }
}

impl Residual<Residual<Residual<Linear>>> {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let (middle, innermost) = (&self.inner, &self.inner.inner);
        let y = innermost.add(x.clone(), innermost.inner.forward(x.clone()));
        let y = middle.add(x.clone(), y);
        self.add(x, y)
    }
}

// ---- convolutions and running statistics

#[derive(Module, Debug)]
struct ConvBlock {
    conv: Conv2d,
    norm: BatchNorm,
    shortcut: Option<Conv2d>,
}

#[derive(Module, Debug)]
struct Cnn {
    conv1: Conv2d,
    norm1: BatchNorm,
    blocks: Vec<ConvBlock>,
    pool: AdaptiveAvgPool2d,
    dropout: Dropout,
    fc: Linear,
}

impl Cnn {
    /// Two blocks, the second with a shortcut.
    fn new(channels: usize, classes: usize, device: &Device) -> Self {
        let conv = |from, size| {
            let config =
                Conv2dConfig::new([from, channels], [size, size]).with_padding(PaddingConfig2d::Same);
            config.init(device)
        };
        let norm = || BatchNormConfig::new(channels).init(device);
        let block = |shortcut: bool| ConvBlock {
            conv: conv(channels, 3),
            norm: norm(),
            shortcut: shortcut.then(|| conv(channels, 1)),
        };
        Self {
            conv1: conv(2, 3),
            norm1: norm(),
            blocks: vec![block(false), block(true)],
            pool: AdaptiveAvgPool2dConfig::new([2, 2]).init(),
            dropout: DropoutConfig::new(0.25).init(),
            fc: linear(channels * 4, classes, device),
        }
    }

    fn forward(&self, images: Tensor<4>) -> Tensor<2> {
        let relu = Relu::new();
        let mut x = relu.forward(self.norm1.forward(self.conv1.forward(images)));
        for block in &self.blocks {
            let y = block.norm.forward(block.conv.forward(x.clone()));
            let skipped = block.shortcut.as_ref().map_or(x.clone(), |conv| conv.forward(x));
            x = relu.forward(y + skipped);
        }
        self.fc.forward(self.dropout.forward(self.pool.forward(x).flatten(1, 3)))
    }
}

// ---- two layers, in any precision, with or without factors

#[derive(Module, Debug)]
struct Mlp {
    fc1: Linear,
    fc2: Linear,
    activation: Gelu,
}

impl Mlp {
    fn new([d_input, d_hidden, d_output]: [usize; 3], device: &Device) -> Self {
        Self {
            fc1: linear(d_input, d_hidden, device),
            fc2: linear(d_hidden, d_output, device),
            activation: Gelu::new(),
        }
    }

    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = x.cast(FloatDType::from(self.fc1.weight.val().dtype()));
        self.fc2.forward(self.activation.forward(self.fc1.forward(x)))
    }
}
