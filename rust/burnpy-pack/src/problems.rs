//! Everything that is wrong with a container that opens: what strict mode refuses, and what only payloads tell.

use std::ops::Range;

use burnpy_buffer::{BoolStore, Bytes, DType};

use crate::error::{Error, ErrorKind, Result};
use crate::header::HEADER_SIZE;
use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::reader::{Entry, Reader, read};
use crate::validate;

/// Payloads are looked through piece by piece, so that a tensor larger than memory can be checked; a whole number of
/// 4-byte booleans.
const PIECE: u64 = 1 << 20;

impl Reader {
    /// All that Burn's own writer would not have written, where opening in strict mode stops at the first: the
    /// metadata's first fault, every misplaced tensor, every gap that is not zero, every boolean tensor that holds
    /// something else than 0 and 1. Reads the whole metadata again, all gaps, and all boolean payloads.
    ///
    /// ```
    /// use burnpy_pack::{Limits, ReadOptions, Reader, Writer};
    /// let mut file = Writer::new(vec![]).into_bytes()?.to_vec();
    /// *file.last_mut().unwrap() = 1;
    /// let reader = Reader::from_bytes(file.into(), &ReadOptions::default())?;
    /// assert_eq!(reader.problems(&Limits::default())?.len(), 1);
    /// # Ok::<(), burnpy_pack::Error>(())
    /// ```
    ///
    /// # Errors
    /// `IoError` where the file cannot be read, which is not the container's fault.
    pub fn problems(&self, limits: &Limits) -> Result<Vec<Error>> {
        let mut found: Vec<Error> = self.metadata_problem(limits)?.into_iter().collect();
        let available = self.source().len();
        let (header, metadata) = (self.header(), self.decoded());
        found.extend(validate::strict_problems(&header, metadata, self.data_start(), available));
        found.extend(self.gap_problems()?);
        for entry in self.entries() {
            found.extend(self.bool_problem(&entry)?);
        }
        Ok(found.into_iter().map(|error| self.located(error)).collect())
    }

    fn metadata_end(&self) -> u64 {
        HEADER_SIZE as u64 + u64::from(self.header().metadata_size)
    }

    /// The first thing in the metadata that strict mode refuses.
    fn metadata_problem(&self, limits: &Limits) -> Result<Option<Error>> {
        let size = u64::from(self.header().metadata_size);
        let bytes = read(&**self.source(), HEADER_SIZE as u64, size)?;
        Ok(Metadata::decode(&bytes, limits, true).err())
    }

    /// The first byte of each gap that is not zero: behind the metadata, then before each tensor.
    fn gap_problems(&self) -> Result<Vec<Error>> {
        let data_start = self.data_start();
        let (mut end, mut found) = (self.metadata_end(), Vec::new());
        let starts = self.entries().map(|entry| (entry.start(), entry.end()));
        // Without tensors, the padding behind the metadata is all there is, and may be absent.
        let bare = self.is_empty().then_some((0, 0));
        for (start, next_end) in starts.chain(bare) {
            let gap = end..(data_start + start).min(self.source().len());
            for piece in pieces(gap) {
                let bytes = self.read_piece(&piece)?;
                if let Err(error) = validate::check_zero(&bytes, piece.start) {
                    found.push(error);
                    break;
                }
            }
            end = end.max(data_start + next_end);
        }
        Ok(found)
    }

    /// The first element of a boolean tensor that is neither 0 nor 1.
    fn bool_problem(&self, entry: &Entry<'_>) -> Result<Option<Error>> {
        let first_wrong: fn(&[u8]) -> Option<(usize, u32)> = match entry.dtype() {
            DType::Bool(BoolStore::Native | BoolStore::U8) => first_wrong_byte,
            DType::Bool(BoolStore::U32) => first_wrong_word,
            _ => return Ok(None),
        };
        let (base, size) = (self.data_start(), entry.dtype().size().unwrap_or(1) as u64);
        for piece in pieces(base + entry.start()..base + entry.end()) {
            let bytes = self.read_piece(&piece)?;
            if let Some((at, value)) = first_wrong(&bytes) {
                let index = (piece.start - base - entry.start()) / size + at as u64;
                let what = format!("element {index} of {} is {value}, not 0 or 1", entry.dtype().name());
                let kind = ErrorKind::Validation { what, found: Some(u64::from(value)), limit: Some(1) };
                return Ok(Some(Error::from(kind).with_tensor(entry.name())));
            }
        }
        Ok(None)
    }

