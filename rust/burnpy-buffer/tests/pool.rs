//! The process-wide pool, in a process where nothing else allocates blocks.

use burnpy_buffer::{AlignedBuf, pool_bytes, trim_pool};

const MIB: usize = 1 << 20;

/// One test, as all share the pool.
#[test]
fn freed_blocks_are_kept_reused_and_given_back() {
    // Kept, and taken by the next block of about the size.
    let block = AlignedBuf::for_overwrite(10 * MIB);
    let address = block.as_ptr();
    drop(block);
    assert_eq!(pool_bytes(), 10 * MIB);
    let block = AlignedBuf::for_overwrite(9 * MIB);
    assert_eq!((block.as_ptr(), block.len(), pool_bytes()), (address, 9 * MIB, 0));

    // Not for one of half the size, nor for a small one.
    drop(block);
    let half = AlignedBuf::for_overwrite(5 * MIB);
    assert_ne!(half.as_ptr(), address);
    assert_eq!(pool_bytes(), 10 * MIB);
    drop(AlignedBuf::for_overwrite(100));
    assert_eq!(pool_bytes(), 10 * MIB);

    // Content survives in a block that is in use, whatever happens to the cached ones.
    let mut filled = AlignedBuf::for_overwrite(40 * MIB);
    filled.fill(7);
    trim_pool();
    assert_eq!(pool_bytes(), 0);
    assert!(filled.iter().all(|&byte| byte == 7));

    // Many threads: every block is its holder's alone.
    std::thread::scope(|scope| {
        for id in 1..=4u8 {
            scope.spawn(move || {
                for round in 0..200 {
                    let mut block = AlignedBuf::for_overwrite(8192 + round * 64);
                    block.fill(id);
                    std::thread::yield_now();
                    assert!(block.iter().all(|&byte| byte == id));
                }
            });
        }
    });
    drop((half, filled));
    assert!(pool_bytes() >= 45 * MIB);
    trim_pool();
    assert_eq!(pool_bytes(), 0);
}
