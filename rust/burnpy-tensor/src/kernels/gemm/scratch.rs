//! Memory for packed operands.

use std::cell::Cell;

use burnpy_buffer::{AlignedBuf, Pod, try_cast_slice, try_cast_slice_mut};

/// Room for `len` numbers, with whatever was there before.
pub(in crate::kernels) struct Scratch {
    block: AlignedBuf,
    len: usize,
}

impl Scratch {
    pub(in crate::kernels) fn new<T: Pod>(len: usize) -> Self {
        let bytes = len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_next_multiple_of(64));
        let bytes = bytes.expect("operands in memory are packed into as much");
        Self { block: AlignedBuf::for_overwrite(bytes), len }
    }

    pub(in crate::kernels) fn numbers<T: Pod>(&mut self) -> &mut [T] {
        let numbers = try_cast_slice_mut(&mut self.block).expect("blocks are whole lines");
        &mut numbers[..self.len]
    }

    pub(in crate::kernels) fn as_numbers<T: Pod>(&self) -> &[T] {
        &try_cast_slice(&self.block).expect("blocks are whole lines")[..self.len]
    }
}

thread_local! {
    static KEPT: Cell<Option<Scratch>> = const { Cell::new(None) };
}

/// Runs `run` with room for `len` numbers that the thread keeps for the next time. For what stays in the first-level
/// cache: there the pool's lock would count.
pub(super) fn with_kept<T: Pod, R>(len: usize, run: impl FnOnce(&mut [T]) -> R) -> R {
    let kept = KEPT.take().filter(|scratch| scratch.block.len() >= len * size_of::<T>());
    let mut scratch = kept.map_or_else(|| Scratch::new::<T>(len), |kept| Scratch { len, ..kept });
    let result = run(scratch.numbers());
    KEPT.set(Some(scratch));
    result
}
