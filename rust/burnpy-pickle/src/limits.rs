//! What a file may ask for, and the account that is kept while it is read.

use std::time::{Duration, Instant};

use crate::error::{ErrorKind, Result};

/// What a file may ask for. The defaults let every real checkpoint pass and stop hostile ones early.
///
/// A pickle has no loops, so opcodes are bounded by the file's size; what is bounded here beside them is what
/// few bytes can multiply: copies, names of shared containers, inflated members.
///
/// ```
/// use burnpy_pickle::{Limits, open};
/// let million_bytes = b"\x80\x04\x8d\x40\x42\x0f\x00\x00\x00\x00\x00"; // a string of 1 000 000 bytes, cut off
/// let limits = Limits { max_length: 1000, ..Limits::default() };
/// assert_eq!(open(million_bytes, &limits).unwrap_err().kind.name(), "over limit");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Estimated bytes of the values of a file, and of the listing of its leaves. Small files get less, see
    /// [`memory`](Limits::memory) and [`listing_memory`](Limits::listing_memory).
    pub max_memory: u64,
    /// Bytes of a `data.pkl` that has to be inflated.
    pub max_inflated_pickle: u64,
    /// One string, bytes object or frame of a pickle.
    pub max_length: u64,
    /// Bytes, or decimal digits, of one integer.
    pub max_int_len: usize,
    /// Opcodes of a pickle.
    pub max_opcodes: u64,
    /// Entries of a pickle's memo.
    pub max_memo: usize,
    /// Values and marks on a pickle's stack.
    pub max_stack: usize,
    /// Time for one pickle, or for listing its leaves.
    pub max_time: Duration,
    /// Containers around a leaf.
    pub max_depth: usize,
    /// Leaves; those of a shared container count at every place where it stands.
    pub max_leaves: u64,
    /// Members of an archive.
    pub max_members: u64,
    /// Bytes of one tensor's contiguous copy, and of the window of an inflated storage that it needs.
    pub max_tensor_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_memory: 1 << 30,
            max_inflated_pickle: 64 << 20,
            max_length: 2 << 30,
            max_int_len: 1024,
            max_opcodes: 100_000_000,
            max_memo: 10_000_000,
            max_stack: 4_000_000,
            max_time: Duration::from_secs(30),
            max_depth: 1000,
            max_leaves: 4_000_000,
            max_members: 1_000_000,
            max_tensor_bytes: 10 << 30,
        }
    }
}

impl Limits {
    /// The memory that the values of a pickle of `len` bytes may take: 32 MiB and 40 bytes for each byte of
    /// it, at most [`max_memory`](Self::max_memory). The densest honest pickle, a list of small integers,
    /// needs 36.
    pub fn memory(&self, len: usize) -> u64 {
        self.scaled(len, 40)
    }

    /// The same for the listing of its leaves, with 128 bytes for each byte: a list of booleans, one byte
    /// each, needs 104 and the name of the list for each of them.
    pub fn listing_memory(&self, len: usize) -> u64 {
        self.scaled(len, 128)
    }

    fn scaled(&self, len: usize, factor: u64) -> u64 {
        (len as u64).saturating_mul(factor).saturating_add(32 << 20).min(self.max_memory)
    }
}

/// The account of one pickle, or of one listing: what it has taken so far. Nothing is ever given back.
#[derive(Debug)]
pub(crate) struct Budget {
    used: u64,
    limit: u64,
    start: Instant,
    max_time: Duration,
}

impl Budget {
    /// An account with so many bytes.
    pub(crate) fn new(limit: u64, max_time: Duration) -> Self {
        Self { used: 0, limit, start: Instant::now(), max_time }
    }

    /// Takes `bytes`, before they are allocated.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), ErrorKind> {
        self.used = self.used.saturating_add(bytes as u64);
        check("the memory that its values take", self.used, self.limit)
    }

    /// Fails when the time is over. Called every few thousand steps: asking for the time costs more than a
    /// step.
    pub(crate) fn check_time(&self) -> Result<(), ErrorKind> {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        check("the time to read it in milliseconds", millis(self.start.elapsed()), millis(self.max_time))
    }
}

/// Fails when `found` is over `limit`.
pub(crate) fn check(what: &'static str, found: u64, limit: u64) -> Result<(), ErrorKind> {
    if found > limit {
        return Err(ErrorKind::OverLimit { what, found, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_never_given_back() {
        let mut budget = Budget::new(100, Duration::from_secs(1));
        assert!(budget.take(60).is_ok());
        assert!(budget.take(40).is_ok());
        assert!(budget.take(1).is_err());
        assert!(budget.take(usize::MAX).is_err());
    }

    #[test]
    fn time_is_a_limit_too() {
        let budget = Budget::new(100, Duration::ZERO);
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(budget.check_time().unwrap_err().name(), "over limit");
    }
}
