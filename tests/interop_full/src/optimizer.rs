//! Steps of an optimizer that goes on from a record.

use crate::parameters::{gradients, values};
use crate::request::{Request, config};
use burn::grad_clipping::{GradientClipping, GradientClippingConfig};
use burn::lr_scheduler::module_lr_scheduler::ModuleLrSchedulerConfig;
use burn::module::{Module, ParamGroup};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::nn::{LayerNorm, LayerNormConfig, Linear, LinearConfig};
use burn::optim::{
    AdaGradConfig, AdafactorConfig, AdamConfig, AdamWConfig, AdanConfig, LambConfig, LionConfig,
    ModuleOptimizer, MuonConfig, RmsPropConfig, SgdConfig,
};
use burn::tensor::Device;
use serde_json::{Value, json};

/// Parameters of ranks 1, 2 and 4. It is never run: its gradients are given.
#[derive(Module, Debug)]
struct Net {
    fc1: Linear,
    conv: Conv2d,
    norm: LayerNorm,
    fc2: Linear,
}

impl Net {
    fn new(device: &Device) -> Self {
        Self {
            fc1: LinearConfig::new(3, 5).init(device),
            conv: Conv2dConfig::new([2, 3], [2, 2]).init(device),
            norm: LayerNormConfig::new(5).init(device),
            fc2: LinearConfig::new(5, 2).init(device),
        }
    }
}

/// The parameters after each step. The last state is written, too.
pub fn run(request: &Request) -> Value {
    let mut model = request.load(Net::new(&Device::flex().autodiff()));
    let mut optim =
        optimizer(request.list("rules")).load(request.text("optim")).expect("a record that Burn reads");
    let rates: ModuleLrSchedulerConfig = config(request.get("rates"));
    let mut rates = rates.init().expect("rates");
    let mut after = Vec::new();
    for given in request.list("gradients") {
        let gradients = gradients(&model, given);
        model = optim.step(rates.step(), model, gradients);
        after.push(values(&model));
    }
    model.into_record().save(request.text("saved")).expect("a record that Burn writes");
    optim.to_record().save(request.text("saved_optim")).expect("a record that Burn writes");
    json!(after)
}

/// An optimizer of its rules: the first for all, each further one for a group.
pub fn optimizer(rules: &[Value]) -> ModuleOptimizer {
    let (first, groups) = rules.split_first().expect("a rule");
    groups.iter().fold(base(first), with_group)
}

macro_rules! of_its_kind {
    ($rule:expr, $config:ident => $then:expr; $($kind:ident),*) => {
        match $rule["type"].as_str().expect("a type") {
            $(stringify!($kind) => { let $config: $kind = config(&$rule["config"]); $then })*
            other => panic!("no such optimizer: {other}"),
        }
    };
}

fn base(rule: &Value) -> ModuleOptimizer {
    of_its_kind!(rule, config => config.init();
        SgdConfig, AdamConfig, AdamWConfig, AdaGradConfig, RmsPropConfig, AdanConfig, LionConfig, MuonConfig,
        AdafactorConfig, LambConfig)
}

fn with_group(optim: ModuleOptimizer, rule: &Value) -> ModuleOptimizer {
    let group: ParamGroup = serde_json::from_value(rule["group"].clone()).expect("a group that Burn reads");
    of_its_kind!(rule, config => optim.with_group(group, config.build(), clipping(&rule["clipping"]));
        SgdConfig, AdamConfig, AdamWConfig, AdaGradConfig, RmsPropConfig, AdanConfig, LionConfig, MuonConfig,
        AdafactorConfig, LambConfig)
}

fn clipping(given: &Value) -> Option<GradientClipping> {
    let config: Option<GradientClippingConfig> = serde_json::from_value(given.clone()).expect("a clipping");
    config.map(|config| config.init())
}
