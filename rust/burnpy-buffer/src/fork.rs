//! Forks: the one place that talks to the C library about them.
//!
//! A forked child has one thread and a copy of every lock as it was. A lock that another thread held at that
//! moment is never released there. So whoever owns a process-wide lock takes it before a fork and releases it
//! on both sides after it. What is set up at first use is kept in atomics, not behind `Once`, which is a lock
//! too: two threads may then do it twice.

/// Has `before` called ahead of every fork of this process, and then `in_parent` or `in_child`, all on the
/// thread that forks. `before` handlers run in reverse order of registration, the others in order.
///
/// There is no way to take it back: call it once per lock. Does nothing where there is no fork.
pub fn on_fork(before: extern "C" fn(), in_parent: extern "C" fn(), in_child: extern "C" fn()) {
    #[cfg(unix)]
    {
        // SAFETY: the handlers are plain functions that live as long as the program. An error can only be
        // a lack of memory for the list entry; forks are then as without handlers.
        let code = unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
        debug_assert_eq!(code, 0, "pthread_atfork failed with code {code}");
    }
    #[cfg(not(unix))]
    let _ = (before, in_parent, in_child);
}

/// Holds a static lock over every fork from now on: `$lock()` gives its guard, of type `$guard`, and
/// `$in_child` is called with that guard in the child, where little else is safe. Costs one atomic read
/// when done already.
macro_rules! hold_over_forks {
    ($lock:path, $guard:ty, $in_child:expr) => {{
        use std::sync::atomic::{AtomicBool, Ordering};

        static REGISTERED: AtomicBool = AtomicBool::new(false);
        thread_local! {
            /// The guard during a fork, on the thread that forks.
            static HELD: std::cell::Cell<Option<$guard>> = const { std::cell::Cell::new(None) };
        }
        extern "C" fn before() {
            // A thread that forks as it ends has no place for the guard any more; it goes without.
            let _ = HELD.try_with(|held| held.set(Some($lock())));
        }
        extern "C" fn in_parent() {
            drop(HELD.try_with(std::cell::Cell::take));
        }
        extern "C" fn in_child() {
            let in_child: fn(&mut $guard) = $in_child;
            if let Ok(Some(mut guard)) = HELD.try_with(std::cell::Cell::take) {
                in_child(&mut guard);
            }
        }
        if !REGISTERED.load(Ordering::Relaxed) && !REGISTERED.swap(true, Ordering::Relaxed) {
            $crate::fork::on_fork(before, in_parent, in_child);
        }
    }};
}
pub(crate) use hold_over_forks;
