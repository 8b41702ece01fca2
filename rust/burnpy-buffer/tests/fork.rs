//! A child that is forked while other threads use the pool and the registry of maps.
#![cfg(unix)]

use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};

use burnpy_buffer::{AlignedBuf, MapMode, copy_bytes, map_file, pool_bytes};

#[test]
fn a_forked_child_allocates_copies_and_maps_whatever_other_threads_were_doing() {
    let stop = AtomicBool::new(false);
    let kept = AlignedBuf::zeroed(3 << 20);
    std::thread::scope(|scope| {
        for size in [100_000, 3 << 20] {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    drop(AlignedBuf::for_overwrite(size));
                    map_this_test();
                }
            });
        }
        let codes: Vec<_> = (0..40).map(|_| exit_code_of_child(|| work(&kept))).collect();
        stop.store(true, Ordering::Relaxed);
        assert!(codes.iter().all(|&code| code == 0), "wait statuses of the children: {codes:?}");
    });
}

fn work(kept: &[u8]) {
    let mut block = AlignedBuf::for_overwrite(kept.len());
    copy_bytes(&mut block, kept);
    assert!(block[..] == *kept);
    drop(block);
    // The parent's cache is gone, and the child has one of its own.
    assert_eq!(pool_bytes(), kept.len());
    let address = AlignedBuf::for_overwrite(kept.len()).as_ptr();
    assert_eq!(AlignedBuf::for_overwrite(kept.len()).as_ptr(), address);
    map_this_test();
}

fn map_this_test() {
    let file = File::open(std::env::current_exe().unwrap()).unwrap();
    assert!(!map_file(&file, MapMode::Shared).unwrap().is_empty());
}

/// The wait status of a child that does `work`: 0 if it came to the end, a signal if it hung or panicked.
fn exit_code_of_child(work: impl FnOnce()) -> i32 {
    // SAFETY: the child calls allocator, pool and file functions, which handle forks, and leaves by `_exit`.
    unsafe {
        match libc::fork() {
            0 => {
                libc::alarm(20);
                let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_ok();
                libc::_exit(if done { 0 } else { 1 })
            }
            child => {
                assert!(child > 0, "fork failed");
                let mut status = 0;
                assert_eq!(libc::waitpid(child, &mut status, 0), child);
                status
            }
        }
    }
}
