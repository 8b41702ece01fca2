//! The CBOR map behind the header: what it says, in name order, and whether it says it as Burn does.

use std::collections::BTreeMap;
use std::ops::Range;

use burnpy_buffer::DType;

use crate::decode;
use crate::encode::{Described, encode};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::scalar::Scalar;

/// What the metadata says of one tensor. Name and shape lie in the shared arenas of [`Metadata`]: with 100 000
/// tensors, an allocation for each would cost more than reading the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Descriptor {
    pub(crate) name: (u32, u32),
    pub(crate) dims: (u32, u32),
    pub(crate) dtype: DType,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) param_id: Option<u64>,
}

/// The metadata, decoded. Descriptors stand in name order, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Metadata {
    pub(crate) names: String,
    pub(crate) dims: Vec<u64>,
    pub(crate) tensors: Vec<Descriptor>,
    pub(crate) metadata: BTreeMap<String, String>,
    pub(crate) scalars: BTreeMap<String, Scalar>,
}

fn range((start, len): (u32, u32)) -> Range<usize> {
    start as usize..start as usize + len as usize
}

impl Metadata {
    pub(crate) fn name(&self, descriptor: &Descriptor) -> &str {
        &self.names[range(descriptor.name)]
    }

    pub(crate) fn shape(&self, descriptor: &Descriptor) -> &[u64] {
        &self.dims[range(descriptor.dims)]
    }

    /// Where a name stands among the descriptors.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.tensors.binary_search_by(|descriptor| self.name(descriptor).cmp(name)).ok()
    }

    /// Reads the metadata. Strict mode also refuses unknown and duplicate keys, old forms and bytes that follow.
    pub(crate) fn decode(bytes: &[u8], limits: &Limits, strict: bool) -> Result<Self> {
        let (mut metadata, end) = decode::decode(bytes, limits, strict)?;
        if strict && end != bytes.len() {
            return Err(Error::validation(format!("metadata ends at byte {end} of {}", bytes.len())));
        }
        metadata.sort(strict)?;
        if strict {
            metadata.check_form(bytes)?;
        }
        Ok(metadata)
    }

    /// Refuses metadata that says the same in another form than Burn writes: other order, wider numbers, tags, …
    fn check_form(&self, bytes: &[u8]) -> Result<()> {
        let expected =
            encode(self.tensors.iter().map(|tensor| self.described(tensor)), &self.metadata, &self.scalars);
        if expected == bytes {
            return Ok(());
        }
        let at = expected.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        Err(Error::validation(format!(
            "metadata differs from the form in which Burn writes it, from byte {at} on"
        )))
    }

    fn described(&self, tensor: &Descriptor) -> Described<'_> {
        let Descriptor { dtype, start, end, param_id, .. } = *tensor;
        Described { name: self.name(tensor), dtype, shape: self.shape(tensor), start, end, param_id }
    }

    /// Sorts by name; of equal names the last one wins, as in Burn.
    fn sort(&mut self, strict: bool) -> Result<()> {
        let mut tensors = std::mem::take(&mut self.tensors);
        if tensors.is_sorted_by(|a, b| self.name(a) < self.name(b)) {
            self.tensors = tensors;
            return Ok(());
        }
        tensors.reverse();
        tensors.sort_by(|a, b| self.name(a).cmp(self.name(b)));
        if strict
            && let Some(pair) = tensors.windows(2).find(|pair| self.name(&pair[0]) == self.name(&pair[1]))
        {
            return Err(Error::validation("its name stands twice").with_tensor(self.name(&pair[0])));
        }
        tensors.dedup_by(|b, a| self.name(a) == self.name(b));
        self.tensors = tensors;
        Ok(())
    }
}
