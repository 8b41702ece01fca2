//! What is asked: JSON, in which a tensor is `{"shape": [..], "values": [..]}`.

use burn::config::Config;
use burn::module::Module;
use burn::store::ModuleRecord;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData};
use serde_json::{Value, json};
use std::fs;

pub struct Request(Value);

impl Request {
    pub fn read(path: &str) -> Self {
        let text = fs::read(path).expect("a readable request");
        Self(serde_json::from_slice(&text).expect("a request of JSON"))
    }

    /// What stands under a key; a request without it is a mistake of the tests.
    pub fn get(&self, key: &str) -> &Value {
        self.0.get(key).unwrap_or_else(|| panic!("the request has no {key}"))
    }

    pub fn text(&self, key: &str) -> &str {
        self.get(key).as_str().expect("a text")
    }

    pub fn size(&self, key: &str) -> usize {
        self.get(key).as_u64().expect("a size") as usize
    }

    pub fn number(&self, key: &str) -> f64 {
        self.get(key).as_f64().expect("a number")
    }

    pub fn list(&self, key: &str) -> &Vec<Value> {
        self.get(key).as_array().expect("a list")
    }

    /// A list of sizes.
    pub fn sizes<const N: usize>(&self) -> [usize; N] {
        let sizes: Vec<usize> =
            self.list("sizes").iter().map(|size| size.as_u64().expect("a size") as usize).collect();
        sizes.try_into().expect("as many sizes as the module has")
    }

    /// A fresh module with the record of the request, which it also writes again.
    pub fn load<M: Module>(&self, module: M) -> M {
        let record = ModuleRecord::load(self.text("record")).expect("a record that Burn reads");
        let module = module.load_record(record);
        module.clone().into_record().save(self.text("saved")).expect("a record that Burn writes");
        module
    }

    pub fn floats<const D: usize>(&self, name: &str) -> Tensor<D> {
        Tensor::from_data(data(&self.get("inputs")[name]), &Device::flex())
    }

    pub fn ints<const D: usize>(&self, name: &str) -> Tensor<D, Int> {
        Tensor::from_data(self.integers(name), &Device::flex())
    }

    /// A mask, given as zeros and ones.
    pub fn mask<const D: usize>(&self, name: &str) -> Tensor<D, Bool> {
        self.ints::<D>(name).bool()
    }

    fn integers(&self, name: &str) -> TensorData {
        let given = &self.get("inputs")[name];
        let values: Vec<i64> = numbers(given).iter().map(|value| *value as i64).collect();
        TensorData::new(values, shape(given))
    }
}

/// A configuration in Burn's own JSON.
pub fn config<C: Config>(value: &Value) -> C {
    C::load_binary(value.to_string().as_bytes()).expect("a configuration that Burn reads")
}

/// A tensor of single precision.
pub fn data(given: &Value) -> TensorData {
    let values: Vec<f32> = numbers(given).iter().map(|value| *value as f32).collect();
    TensorData::new(values, shape(given))
}

fn shape(given: &Value) -> Vec<usize> {
    let sizes = given["shape"].as_array().expect("a shape");
    sizes.iter().map(|size| size.as_u64().expect("a size") as usize).collect()
}

fn numbers(given: &Value) -> Vec<f64> {
    let values = given["values"].as_array().expect("values");
    values.iter().map(|value| value.as_f64().expect("a number")).collect()
}

/// A tensor of the answer.
pub fn told<const D: usize>(tensor: Tensor<D>) -> Value {
    let data = tensor.into_data();
    json!({"shape": data.shape().to_vec(), "values": data.iter::<f64>().collect::<Vec<_>>()})
}
