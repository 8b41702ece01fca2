//! The state of random numbers.

use burnpy_tensor::random;
use pyo3::prelude::*;

/// Starts random numbers again from a seed: the same seed and the same calls give the same numbers, with any number of
/// threads.
#[pyfunction]
#[pyo3(signature = (seed, /))]
pub(crate) fn manual_seed(seed: u64) {
    random::seed(seed);
}

/// The state of random numbers, four integers, for ``set_random_state``.
#[pyfunction]
pub(crate) fn random_state() -> (u64, u64, u64, u64) {
    let state = random::state();
    (state.seed, state.stream, state.offset, state.next_stream)
}

/// Goes on from a state that ``random_state`` gave.
#[pyfunction]
#[pyo3(signature = (state, /))]
pub(crate) fn set_random_state(state: (u64, u64, u64, u64)) {
    let (seed, stream, offset, next_stream) = state;
    random::set_state(random::State { seed, stream, offset, next_stream });
}
