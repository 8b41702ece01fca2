//! Freed blocks, kept for the next one of about their size.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::aligned::{Block, physical_memory};
use crate::fork::hold_over_forks;
use crate::shelf;

/// Blocks below this capacity go to a thread's shelf or back to the global allocator. From here on, a new block
/// costs as much for its zeros as the copy that fills it.
pub(crate) const CACHED_FROM: usize = 4 << 10;

static POOL: Mutex<Pool> = Mutex::new(Pool::new());

/// Gives all cached memory back to the system.
pub fn trim_pool() {
    // Two statements: the blocks are freed after the lock is released.
    let blocks = lock().take_all();
    drop(blocks);
}

/// Bytes of cached memory, which no block uses at present.
pub fn pool_bytes() -> usize {
    lock().bytes
}

/// A block of at least this capacity: a cached one, else a new one, for which the cache is given up if need
/// be. `None` if there is no memory.
pub(crate) fn acquire(capacity: usize) -> Option<Block> {
    if capacity < CACHED_FROM {
        return shelf::take(capacity).or_else(|| Block::new(capacity));
    }
    let cached = lock().take(capacity);
    if let Some(mut block) = cached {
        block.wake();
        return Some(block);
    }
    Block::new(capacity).or_else(|| {
        trim_pool();
        Block::new(capacity)
    })
}

/// Takes a block back, and frees the longest unused ones if the cache would grow over its limit.
pub(crate) fn release(mut block: Block) {
    if block.capacity() < CACHED_FROM {
        return shelf::put(block);
    }
    block.rest();
    let limit = limit();
    let evicted = lock().put(block, limit);
    drop(evicted);
}

/// What is cached, by size and then age: the newest block of a size is the warmest.
struct Pool {
    blocks: BTreeMap<(usize, u64), Block>,
    /// Size by age.
    sizes: BTreeMap<u64, usize>,
    bytes: usize,
    next_age: u64,
    /// The process is a forked child, the blocks are its parent's. They go at the first use: to write to one
    /// would have the kernel copy its old content first, page by page.
    inherited: bool,
}

impl Pool {
    const fn new() -> Self {
        Self { blocks: BTreeMap::new(), sizes: BTreeMap::new(), bytes: 0, next_age: 0, inherited: false }
    }

    /// The best fit, at most a quarter larger than asked for.
    fn take(&mut self, wanted: usize) -> Option<Block> {
        let (&(capacity, _), _) =
            self.blocks.range((wanted, 0)..=(wanted.saturating_add(wanted / 4), u64::MAX)).next()?;
        let (&newest, _) = self.blocks.range((capacity, 0)..=(capacity, u64::MAX)).next_back()?;
        self.remove(newest)
    }

    /// Adds a block; what no longer fits is returned, to be freed without the lock.
    fn put(&mut self, block: Block, limit: usize) -> Vec<Block> {
        self.bytes += block.capacity();
        self.sizes.insert(self.next_age, block.capacity());
        self.blocks.insert((block.capacity(), self.next_age), block);
        self.next_age += 1;
        let mut evicted = Vec::new();
        while self.bytes > limit {
            let oldest = self.sizes.first_key_value().map(|(&age, &size)| (size, age));
            evicted.extend(oldest.and_then(|key| self.remove(key)));
        }
        evicted
    }

    fn remove(&mut self, key: (usize, u64)) -> Option<Block> {
        let block = self.blocks.remove(&key)?;
        self.sizes.remove(&key.1);
        self.bytes -= block.capacity();
        Some(block)
    }

    fn take_all(&mut self) -> BTreeMap<(usize, u64), Block> {
        self.bytes = 0;
        self.sizes.clear();
        std::mem::take(&mut self.blocks)
    }
}

/// The pool, which no fork can catch in the middle of a change.
fn lock() -> MutexGuard<'static, Pool> {
    hold_over_forks!(lock_plainly, MutexGuard<'static, Pool>, |pool| pool.inherited = true);
    let mut pool = lock_plainly();
    if pool.inherited {
        pool.inherited = false;
        drop(pool.take_all());
    }
    pool
}

fn lock_plainly() -> MutexGuard<'static, Pool> {
    // Nothing panics while it is held but a lack of memory for a map's node; then `bytes` is off by a block.
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An eighth of the machine's memory: what is cached in blocks of 32 MiB and more the kernel may take back.
fn limit() -> usize {
    static LIMIT: AtomicUsize = AtomicUsize::new(0);
    match LIMIT.load(Ordering::Relaxed) {
        0 => {
            let limit = physical_memory() / 8;
            LIMIT.store(limit, Ordering::Relaxed);
            limit
        }
        limit => limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn pool_of(sizes: &[usize]) -> Pool {
        let mut pool = Pool::new();
        for &size in sizes {
            assert!(pool.put(Block::new(size).unwrap(), usize::MAX).is_empty());
        }
        pool
    }

    fn capacity(block: Option<Block>) -> Option<usize> {
        block.map(|block| block.capacity())
    }

    #[test]
    fn the_smallest_block_that_fits_is_taken_if_it_is_at_most_a_quarter_larger() {
        let mut pool = pool_of(&[MIB, 4 * MIB, 5 * MIB]);
        assert_eq!(capacity(pool.take(2 * MIB)), None);
        assert_eq!(capacity(pool.take(4 * MIB)), Some(4 * MIB));
        assert_eq!(capacity(pool.take(4 * MIB)), Some(5 * MIB));
        assert_eq!(capacity(pool.take(4 * MIB)), None);
        assert_eq!(capacity(pool.take(MIB + 1)), None);
        assert_eq!((pool.bytes, pool.blocks.len(), pool.sizes.len()), (MIB, 1, 1));
    }

    #[test]
    fn the_blocks_that_lay_longest_go_when_the_limit_is_reached() {
        let mut pool = pool_of(&[3 * MIB, MIB, 2 * MIB]);
        let evicted = pool.put(Block::new(2 * MIB).unwrap(), 5 * MIB);
        assert_eq!(evicted.iter().map(Block::capacity).collect::<Vec<_>>(), [3 * MIB]);
        let evicted = pool.put(Block::new(6 * MIB).unwrap(), 5 * MIB);
        assert_eq!(evicted.len(), 4, "a block over the limit is not kept, and takes the older ones along");
        assert_eq!((pool.bytes, pool.blocks.len(), pool.sizes.len()), (0, 0, 0));
    }

    #[test]
    fn of_equal_blocks_the_newest_is_taken() {
        let mut pool = pool_of(&[MIB, MIB]);
        pool.take(MIB);
        assert_eq!(pool.sizes.first_key_value(), Some((&0, &MIB)));
    }
}
