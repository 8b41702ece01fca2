//! The rules that a container must keep before any payload is touched.

use burnpy_buffer::{DType, PayloadLenError, QuantScheme, QuantStore};

use crate::error::{Error, ErrorKind, Result};
use crate::header::{self, HEADER_SIZE, Header};
use crate::limits::Limits;
use crate::metadata::{Descriptor, Metadata};

/// Where the data section starts, after everything that Burn's reader checks at open.
pub(crate) fn check(header: &Header, metadata: &Metadata, available: u64, limits: &Limits) -> Result<u64> {
    let size = u64::from(header.metadata_size);
    let aligned = header::data_start(size).ok_or_else(|| Error::validation("the metadata has no end"))?;
    for tensor in &metadata.tensors {
        check_tensor(tensor, metadata.shape(tensor), aligned, limits)
            .map_err(|error| error.with_tensor(metadata.name(tensor)))?;
    }
    let Some(last) = metadata.tensors.iter().map(|tensor| tensor.end).max() else { return Ok(aligned) };
    let needed = aligned + last;
    if needed <= available {
        return Ok(aligned);
    }
    if let Some(start) = old_data_start(size, metadata, last, available) {
        return Ok(start);
    }
    let what = format!("the file is cut off: its tensors end at byte {needed}, but it has {available} bytes");
    Err(ErrorKind::Validation { what, found: Some(available), limit: Some(needed) }.into())
}

/// Burn 0.19 packed tensors back to back, right behind the metadata. Such a file is told by its length, which is
/// exact, and by a tensor that no later Burn could have placed.
fn old_data_start(metadata_size: u64, metadata: &Metadata, last: u64, available: u64) -> Option<u64> {
    let start = HEADER_SIZE as u64 + metadata_size;
    let unaligned = metadata.tensors.iter().any(|tensor| !tensor.start.is_multiple_of(header::ALIGNMENT));
    (unaligned && start.checked_add(last) == Some(available)).then_some(start)
}

fn check_tensor(tensor: &Descriptor, shape: &[u64], data_start: u64, limits: &Limits) -> Result<()> {
    let (start, end) = (tensor.start, tensor.end);
    let absolute = data_start.checked_add(start).and(data_start.checked_add(end));
    if absolute.is_none_or(|end| usize::try_from(end).is_err()) {
        return Err(Error::validation(format!("its range {start}..{end} is beyond what a file can hold")));
    }
    let Some(found) = end.checked_sub(start) else {
        return Err(Error::validation(format!("its range {start}..{end} ends before it starts")));
    };
    if found > limits.max_tensor_bytes {
        return Err(Error::over("its size in bytes", found, limits.max_tensor_bytes));
    }
    match tensor.dtype {
        DType::QFloat(_) => Ok(()),
        dtype => check_payload_len(dtype, shape, found),
    }
}

/// Refuses a payload whose length does not follow from dtype and shape.
pub(crate) fn check_payload_len(dtype: DType, shape: &[u64], found: u64) -> Result<()> {
    let name = dtype.name();
    let shape_text = || shape_for_message(shape);
    let what = match dtype.payload_len(shape) {
        Ok(needed) if needed == found => return Ok(()),
        Ok(needed) => {
            let what = format!("it has {found} bytes, but shape {} of {name} need {needed}", shape_text());
            return Err(ErrorKind::Validation { what, found: Some(found), limit: Some(needed) }.into());
        }
        Err(PayloadLenError::Overflow) => {
            format!("byte length calculation overflows u64 for shape {} of {name}", shape_text())
        }
        Err(PayloadLenError::Scheme(reason)) => format!("its quantization scheme is impossible: {reason}"),
    };
    Err(Error::validation(what))
}

/// A hostile shape may have a hundred million dimensions.
fn shape_for_message(shape: &[u64]) -> String {
    match shape.get(..16) {
        Some(first) if shape.len() > 16 => format!("{first:?}… of rank {}", shape.len()),
        _ => format!("{shape:?}"),
    }
}

