//! The parameters of a module by path: their values, and gradients for them.

use crate::request::data;
use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;
use serde_json::{Map, Value, json};

/// Flat values of all floats, running states included.
pub fn values<M: Module>(module: &M) -> Value {
    let mut found = Values::default();
    module.visit(&mut found);
    Value::Object(found.values)
}

/// Gradients of some parameters, `{path: tensor}`.
pub fn gradients<M: Module>(module: &M, given: &Value) -> GradientsParams {
    let mut found = Given { path: Path::default(), given, gradients: GradientsParams::new() };
    module.visit(&mut found);
    found.gradients
}

#[derive(Default)]
struct Path(Vec<String>);

impl Path {
    fn text(&self) -> String {
        self.0.join(".")
    }
}

#[derive(Default)]
struct Values {
    path: Path,
    values: Map<String, Value>,
}

impl ModuleVisitor for Values {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.0.push(name.to_string());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.0.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let values: Vec<f64> = param.val().into_data().iter::<f64>().collect();
        self.values.insert(self.path.text(), json!(values));
    }
}

struct Given<'a> {
    path: Path,
    given: &'a Value,
    gradients: GradientsParams,
}

impl ModuleVisitor for Given<'_> {
    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.0.push(name.to_string());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.0.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.given.get(self.path.text()) {
            let device = param.val().inner().device();
            self.gradients.register(param.id, Tensor::<D>::from_data(data(gradient), &device));
        }
    }
}
