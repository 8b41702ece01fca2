//! What reading a file gave, compared with its manifest.

use std::collections::{BTreeMap, BTreeSet};

use burnpy_pickle::{Checkpoint, Error, Leaves, Limits, Scalar, TensorKind, open};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::manifest::{self, Entry};

/// All that a file gave: a listing and each tensor's bytes, or an error in the place of either.
pub struct Outcome {
    pub opened: Result<(Checkpoint, Leaves), Error>,
    pub data: Vec<Result<Vec<u8>, Error>>,
}

impl Outcome {
    pub fn of(file: &[u8]) -> Self {
        let opened = open(file, &Limits::default()).and_then(|checkpoint| {
            let leaves = checkpoint.leaves()?;
            Ok((checkpoint, leaves))
        });
        let data = match &opened {
            Ok((checkpoint, leaves)) => leaves
                .tensors
                .iter()
                .map(|leaf| {
                    checkpoint.verify(file, leaf)?;
                    checkpoint.read(file, leaf)
                })
                .collect(),
            Err(_) => Vec::new(),
        };
        Self { opened, data }
    }

    pub fn first_error(&self) -> Option<&Error> {
        self.opened.as_ref().err().or_else(|| self.data.iter().find_map(|data| data.as_ref().err()))
    }
}

/// What differs from the listed content.
pub fn check_content(file: &[u8], entry: &Entry, outcome: &Outcome) -> Vec<String> {
    if let Some(error) = outcome.first_error() {
        return vec![format!("{}: {error}", error.kind.name())];
    }
    let Ok((checkpoint, leaves)) = &outcome.opened else { return Vec::new() };
    let mut problems = check_tensors(file, &entry.tensors, outcome);
    problems.extend(check_tensors(file, present(&entry.optional_tensors, leaves), outcome));
    problems.extend(check_scalars(checkpoint, file, entry, leaves));
    problems.extend(check_skipped(entry, leaves));
    if entry.complete {
        let names = |groups: Vec<Vec<usize>>| -> BTreeSet<BTreeSet<String>> {
            let name = |index: &usize| leaves.tensors[*index].name.clone();
            groups.iter().map(|group| group.iter().map(name).collect()).collect()
        };
        let listed =
            |groups: &[Vec<String>]| groups.iter().map(|group| group.iter().cloned().collect()).collect();
        compare(&mut problems, "ties", &names(leaves.ties()), &listed(&entry.ties));
        compare(&mut problems, "overlaps", &names(leaves.overlaps()), &listed(&entry.overlaps));
        let found: BTreeSet<&str> = leaves.tensors.iter().map(|leaf| &*leaf.name).collect();
        let expected = entry.tensors.iter().map(|tensor| &tensor.name);
        let known: BTreeSet<&str> = expected.chain(&entry.optional_names).map(String::as_str).collect();
        problems.extend(found.difference(&known).map(|name| format!("unlisted tensor {name:?}")));
    }
    problems
}

/// What is wrong with an error, or with what can be read in spite of it.
pub fn check_error(file: &[u8], entry: &Entry, outcome: &Outcome) -> Vec<String> {
    let Some(error) = outcome.first_error() else { return vec!["no error".to_owned()] };
    let Some(expected) = &entry.error else { return vec![format!("unexpected error: {error}")] };
    let text = error.to_string();
    let mut problems = Vec::new();
    compare(&mut problems, "kind", &error.kind.name(), &&*expected.kind);
    for word in expected.mention.iter().filter(|word| !text.contains(&***word)) {
        problems.push(format!("{text:?} does not mention {word:?}"));
    }
    if !expected.mention_any.is_empty() && !expected.mention_any.iter().any(|word| text.contains(&**word)) {
        problems.push(format!("{text:?} mentions none of {:?}", expected.mention_any));
    }
    problems.extend(check_tensors(file, &entry.readable, outcome));
    for (name, shape) in &entry.shapes {
        let found = outcome.opened.as_ref().ok().and_then(|(_, leaves)| {
            leaves.tensors.iter().find(|leaf| leaf.name == *name).map(|leaf| leaf.tensor.shape.to_vec())
        });
        compare(&mut problems, name, &found.as_ref(), &Some(shape));
    }
    problems
}

fn present<'a>(tensors: &'a [manifest::Tensor], leaves: &Leaves) -> Vec<&'a manifest::Tensor> {
    tensors.iter().filter(|tensor| leaves.tensors.iter().any(|leaf| leaf.name == tensor.name)).collect()
}

fn check_tensors<'a>(
    file: &[u8],
    tensors: impl IntoIterator<Item = &'a manifest::Tensor>,
    outcome: &Outcome,
) -> Vec<String> {
    let problem = |tensor: &manifest::Tensor| {
        check_tensor(file, tensor, outcome)
            .err()
            .map(|problem| format!("tensor {:?}: {problem}", tensor.name))
    };
    tensors.into_iter().filter_map(problem).collect()
}

