//! The golden safetensors files: what each holds, or how it must fail, is told by their manifest alone.

use std::path::{Path, PathBuf};

use burnpy_safetensors::{Error, Header, header_end};
use serde_json::Value;
use sha2::{Digest, Sha256};

fn folder() -> PathBuf {
    let golden = std::env::var("BURNPY_GOLDEN").map(PathBuf::from);
    golden
        .unwrap_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden"))
        .join("safetensors")
}

fn read(bytes: &[u8]) -> Result<Header, Error> {
    let end = header_end(&bytes[..bytes.len().min(64)], bytes.len() as u64)?;
    Header::decode(&bytes[8..end as usize], bytes.len() as u64)
}

/// What is wrong with the outcome; empty when it is as the manifest says.
fn judge(expected: &Value, bytes: &[u8]) -> String {
    match (read(bytes), expected["expect"].as_str().unwrap()) {
        (Ok(header), "ok" | "either") => compare(&header, expected, bytes),
        (Err(error), "error" | "either") => compare_error(&error, &expected["error"]),
        (outcome, expect) => format!("expected {expect}, got {outcome:?}"),
    }
}

fn compare(header: &Header, expected: &Value, bytes: &[u8]) -> String {
    let wanted = expected["tensors"].as_array().unwrap();
    if wanted.len() != header.entries.len() {
        return format!("{} tensors, expected {}", header.entries.len(), wanted.len());
    }
    for tensor in wanted {
        let Some(entry) = header.entries.iter().find(|entry| entry.name == tensor["name"]) else {
            return format!("no tensor {}", tensor["name"]);
        };
        let payload = &bytes[entry.range.start as usize..entry.range.end as usize];
        let hash: String = Sha256::digest(payload).iter().map(|byte| format!("{byte:02x}")).collect();
        if (entry.dtype.text(), serde_json::json!(entry.shape))
            != (tensor["dtype"].as_str().unwrap(), tensor["shape"].clone())
            || (tensor["sha256"] != *hash && entry.dtype.text() != "bool")
        {
            return format!("{entry:?} is not {tensor}");
        }
    }
    match (&header.metadata, &expected["metadata"]) {
        (found, Value::Null) if found.is_none() || expected.get("metadata").is_none() => String::new(),
        (Some(found), wanted) if serde_json::json!(found) == *wanted => String::new(),
        (found, wanted) => format!("metadata {found:?}, expected {wanted}"),
    }
}

fn compare_error(error: &Error, expected: &Value) -> String {
    let text = error.to_string();
    let words = |key: &str| -> Vec<String> {
        expected[key].as_array().into_iter().flatten().map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let any = words("mention_any");
    if expected["kind"] != error.kind.name() {
        return format!("kind {:?}, expected {}: {text}", error.kind.name(), expected["kind"]);
    }
    if !words("mention").iter().all(|word| text.contains(word))
        || (!any.is_empty() && !any.iter().any(|word| text.contains(word)))
    {
        return format!("{text:?} does not mention {} {}", expected["mention"], expected["mention_any"]);
    }
    String::new()
}

#[test]
fn every_golden_file_is_read_or_refused_as_its_manifest_says() {
    let manifest = std::fs::read_to_string(folder().join("manifest.json")).expect("the golden manifest");
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let files = manifest["files"].as_object().unwrap();
    let mut wrong = Vec::new();
    let mut checked = 0;
    // Index files belong to the layer that opens several files.
    for (name, expected) in files.iter().filter(|(name, _)| name.ends_with(".safetensors")) {
        let report = judge(expected, &std::fs::read(folder().join(name)).unwrap());
        checked += 1;
        if !report.is_empty() {
            wrong.push(format!("{name}: {report}"));
        }
    }
    assert!(checked > 0, "no golden safetensors file was found");
    assert!(wrong.is_empty(), "{} of {checked} files:\n{}", wrong.len(), wrong.join("\n"));
}