/// The rules of strict mode that need the descriptors: what Burn's own writer always keeps.
pub(crate) fn check_strict(
    header: &Header,
    metadata: &Metadata,
    data_start: u64,
    available: u64,
) -> Result<()> {
    strict_problems(header, metadata, data_start, available).next().map_or(Ok(()), Err)
}

/// All that strict mode finds in the descriptors, in data order, told one by one as it is asked for.
pub(crate) fn strict_problems<'m>(
    header: &Header,
    metadata: &'m Metadata,
    data_start: u64,
    available: u64,
) -> impl Iterator<Item = Error> + use<'m> {
    let version = check_current(header).err();
    let mut tensors: Vec<&Descriptor> = metadata.tensors.iter().collect();
    tensors.sort_by_key(|tensor| (tensor.start, tensor.end));
    let last = tensors.iter().map(|tensor| tensor.end).max().unwrap_or(0);
    let mut previous_end = 0;
    let placed = tensors.into_iter().filter_map(move |tensor| {
        let problem = check_placed(tensor, metadata.shape(tensor), previous_end).err();
        previous_end = previous_end.max(tensor.end);
        problem.map(|error| error.with_tensor(metadata.name(tensor)))
    });
    version.into_iter().chain(placed).chain(check_end(data_start + last, available).err())
}

fn check_current(header: &Header) -> Result<()> {
    match header.version {
        header::FORMAT_VERSION => Ok(()),
        version => {
            Err(Error::validation(format!("format version is {version}, not {}", header::FORMAT_VERSION)))
        }
    }
}

fn check_end(expected: u64, available: u64) -> Result<()> {
    if available == expected {
        return Ok(());
    }
    let what = format!("the file has {available} bytes, but its content ends at {expected}");
    Err(ErrorKind::Validation { what, found: Some(available), limit: Some(expected) }.into())
}

fn check_placed(tensor: &Descriptor, shape: &[u64], previous_end: u64) -> Result<()> {
    let start = tensor.start;
    if !start.is_multiple_of(header::ALIGNMENT) {
        return Err(Error::validation(format!("it starts at {start}, no multiple of {}", header::ALIGNMENT)));
    }
    if header::align_up(previous_end) != Some(start) {
        let what = format!("it starts at {start}, but the tensor before it ends at {previous_end}");
        return Err(Error::validation(format!("{what}: an overlap or a hole")));
    }
    if let DType::QFloat(scheme) = tensor.dtype {
        check_scheme(&scheme, shape)?;
        check_payload_len(tensor.dtype, shape, tensor.end - start)?;
    }
    Ok(())
}

fn check_scheme(scheme: &QuantScheme, shape: &[u64]) -> Result<()> {
    if let QuantStore::PackedNative(dim) | QuantStore::PackedU32(dim) = scheme.store
        && dim > 0
        && dim >= shape.len() as u64
    {
        return Err(Error::validation(format!("packed dimension {dim} is outside of rank {}", shape.len())));
    }
    let Some(block) = scheme.block else { return Ok(()) };
    let used = usize::from(block.size.len);
    match block.size.storage.get(used..) {
        Some(unused) if unused.iter().all(|&extent| extent == 1) => Ok(()),
        Some(_) => {
            Err(Error::validation(format!("unused block extents of {:?} are not 1", block.size.storage)))
        }
        None => Err(Error::validation(format!("a block has {used} extents; at most 5 are possible"))),
    }
}

/// Refuses padding that is not zero.
pub(crate) fn check_zero(padding: &[u8], start: u64) -> Result<()> {
    match padding.iter().position(|&byte| byte != 0) {
        None => Ok(()),
        Some(at) => {
            let what = format!("padding byte {} is {:#04x}, not 0", start + at as u64, padding[at]);
            Err(ErrorKind::Validation { what, found: Some(u64::from(padding[at])), limit: Some(0) }.into())
        }
    }
}
