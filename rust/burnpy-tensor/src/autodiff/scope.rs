//! Whether operations are recorded, on this thread.

use std::cell::Cell;

/// Whether operations on tracked tensors are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recording {
    /// They are.
    On,
    /// They are not; results are untracked.
    Off,
    /// They are not, but it is noted if one would have been.
    Probe,
}

thread_local! {
    static RECORDING: Cell<Recording> = const { Cell::new(Recording::On) };
    static PROBED: Cell<bool> = const { Cell::new(false) };
}

/// The state of this thread.
#[inline]
pub fn recording() -> Recording {
    RECORDING.get()
}

/// Sets the state of this thread; the one before is returned, to be set again.
pub fn set_recording(recording: Recording) -> Recording {
    RECORDING.replace(recording)
}

/// Runs without recording.
///
/// ```
/// use burnpy_tensor::{Tensor, Value, autodiff::no_grad};
/// let x = Tensor::from(Value::from_slice(&[1.0f32], &[1])?).autodiff().require_grad()?;
/// assert!(!no_grad(|| x.mul(&x))?.is_tracked());
/// # Ok::<(), burnpy_tensor::Error>(())
/// ```
pub fn no_grad<R>(run: impl FnOnce() -> R) -> R {
    with_recording(Recording::Off, run)
}

pub(crate) fn with_recording<R>(recording: Recording, run: impl FnOnce() -> R) -> R {
    struct Restore(Recording);
    impl Drop for Restore {
        fn drop(&mut self) {
            RECORDING.set(self.0);
        }
    }
    let _restore = Restore(set_recording(recording));
    run()
}

/// Notes that an operation would have been recorded.
pub(crate) fn note_probe() {
    PROBED.set(true);
}

/// Runs without recording; the second result says whether an operation would have been recorded.
pub(crate) fn probe<R>(run: impl FnOnce() -> R) -> (R, bool) {
    let outer = PROBED.replace(false);
    let state = if recording() == Recording::Off { Recording::Off } else { Recording::Probe };
    let result = with_recording(state, run);
    let probed = PROBED.replace(outer);
    if probed && recording() == Recording::Probe {
        note_probe();
    }
    (result, probed && recording() == Recording::On)
}
