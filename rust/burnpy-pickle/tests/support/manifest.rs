//! The manifest of a folder of golden data.

use std::path::Path;

use serde_json::Value;

pub struct Entry {
    pub file: String,
    pub expect: String,
    pub tensors: Vec<Tensor>,
    pub readable: Vec<Tensor>,
    pub scalars: Vec<Scalar>,
    pub skipped: Vec<Skipped>,
    pub optional_names: Vec<String>,
    pub optional_tensors: Vec<Tensor>,
    pub ties: Vec<Vec<String>>,
    pub overlaps: Vec<Vec<String>>,
    pub shapes: Vec<(String, Vec<u64>)>,
    pub error: Option<Failure>,
    pub limits: Option<(u64, u64)>,
    /// Whether the manifest says all that a listing holds.
    pub complete: bool,
}

pub struct Tensor {
    pub name: String,
    pub dtype: String,
    pub shape: Vec<u64>,
    pub sha256: String,
    pub kind: Option<String>,
    pub qualified: Option<String>,
    pub requires_grad: Option<bool>,
}

pub struct Scalar {
    pub name: String,
    pub kind: String,
    pub value: Value,
}

pub struct Skipped {
    pub name: String,
    pub qualified: String,
    pub shape: Option<Vec<u64>>,
    pub dtype: Option<String>,
}

pub struct Failure {
    pub kind: String,
    pub mention: Vec<String>,
    pub mention_any: Vec<String>,
}

pub fn read_manifest(path: &Path) -> Vec<Entry> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let manifest: Value = serde_json::from_str(&text).unwrap();
    manifest["files"].as_object().unwrap().iter().map(|(file, entry)| parse(file, entry)).collect()
}

fn parse(file: &str, entry: &Value) -> Entry {
    let optional = list(&entry["optional"]);
    Entry {
        file: file.to_owned(),
        expect: text(&entry["expect"]),
        tensors: tensors(&entry["tensors"]),
        readable: tensors(&entry["readable"]),
        scalars: scalars(&entry["scalars"]),
        skipped: list(&entry["skipped"]).iter().map(skipped).collect(),
        optional_names: optional.iter().map(|leaf| text(&leaf["name"])).collect(),
        optional_tensors: optional.iter().filter(|leaf| leaf["shape"].is_array()).map(tensor).collect(),
        ties: groups(&entry["ties"]),
        overlaps: groups(&entry["overlaps"]),
        shapes: pairs(&entry["shapes"]).map(|(name, shape)| (name.clone(), numbers(shape))).collect(),
        error: entry["error"].as_object().map(|error| Failure {
            kind: text(&error["kind"]),
            mention: error.get("mention").map(texts).unwrap_or_default(),
            mention_any: error.get("mention_any").map(texts).unwrap_or_default(),
        }),
        limits: entry["limits"]["seconds"].as_u64().zip(entry["limits"]["bytes"].as_u64()),
        complete: entry["ties"].is_array(),
    }
}

fn tensors(value: &Value) -> Vec<Tensor> {
    list(value).iter().map(tensor).collect()
}

fn tensor(value: &Value) -> Tensor {
    Tensor {
        name: text(&value["name"]),
        dtype: text(&value["dtype"]),
        shape: numbers(&value["shape"]),
        sha256: text(&value["sha256"]),
        kind: value["kind"].as_str().map(str::to_owned),
        qualified: value["qualified"].as_str().map(str::to_owned),
        requires_grad: value["requires_grad"].as_bool(),
    }
}

/// A list of scalars, or, in older manifests, a map whose values are Python's `repr`.
fn scalars(value: &Value) -> Vec<Scalar> {
    let listed = list(value).iter().map(|leaf| Scalar {
        name: text(&leaf["name"]),
        kind: text(&leaf["type"]),
        value: leaf["value"].clone(),
    });
    let mapped = pairs(value).map(|(name, leaf)| {
        let repr = text(&leaf["value"]);
        let value = match leaf["type"].as_str() {
            Some("str") => Value::String(repr.trim_matches('\'').to_owned()),
            _ => serde_json::from_str(&repr).unwrap(),
        };
        Scalar { name: name.clone(), kind: text(&leaf["type"]), value }
    });
    listed.chain(mapped).collect()
}

fn skipped(value: &Value) -> Skipped {
    Skipped {
        name: text(&value["name"]),
        qualified: text(&value["qualified"]),
        shape: value["shape"].is_array().then(|| numbers(&value["shape"])),
        dtype: value["dtype"].as_str().map(str::to_owned),
    }
}

fn groups(value: &Value) -> Vec<Vec<String>> {
    list(value).iter().map(texts).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn pairs(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn texts(value: &Value) -> Vec<String> {
    list(value).iter().map(text).collect()
}

fn numbers(value: &Value) -> Vec<u64> {
    list(value).iter().map(|number| number.as_u64().unwrap()).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
