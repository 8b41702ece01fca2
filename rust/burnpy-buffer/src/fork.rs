//! Forks: the one place that talks to the C library about them.
//!
//! A forked child has one thread and a copy of every lock as it was. A lock that another thread held at that
//! moment is never released there. So whoever owns a process-wide lock takes it before a fork and releases it
//! on both sides after it, with [`on_fork`].

/// Has `before` called ahead of every fork of this process, and then `in_parent` or `in_child`, all on the
/// thread that forks. `before` handlers run in reverse order of registration, the others in order.
///
/// There is no way to take it back: call it once per lock, as from a `Once`. Does nothing where there is no
/// fork.
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