    fn read_piece(&self, piece: &Range<u64>) -> Result<Bytes> {
        read(&**self.source(), piece.start, piece.end - piece.start).map_err(|error| self.located(error))
    }
}

fn pieces(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = range;
    let ahead = move |&from: &u64| from.checked_add(PIECE).filter(|&next| next < end);
    let starts = std::iter::successors((start < end).then_some(start), ahead);
    starts.map(move |from| from..from.saturating_add(PIECE).min(end))
}

// The bits of all elements are gathered first: a loop that may stop at any element is not vectorised.
fn first_wrong_byte(bytes: &[u8]) -> Option<(usize, u32)> {
    if bytes.iter().fold(0, |seen, &byte| seen | byte) <= 1 {
        return None;
    }
    let at = bytes.iter().position(|&byte| byte > 1)?;
    Some((at, u32::from(*bytes.get(at)?)))
}

fn first_wrong_word(bytes: &[u8]) -> Option<(usize, u32)> {
    let (words, _) = bytes.as_chunks::<4>();
    let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
    if words.iter().fold(0, |seen, bytes| seen | word(bytes)) <= 1 {
        return None;
    }
    words.iter().map(word).enumerate().find(|&(_, value)| value > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadOptions, Tensor, Writer};

    fn file(tensors: Vec<Tensor>) -> Vec<u8> {
        Writer::new(tensors).into_bytes().unwrap().to_vec()
    }

    fn bools(name: &str, store: BoolStore, bytes: Vec<u8>) -> Tensor {
        let dtype = DType::Bool(store);
        let len = (bytes.len() / dtype.size().unwrap()) as u64;
        Tensor::new(name, dtype, vec![len], None, Bytes::from(bytes))
    }

    fn problems(file: Vec<u8>) -> Vec<String> {
        let reader = Reader::from_bytes(file.into(), &ReadOptions::default()).unwrap();
        let found = reader.problems(&Limits::default()).unwrap();
        found.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_the_writer_wrote_has_no_problem() {
        assert_eq!(problems(file(vec![])), [""; 0]);
        let tensors = vec![bools("a", BoolStore::Native, vec![0, 1, 1]), bools("b", BoolStore::U8, vec![])];
        assert_eq!(problems(file(tensors)), [""; 0]);
    }

    #[test]
    fn every_problem_is_told_not_the_first_alone() {
        let mut bytes = file(vec![
            bools("a", BoolStore::Native, vec![0, 1, 1]),
            bools("b", BoolStore::U32, vec![1, 0, 0, 0, 0, 1, 0, 0]),
        ]);
        bytes[4] = 0; // the version
        bytes[255] = 7; // behind the metadata
        bytes[256 + 2] = 3; // in a
        bytes[256 + 3] = 9; // between a and b
        bytes.push(0); // behind b
        let found = problems(bytes).join("\n");
        let words = [
            "version is 0",
            "content ends",
            "padding byte 255",
            "padding byte 259",
            "element 2 of bool",
            "256",
        ];
        assert!(words.iter().all(|word| found.contains(word)), "{found}");
        assert_eq!(found.lines().count(), 6, "{found}");
    }

    #[test]
    fn a_wrong_boolean_is_found_in_any_piece() {
        for at in [0, PIECE as usize - 1, PIECE as usize, PIECE as usize + 4] {
            let mut bytes = vec![1; PIECE as usize + 5];
            bytes[at] = 2;
            let found = problems(file(vec![bools("flags", BoolStore::U8, bytes)])).join("\n");
            assert!(found.contains(&format!("element {at} of bool(u8) is 2")), "{found}");
        }
    }
}
