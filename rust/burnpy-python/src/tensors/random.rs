//! The state of random numbers, and streams of them.

use burnpy_tensor::random::{self, Draw};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Seed, stream, offset, and the number of the next stream.
type Parts = (u64, u64, u64, u64);

/// Starts random numbers again from a seed: the same seed and the same calls give the same numbers, with any number of
/// threads.
#[pyfunction]
#[pyo3(signature = (seed, /))]
pub(crate) fn manual_seed(seed: u64) {
    random::seed(seed);
}

/// The state of random numbers, four integers, for ``set_random_state``.
#[pyfunction]
pub(crate) fn random_state() -> Parts {
    parts(random::state())
}

/// Goes on from a state that ``random_state`` gave.
#[pyfunction]
#[pyo3(signature = (state, /))]
pub(crate) fn set_random_state(state: Parts) {
    random::set_state(from_parts(state));
}

/// Gives this thread a state of its own, or takes it away; what it had before is returned.
#[pyfunction]
#[pyo3(signature = (state, /))]
pub(crate) fn set_own_random_state(state: Option<Parts>) -> Option<Parts> {
    random::set_own_state(state.map(from_parts)).map(parts)
}

fn parts(state: random::State) -> Parts {
    (state.seed, state.stream, state.offset, state.next_stream)
}

fn from_parts((seed, stream, offset, next_stream): Parts) -> random::State {
    random::State { seed, stream, offset, next_stream }
}

/// A stream of random numbers of its own: what is drawn from it depends on it alone, not on when it is drawn.
///
/// Example:
///     >>> from burnpy import Tensor, manual_seed
///     >>> manual_seed(7)
///     >>> first = Tensor.random_from(new_stream(), (2,))
///     >>> manual_seed(7)
///     >>> bool(first.equal(Tensor.random_from(new_stream(), (2,))).all().item())
///     True
#[pyclass(frozen, eq, name = "Draw", module = "burnpy._core")]
#[derive(PartialEq)]
pub(crate) struct PyDraw(pub(crate) Draw);

#[pymethods]
impl PyDraw {
    #[new]
    fn new(seed: u64, stream: u64, offset: u64) -> Self {
        Self(Draw { seed, stream, offset })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (u64, u64, u64)) {
        let Draw { seed, stream, offset } = slf.get().0;
        (slf.get_type(), (seed, stream, offset))
    }

    fn __repr__(&self) -> String {
        let Draw { seed, stream, offset } = self.0;
        format!("Draw(seed={seed}, stream={stream}, offset={offset})")
    }
}

/// A stream of random numbers that nobody else draws from.
#[pyfunction]
pub(crate) fn new_stream() -> PyDraw {
    PyDraw(random::new_stream())
}