fn check_tensor(file: &[u8], expected: &manifest::Tensor, outcome: &Outcome) -> Result<(), String> {
    let (checkpoint, leaves) = outcome.opened.as_ref().map_err(ToString::to_string)?;
    let index = leaves.tensors.iter().position(|leaf| leaf.name == expected.name).ok_or("not listed")?;
    let leaf = &leaves.tensors[index];
    let data = outcome.data[index].as_ref().map_err(ToString::to_string)?;
    let mut problems = Vec::new();
    compare(&mut problems, "dtype", &leaf.tensor.dtype.name(), &&*expected.dtype);
    compare(&mut problems, "shape", &&*leaf.tensor.shape, &&*expected.shape);
    compare(&mut problems, "sha256", &hex(&Sha256::digest(data)), &expected.sha256);
    if expected.kind.is_some() || expected.requires_grad.is_some() {
        compare(
            &mut problems,
            "requires_grad",
            &leaf.tensor.requires_grad,
            &expected.requires_grad.unwrap_or(false),
        );
    }
    let (kind, qualified) = match &leaf.tensor.kind {
        TensorKind::Plain => (None, None),
        TensorKind::Parameter => (Some("parameter"), None),
        TensorKind::Subclass(name) => (Some("subclass"), Some(&**name)),
        TensorKind::Numpy => (Some("numpy"), None),
    };
    if expected.kind.is_some() {
        compare(&mut problems, "kind", &kind, &expected.kind.as_deref());
        compare(&mut problems, "qualified", &qualified, &expected.qualified.as_deref());
    }
    let view = checkpoint.view_range(file, leaf).map_err(|error| error.to_string())?;
    if let Some(range) = view {
        compare(&mut problems, "view", &&file[range], &&**data);
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

fn check_scalars(checkpoint: &Checkpoint, file: &[u8], entry: &Entry, leaves: &Leaves) -> Vec<String> {
    let mut problems = Vec::new();
    let found: BTreeMap<&str, &Scalar> =
        leaves.scalars.iter().map(|leaf| (&*leaf.name, &leaf.value)).collect();
    for expected in &entry.scalars {
        let name = format!("scalar {:?}", expected.name);
        match found.get(&*expected.name) {
            None => problems.push(format!("{name} is not listed")),
            Some(scalar) => {
                compare(&mut problems, &name, &scalar.type_name(), &expected.kind);
                if !is_value(checkpoint, file, scalar, &expected.value) {
                    problems.push(format!("{name}: {scalar:?} is not {}", expected.value));
                }
            }
        }
    }
    let known = |name: &str| {
        entry.scalars.iter().any(|scalar| scalar.name == name)
            || entry.optional_names.iter().any(|other| other == name)
    };
    problems.extend(found.keys().filter(|name| !known(name)).map(|name| format!("unlisted scalar {name:?}")));
    problems
}

fn is_value(checkpoint: &Checkpoint, file: &[u8], scalar: &Scalar, expected: &Value) -> bool {
    match scalar {
        Scalar::None => expected.is_null(),
        Scalar::Bool(bool) => expected.as_bool() == Some(*bool),
        Scalar::Int(int) => expected.as_i64() == Some(*int),
        // JSON has it as the nearest double; that digits are exact is tested with the type.
        Scalar::BigInt(int) => expected.as_f64() == int.to_string().parse().ok(),
        Scalar::Float(float) => expected.as_f64() == Some(*float),
        Scalar::Complex(re, im) => *expected == serde_json::json!([re, im]),
        Scalar::Text(text) => expected.as_str() == Some(text),
        Scalar::Bytes(blob) => {
            expected.as_str() == checkpoint.blob(file, blob).ok().map(|bytes| hex(&bytes)).as_deref()
        }
        Scalar::Set(items) | Scalar::FrozenSet(items) => {
            let all = expected.as_array().unwrap();
            all.len() == items.len()
                && all.iter().all(|value| items.iter().any(|item| is_value(checkpoint, file, item, value)))
        }
        Scalar::Numpy(numpy) => is_value(checkpoint, file, &numpy.value(), expected),
        _ => false,
    }
}

fn check_skipped(entry: &Entry, leaves: &Leaves) -> Vec<String> {
    let mut problems = Vec::new();
    for expected in &entry.skipped {
        match leaves.skipped.iter().find(|skipped| skipped.name == expected.name) {
            None => problems.push(format!("{:?} is not listed as skipped", expected.name)),
            Some(skipped) => {
                compare(&mut problems, "qualified", &skipped.qualified, &expected.qualified);
                compare(
                    &mut problems,
                    "skipped shape",
                    &skipped.shape,
                    &expected.shape.clone().or(skipped.shape.clone()),
                );
                compare(
                    &mut problems,
                    "skipped dtype",
                    &skipped.dtype,
                    &expected.dtype.clone().or(skipped.dtype.clone()),
                );
            }
        }
    }
    let known = |name: &str| entry.skipped.iter().any(|skipped| skipped.name == name);
    let unlisted = leaves.skipped.iter().filter(|skipped| !known(&skipped.name));
    problems.extend(
        unlisted.map(|skipped| format!("unlisted skipped {:?} ({})", skipped.name, skipped.qualified)),
    );
    problems
}

fn compare<T: PartialEq + std::fmt::Debug>(problems: &mut Vec<String>, what: &str, found: &T, expected: &T) {
    if found != expected {
        problems.push(format!("{what} is {found:?}, not {expected:?}"));
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
