//! L-BFGS, which evaluates the loss as often as it likes, going on from a record.

use crate::parameters::values;
use crate::request::{Request, config, data};
use burn::module::Module;
use burn::nn::loss::{MseLoss, Reduction};
use burn::nn::{Linear, LinearConfig};
use burn::optim::{GradientsParams, LBFGSConfig};
use burn::tensor::{Device, Tensor};
use serde_json::{Value, json};

/// `fc2(tanh(fc1(x)))`; all of it trains, as L-BFGS wants it.
#[derive(Module, Debug)]
struct Curve {
    fc1: Linear,
    fc2: Linear,
}

/// The parameters and the loss after each step. The last state is written, too.
pub fn run(request: &Request) -> Value {
    let device = Device::flex().autodiff();
    let (fc1, fc2) = (LinearConfig::new(3, 4).init(&device), LinearConfig::new(4, 2).init(&device));
    let mut model = request.load(Curve { fc1, fc2 });
    let config: LBFGSConfig = config(request.get("config"));
    let mut optim = config.init().load(request.text("optim")).expect("a record that Burn reads");
    let input = |name: &str| Tensor::<2>::from_data(data(request.get(name)), &device);
    let mut after = Vec::new();
    for _ in 0..request.size("steps") {
        let (next, loss) = optim.step(request.number("lr"), model, |model: Curve| {
            let output = model.fc2.forward(model.fc1.forward(input("x")).tanh());
            let loss = MseLoss::new().forward(output, input("y"), Reduction::Mean);
            let value = loss.clone().into_scalar::<f32>() as f64;
            (value, GradientsParams::from_grads(loss.backward(), &model))
        });
        model = next;
        after.push(json!({"loss": loss, "parameters": values(&model)}));
    }
    model.into_record().save(request.text("saved")).expect("a record that Burn writes");
    optim.to_record().save(request.text("saved_optim")).expect("a record that Burn writes");
    json!(after)
}
