//! Writes a header, as the safetensors library orders it.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use crate::dtype::Dtype;
use crate::error::{Error, Kind, Result};
use crate::header::{LENGTH_BYTES, MAX_HEADER_BYTES, METADATA_KEY, payload_len};

/// A tensor to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// Name.
    pub name: String,
    /// Element type.
    pub dtype: Dtype,
    /// Shape.
    pub shape: Vec<u64>,
}

/// A file's layout: the bytes before the data, and for each tensor, in the order in which its bytes follow, its place
/// among the given specs and its range in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Length and header, padded with spaces to a multiple of 8.
    pub head: Vec<u8>,
    /// Index of the spec, and bytes in the file.
    pub order: Vec<(usize, Range<u64>)>,
    /// Length of the file.
    pub total: u64,
}

/// Plans a file: wide dtypes first, then by name; metadata keys sorted, so that equal input gives equal bytes.
///
/// Unlike Burn: its files have the keys in hash order.
///
/// ```
/// use burnpy_safetensors::{Dtype, Header, Spec, plan};
/// let spec = |name: &str, dtype| Spec { name: name.into(), dtype, shape: vec![2] };
/// let plan = plan(&[spec("b", Dtype::U8), spec("a", Dtype::F32)], None)?;
/// assert_eq!(plan.order.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 0]);
/// assert_eq!(Header::decode(&plan.head[8..], plan.total)?.entries[0].name, "a");
/// # Ok::<(), burnpy_safetensors::Error>(())
/// ```
///
/// # Errors
/// `DuplicateName`, `Overflow`, `Misaligned`, `OverLimit`; `Unwritable` for a tensor with the name of the metadata.
pub fn plan(specs: &[Spec], metadata: Option<&BTreeMap<String, String>>) -> Result<Plan> {
    let mut order: Vec<usize> = (0..specs.len()).collect();
    order.sort_by(|&a, &b| {
        specs[b].dtype.cmp(&specs[a].dtype).then_with(|| specs[a].name.cmp(&specs[b].name))
    });
    let places = place(specs, &order)?;
    let mut json = String::from("{");
    if let Some(metadata) = metadata {
        json += &format!("{}:{}", text(METADATA_KEY), object(metadata));
    }
    for (&index, place) in order.iter().zip(&places) {
        if json.len() > 1 {
            json.push(',');
        }
        json += &entry(&specs[index], place);
    }
    json.push('}');
    json.extend(std::iter::repeat_n(' ', json.len().next_multiple_of(8) - json.len()));
    let length = json.len() as u64;
    if length > MAX_HEADER_BYTES {
        let what = format!("the header would have {length} bytes, over the limit of {MAX_HEADER_BYTES}");
        return Err(Error::new(Kind::OverLimit, what).numbers(length, MAX_HEADER_BYTES));
    }
    let start = length + LENGTH_BYTES as u64;
    let overflow = || Error::new(Kind::Overflow, "the length of the file overflows 64 bits");
    let total =
        places.last().map_or(Some(start), |place| place.end.checked_add(start)).ok_or_else(overflow)?;
    let places = places.into_iter().map(|place| place.start + start..place.end + start);
    let head = [&length.to_le_bytes()[..], json.as_bytes()].concat();
    Ok(Plan { head, order: order.into_iter().zip(places).collect(), total })
}

/// Offsets in the data, in order.
fn place(specs: &[Spec], order: &[usize]) -> Result<Vec<Range<u64>>> {
    let mut names = HashSet::with_capacity(specs.len());
    let mut end = 0u64;
    let mut place_one = |index: &usize| {
        let spec = &specs[*index];
        if spec.name == METADATA_KEY {
            let what = format!("safetensors keeps the name {METADATA_KEY} for the metadata");
            return Err(Error::new(Kind::Unwritable, what).of(&spec.name));
        }
        if !names.insert(spec.name.as_str()) {
            return Err(Error::new(Kind::DuplicateName, "its name stands twice").of(&spec.name));
        }
        let len = payload_len(spec.dtype, &spec.shape).map_err(|error| error.of(&spec.name))?;
        let start = end;
        end = start
            .checked_add(len)
            .ok_or_else(|| Error::new(Kind::Overflow, "its end overflows").of(&spec.name))?;
        Ok(start..end)
    };
    order.iter().map(&mut place_one).collect()
}

fn entry(spec: &Spec, place: &Range<u64>) -> String {
    let shape: Vec<String> = spec.shape.iter().map(u64::to_string).collect();
    let (name, dtype, shape) = (text(&spec.name), spec.dtype.name(), shape.join(","));
    let (start, end) = (place.start, place.end);
    format!(r#"{name}:{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[{start},{end}]}}"#)
}

fn object(texts: &BTreeMap<String, String>) -> String {
    let entries: Vec<String> =
        texts.iter().map(|(key, value)| format!("{}:{}", text(key), text(value))).collect();
    format!("{{{}}}", entries.join(","))
}

fn text(value: &str) -> String {
    serde_json::Value::from(value).to_string()
}
