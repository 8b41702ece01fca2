//! All payloads of a container, copied into memory of their own.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use burnpy_buffer::{AlignedBuf, Bytes};

use crate::error::{Error, Result};
use crate::reader::Reader;
use crate::source::{Source, on_two_threads};

/// From this length on, a tensor has a block of its own, so that it can be given back alone.
const OWN_BLOCK: u64 = 2 << 20;

/// Smaller tensors that follow each other share a block of about this length: one read instead of thousands.
const SHARED_BLOCK: u64 = 4 << 20;

/// A larger gap between two tensors ends a block: nobody wants to read a hole. Alignment leaves less than 256 bytes.
const MAX_GAP: u64 = 4096;

/// Blocks are filled in pieces of this size, below the one from which a source splits a read by itself.
const PIECE: usize = 4 << 20;

/// From this number of bytes on a second thread helps: one `pread` moves 4–6 GB/s, two together up to 8.5, and a
/// thread costs 40 µs.
const PARALLEL: u64 = 4 << 20;

/// Private copies of all payloads; see [`Reader::copy_all`].
pub struct Copies {
    /// Blocks of memory, not shared with anything else.
    pub blocks: Vec<Bytes>,
    /// For each tensor, in data order: its block, and where in that it starts.
    pub places: Vec<(usize, usize)>,
}

impl Reader {
    /// Copies every payload into aligned memory. Consecutive small tensors share a block.
    ///
    /// # Errors
    /// As [`Reader::bytes`], for the first tensor that has one; `ValidationError` for tensors that overlap so much that
    /// the copies would be larger than the file.
    pub fn copy_all(&self) -> Result<Copies> {
        self.entries().try_for_each(|entry| self.check_quantized(&entry))?;
        let (ranges, places) = self.plan_blocks();
        self.check_total(&ranges).map_err(|error| self.located(error))?;
        let blocks = self.read_blocks(&ranges).map_err(|error| self.located(error))?;
        Ok(Copies { blocks, places })
    }

    /// Ranges of the data section to read, and each tensor's place in them.
    fn plan_blocks(&self) -> (Vec<Range<u64>>, Vec<(usize, usize)>) {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut places = Vec::with_capacity(self.len());
        let mut after_small = false;
        for entry in self.entries() {
            let (tensor, small) = (entry.start()..entry.end(), entry.byte_len() < OWN_BLOCK);
            match ranges.last_mut() {
                Some(block) if after_small && small && fits(block, &tensor) => block.end = tensor.end,
                _ => ranges.push(tensor),
            }
            after_small = small;
            let block = ranges.len() - 1;
            places.push((block, (entry.start() - ranges[block].start) as usize));
        }
        (ranges, places)
    }

    /// A small file whose tensors all claim the same bytes must not fill the memory.
    fn check_total(&self, ranges: &[Range<u64>]) -> Result<()> {
        let (total, len) = (
            ranges.iter().map(|range| range.end - range.start).fold(0, u64::saturating_add),
            self.source().len(),
        );
        // Twice, as a few tensors that share their bytes are no attack.
        match total > len.saturating_mul(2) {
            true => Err(Error::over("the size of all copies in bytes", total, len.saturating_mul(2))),
            false => Ok(()),
        }
    }

    fn read_blocks(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut blocks = ranges.iter().map(allocate).collect::<Result<Vec<_>>>()?;
        let starts = ranges.iter().map(|range| self.data_start() + range.start);
        let pieces = blocks.iter_mut().zip(starts).flat_map(|(block, start)| {
            let at = (start..).step_by(PIECE);
            block.chunks_mut(PIECE).zip(at)
        });
        read_pieces(&**self.source(), pieces.collect())?;
        Ok(blocks.into_iter().map(Bytes::from).collect())
    }
}

/// Whether a tensor may join the block that ends before it. One that overlaps the block, as only odd files have it,
/// begins a new one: what is written to its copy must not show in another.
fn fits(block: &Range<u64>, tensor: &Range<u64>) -> bool {
    let near = tensor.start.checked_sub(block.end).is_some_and(|gap| gap <= MAX_GAP);
    near && tensor.end - block.start <= SHARED_BLOCK
}

fn allocate(range: &Range<u64>) -> Result<AlignedBuf> {
    let len = range.end - range.start;
    let len =
        usize::try_from(len).map_err(|_| Error::over("a block's size in bytes", len, usize::MAX as u64))?;
    Ok(AlignedBuf::try_for_overwrite(len)?)
}

/// Fills pieces of memory from their places in the source, with two threads where it pays.
fn read_pieces(source: &dyn Source, pieces: Vec<(&mut [u8], u64)>) -> Result<()> {
    let total: u64 = pieces.iter().map(|(piece, _)| piece.len() as u64).sum();
    let pieces: Vec<_> = pieces.into_iter().map(std::sync::Mutex::new).collect();
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut piece = piece.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let (out, start) = &mut *piece;
            source.read_into(*start, out)?;
        }
        Ok(())
    };
    if total < PARALLEL {
        return work();
    }
    // Where the system gives no second thread the work is all done here.
    let (first, second) = on_two_threads(work, work);
    first.and(second.unwrap_or(Ok(())))
}

#[cfg(test)]
mod tests {
    use burnpy_buffer::DType;

    use super::*;
    use crate::reader::ReadOptions;
    use crate::tensor::Tensor;
    use crate::writer::Writer;

    fn reader_of(lengths: &[u64]) -> Reader {
        let tensor = |(i, &len): (usize, &u64)| {
            let bytes: Vec<u8> = (0..len).map(|k| (k as usize * 7 + i) as u8).collect();
            Tensor::new(format!("t{i:03}"), DType::U8, vec![len], None, bytes.into())
        };
        let file = Writer::new(lengths.iter().enumerate().map(tensor).collect()).into_bytes().unwrap();
        Reader::from_bytes(file.into(), &ReadOptions::default()).unwrap()
    }

    #[test]
    fn every_copy_equals_its_window() {
        let reader =
            reader_of(&[5, 0, 300, OWN_BLOCK, 1, OWN_BLOCK - 1, OWN_BLOCK - 1, OWN_BLOCK - 1, 9 << 20, 7]);
        let copies = reader.copy_all().unwrap();
        assert_eq!(copies.places.len(), reader.len());
        for (entry, (block, start)) in reader.entries().zip(copies.places) {
            let copy = &copies.blocks[block][start..][..entry.byte_len() as usize];
            assert!(copy == &reader.bytes(&entry).unwrap()[..], "{}", entry.name());
        }
    }

    #[test]
    fn small_neighbours_share_a_block_and_large_tensors_do_not() {
        let copies = reader_of(&[100, 100, OWN_BLOCK, 100, 100]).copy_all().unwrap();
        let blocks: Vec<_> = copies.places.iter().map(|place| place.0).collect();
        assert_eq!(blocks, [0, 0, 1, 2, 2]);
    }
}
