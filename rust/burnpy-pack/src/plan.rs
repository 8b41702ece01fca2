//! Where everything will lie, worked out from lengths alone.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::encode::{Described, encode};
use crate::error::{Error, ErrorKind, Result};
use crate::header::{self, HEADER_SIZE, Header};
use crate::limits::Limits;
use crate::scalar::Scalar;
use crate::tensor::Tensor;
use crate::validate::check_payload_len;

/// A container's layout: header and metadata as bytes, and each tensor's place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    head: Vec<u8>,
    places: Vec<Range<u64>>,
    total: u64,
}

impl Plan {
    /// Plans a container of these tensors, in this order, and refuses what a reader with these limits would refuse.
    /// No payload is produced.
    ///
    /// # Errors
    /// `ValidationError` for a length that does not follow from shape and dtype, a name that stands twice, and
    /// whatever is over a limit; `IoError` when the offsets overflow.
    pub fn new(
        tensors: &[Tensor],
        metadata: &BTreeMap<String, String>,
        scalars: &BTreeMap<String, Scalar>,
        limits: &Limits,
    ) -> Result<Self> {
        let count = tensors.len() as u64;
        if count > limits.max_tensors {
            return Err(Error::over("the number of tensors", count, limits.max_tensors));
        }
        let mut places = place(tensors, limits)?;
        let by_name = sorted_by_name(tensors)?;
        let described = by_name.iter().map(|&index| describe(&tensors[index], &places[index]));
        let encoded = encode(described, metadata, scalars);
        let size = encoded.len() as u64;
        if size > limits.max_metadata_bytes {
            return Err(Error::over("the size of the metadata in bytes", size, limits.max_metadata_bytes));
        }
        let start = header::data_start(size).ok_or_else(too_long)?;
        let size = u32::try_from(size)
            .map_err(|_| Error::over("the size of the metadata", size, u32::MAX.into()))?;
        for place in &mut places {
            *place = start.checked_add(place.start).ok_or_else(too_long)?
                ..start.checked_add(place.end).ok_or_else(too_long)?;
        }
        let head = [&Header::new(size).into_bytes()[..], &encoded].concat();
        debug_assert_eq!(head.len(), HEADER_SIZE + encoded.len());
        // Zero-size tensors at the end still have their place: the padding up to it is written.
        let total = places.iter().map(|place| place.end).max().unwrap_or(start);
        Ok(Self { head, places, total })
    }

    /// Length of the container.
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Header and metadata.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// Each tensor's bytes in the file, in the order in which they were given.
    pub fn places(&self) -> &[Range<u64>] {
        &self.places
    }

    /// Refuses a file longer than a reader takes.
    pub(crate) fn check_file(&self, limits: &Limits) -> Result<()> {
        match self.total > limits.max_file_bytes {
            true => Err(Error::over("the size of the file in bytes", self.total, limits.max_file_bytes)),
            false => Ok(()),
        }
    }
}

/// Offsets in the data section.
fn place(tensors: &[Tensor], limits: &Limits) -> Result<Vec<Range<u64>>> {
    let mut end = 0u64;
    let mut places = Vec::with_capacity(tensors.len());
    for tensor in tensors {
        let len = tensor.byte_len();
        check_payload_len(tensor.dtype, &tensor.shape, len)
            .map_err(|error| error.with_tensor(&tensor.name))?;
        if len > limits.max_tensor_bytes {
            return Err(
                Error::over("its size in bytes", len, limits.max_tensor_bytes).with_tensor(&tensor.name)
            );
        }
        let start = header::align_up(end).ok_or_else(too_long)?;
        end = start.checked_add(len).ok_or_else(too_long)?;
        places.push(start..end);
    }
    Ok(places)
}

fn too_long() -> Error {
    ErrorKind::Io(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "the offsets are over 2^64 - 1"))
        .into()
}

/// Positions of the tensors in name order.
fn sorted_by_name(tensors: &[Tensor]) -> Result<Vec<usize>> {
    // The names stand beside the positions: a comparison does not have to go through the tensors.
    let mut order: Vec<(&str, usize)> =
        tensors.iter().enumerate().map(|(index, tensor)| (tensor.name.as_str(), index)).collect();
    order.sort();
    match order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(Error::validation("its name stands twice").with_tensor(pair[0].0)),
        None => Ok(order.into_iter().map(|(_, index)| index).collect()),
    }
}

fn describe<'t>(tensor: &'t Tensor, place: &Range<u64>) -> Described<'t> {
    Described {
        name: &tensor.name,
        dtype: tensor.dtype,
        shape: &tensor.shape,
        start: place.start,
        end: place.end,
        param_id: tensor.param_id,
    }
}
