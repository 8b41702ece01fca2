//! The update rules of optimizers, over many parameters at once.

use std::sync::{Mutex, MutexGuard, PoisonError};

use burnpy_tensor::optim::{
    AdaGrad, Adam, AdamW, Adan, Lion, MAX_STATES, Momentum, RmsProp, Rule, Sgd, Slot, step,
};
use burnpy_tensor::{Place, Result, Tensor, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::cell::{PyCell, take};
use super::gate;
use super::tensor::PyTensor;

/// What an optimizer does to the elements of a parameter, with its hyper-parameters.
///
/// Example:
///     >>> from burnpy import Tensor
///     >>> cell, state = Cell(Tensor([1.0])), RuleState()
///     >>> UpdateRule.sgd().step([cell], [Tensor([0.5])], [state], 1.0)
///     >>> cell.get().item(), state.time
///     (0.5, 1)
#[pyclass(frozen, name = "UpdateRule", module = "burnpy._core")]
pub(crate) struct PyUpdateRule(Rule);

#[pymethods]
impl PyUpdateRule {
    /// Stochastic gradient descent; ``momentum`` is the triple of momentum, dampening and whether it is Nesterov's.
    #[staticmethod]
    #[pyo3(signature = (*, weight_decay=None, momentum=None))]
    fn sgd(weight_decay: Option<f32>, momentum: Option<(f64, f64, bool)>) -> Self {
        let momentum =
            momentum.map(|(momentum, dampening, nesterov)| Momentum { momentum, dampening, nesterov });
        Self(Rule::Sgd(Sgd { weight_decay, momentum }))
    }

    /// Adam.
    #[staticmethod]
    #[pyo3(signature = (*, beta_1, beta_2, epsilon, weight_decay=None, amsgrad=false))]
    fn adam(beta_1: f32, beta_2: f32, epsilon: f32, weight_decay: Option<f32>, amsgrad: bool) -> Self {
        Self(Rule::Adam(Adam { weight_decay, beta_1, beta_2, epsilon, amsgrad }))
    }

    /// AdamW.
    #[staticmethod]
    #[pyo3(signature = (*, beta_1, beta_2, epsilon, weight_decay, cautious_weight_decay=false, amsgrad=false))]
    fn adamw(
        beta_1: f32,
        beta_2: f32,
        epsilon: f32,
        weight_decay: f32,
        cautious_weight_decay: bool,
        amsgrad: bool,
    ) -> Self {
        Self(Rule::AdamW(AdamW { beta_1, beta_2, epsilon, weight_decay, cautious_weight_decay, amsgrad }))
    }

    /// AdaGrad.
    #[staticmethod]
    #[pyo3(signature = (*, lr_decay, epsilon, weight_decay=None))]
    fn adagrad(lr_decay: f64, epsilon: f32, weight_decay: Option<f32>) -> Self {
        Self(Rule::AdaGrad(AdaGrad { weight_decay, lr_decay, epsilon }))
    }

    /// RMSProp.
    #[staticmethod]
    #[pyo3(signature = (*, alpha, momentum, epsilon, centered, weight_decay=None))]
    fn rmsprop(alpha: f32, momentum: f32, epsilon: f32, centered: bool, weight_decay: Option<f32>) -> Self {
        Self(Rule::RmsProp(RmsProp { weight_decay, alpha, momentum, epsilon, centered }))
    }

    /// Adan.
    #[staticmethod]
    #[pyo3(signature = (*, beta_1, beta_2, beta_3, epsilon, weight_decay, no_prox))]
    fn adan(beta_1: f32, beta_2: f32, beta_3: f32, epsilon: f32, weight_decay: f32, no_prox: bool) -> Self {
        Self(Rule::Adan(Adan { beta_1, beta_2, beta_3, epsilon, weight_decay, no_prox }))
    }

    /// Lion.
    #[staticmethod]
    #[pyo3(signature = (*, beta_1, beta_2, weight_decay))]
    fn lion(beta_1: f32, beta_2: f32, weight_decay: f32) -> Self {
        Self(Rule::Lion(Lion { beta_1, beta_2, weight_decay }))
    }

    /// How many state tensors a parameter has after a step.
    #[getter]
    fn num_states(&self) -> usize {
        self.0.num_states()
    }

    /// One step of all parameters, on all threads; each is updated where it lies if nobody else holds its memory.
    ///
    /// Raises:
    ///     ShapeError, DTypeError: a gradient or state does not fit its parameter; nothing is changed.
    ///     ValueError: the lists differ in length, or a cell or state occurs twice.
    #[pyo3(signature = (cells, gradients, states, lr, /))]
    fn step(
        &self,
        py: Python<'_>,
        cells: Vec<Bound<'_, PyCell>>,
        gradients: Vec<Bound<'_, PyTensor>>,
        states: Vec<Bound<'_, PyRuleState>>,
        lr: f64,
    ) -> PyResult<()> {
        if cells.len() != gradients.len() || cells.len() != states.len() {
            return Err(PyValueError::new_err(format!(
                "{} parameters with {} gradients and {} states",
                cells.len(),
                gradients.len(),
                states.len()
            )));
        }
        let cells: Vec<&PyCell> = cells.iter().map(Bound::get).collect();
        let gradients: Vec<&Tensor> = gradients.iter().map(|gradient| &gradient.get().0).collect();
        let states: Vec<&PyRuleState> = states.iter().map(Bound::get).collect();
        let (cell_order, state_order) = (by_address(&cells)?, by_address(&states)?);
        let work = gradients.iter().map(|gradient| gradient.num_elements()).sum();
        gate::run(py, work, || {
            let mut cells = in_order(&cells, &cell_order, |cell| cell.lock());
            let mut states = in_order(&states, &state_order, |state| state.lock());
            update(&self.0, &mut cells, &gradients, &mut states, lr)
        })
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

/// What a rule remembers of a parameter: how many steps it took, and tensors in the rule's order.
#[pyclass(frozen, name = "RuleState", module = "burnpy._core")]
pub(crate) struct PyRuleState(Mutex<State>);

#[derive(Clone, Default)]
struct State {
    time: u64,
    tensors: [Option<Value>; MAX_STATES],
}

#[pymethods]
impl PyRuleState {
    #[new]
    #[pyo3(signature = (time=0, tensors=Vec::new()))]
    fn new(time: u64, tensors: Vec<Option<Bound<'_, PyTensor>>>) -> PyResult<Self> {
        if tensors.len() > MAX_STATES {
            return Err(PyValueError::new_err(format!(
                "a state has at most {MAX_STATES} tensors, got {}",
                tensors.len()
            )));
        }
        let mut state = State { time, ..State::default() };
        for (place, tensor) in state.tensors.iter_mut().zip(&tensors) {
            *place = tensor.as_ref().map(|tensor| tensor.get().0.value().clone());
        }
        Ok(Self(Mutex::new(state)))
    }

    /// Steps so far.
    #[getter]
    fn time(&self) -> u64 {
        self.lock().time
    }

    /// The tensors, plain ones; ``None`` where there is none.
    #[getter]
    fn tensors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let tensors = self.lock().tensors.clone();
        PyTuple::new(py, tensors.map(|value| value.map(|value| PyTensor(value.into()))))
    }

    /// The same state, independent of this one. Memory is shared until one of them changes.
    fn clone(&self) -> Self {
        let state = State::clone(&self.lock());
        Self(Mutex::new(state))
    }
}

impl PyRuleState {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The places of the items in the order of their addresses: whoever locks many, locks them in this order.
fn by_address<T>(items: &[&T]) -> PyResult<Vec<usize>> {
    let address = |&i: &usize| std::ptr::from_ref(items[i]).addr();
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_unstable_by_key(address);
    if let Some(pair) = order.windows(2).find(|pair| address(&pair[0]) == address(&pair[1])) {
        return Err(PyValueError::new_err(format!(
            "places {} and {} are the same parameter or state",
            pair[0], pair[1]
        )));
    }
    Ok(order)
}

/// Locks all, in an order that everyone keeps; given back in the order of the items.
fn in_order<'a, T, G>(items: &[&'a T], order: &[usize], lock: impl Fn(&'a T) -> G) -> Vec<G> {
    let mut locked: Vec<Option<G>> = items.iter().map(|_| None).collect();
    for &i in order {
        locked[i] = Some(lock(items[i]));
    }
    locked.into_iter().flatten().collect()
}

fn update(
    rule: &Rule,
    cells: &mut [MutexGuard<'_, Option<Tensor>>],
    gradients: &[&Tensor],
    states: &mut [MutexGuard<'_, State>],
    lr: f64,
) -> Result<()> {
    let mut places: Vec<Place> = Vec::with_capacity(cells.len());
    let mut slots: Vec<Slot> = Vec::with_capacity(cells.len());
    for ((cell, gradient), state) in cells.iter_mut().zip(gradients).zip(states.iter_mut()) {
        let (parameter, place) = take(cell).into_parts();
        places.push(place);
        slots.push(Slot {
            parameter,
            gradient: gradient.value().clone(),
            states: std::mem::take(&mut state.tensors),
            time: state.time + 1,
            lr,
        });
    }
    let result = step(rule, &mut slots);
    for (((cell, state), slot), place) in cells.iter_mut().zip(states).zip(slots).zip(places) {
        **cell = Some(place.with(slot.parameter));
        state.tensors = slot.states;
        state.time = if result.is_ok() { slot.time } else { slot.time - 1 };
    }
    result
}
