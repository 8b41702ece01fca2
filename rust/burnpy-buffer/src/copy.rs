//! Copies of large payloads.

use std::sync::OnceLock;

use crate::aligned::BLOCK_ALIGNMENT;

/// From here on, a second thread pays for its start.
const PARALLEL_FROM: usize = 8 << 20;
const MAX_THREADS: usize = 4;

/// Copies `src` to `dst`, which must have the same length.
///
/// The part up to the destination's first 64-byte line goes first, so that the rest is stored in whole lines;
/// from 8 MiB on, up to four threads share the work.
///
/// # Panics
/// If the lengths differ.
pub fn copy_bytes(dst: &mut [u8], src: &[u8]) {
    assert_eq!(dst.len(), src.len(), "source and destination of a copy differ in length");
    let head = dst.as_ptr().align_offset(BLOCK_ALIGNMENT).min(dst.len());
    let (dst_head, dst) = dst.split_at_mut(head);
    let (src_head, src) = src.split_at(head);
    dst_head.copy_from_slice(src_head);
    match threads() {
        2.. if dst.len() >= PARALLEL_FROM => copy_parallel(dst, src),
        _ => dst.copy_from_slice(src),
    }
}

fn copy_parallel(dst: &mut [u8], src: &[u8]) {
    let chunk = dst.len().div_ceil(threads()).next_multiple_of(4096);
    let mut parts = dst.chunks_mut(chunk).zip(src.chunks(chunk));
    let own = parts.next();
    std::thread::scope(|scope| {
        for (dst, src) in parts {
            scope.spawn(move || dst.copy_from_slice(src));
        }
        if let Some((dst, src)) = own {
            dst.copy_from_slice(src);
        }
    });
}

fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_THREADS)))
}
