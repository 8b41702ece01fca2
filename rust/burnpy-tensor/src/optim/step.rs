//! One step of many parameters at once.

use burnpy_buffer::DType;
use half::{bf16, f16};

use super::number::Number;
use super::{AdaGrad, Adam, AdamW, Adan, Lion, RmsProp, Sgd};
use crate::error::{Error, Result};
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};
use crate::value::Value;

/// Elements that a task updates at most.
const CHUNK: usize = 16 << 10;

/// Room for the state tensors of a rule: Adan has four.
pub const MAX_STATES: usize = 4;

/// A rule that treats every element by itself, with its hyper-parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Rule {
    /// Stochastic gradient descent.
    Sgd(Sgd),
    /// Adam.
    Adam(Adam),
    /// AdamW.
    AdamW(AdamW),
    /// AdaGrad.
    AdaGrad(AdaGrad),
    /// RMSProp.
    RmsProp(RmsProp),
    /// Adan.
    Adan(Adan),
    /// Lion.
    Lion(Lion),
}

impl Rule {
    /// How many state tensors a parameter has after a step.
    pub fn num_states(&self) -> usize {
        match self {
            Self::Sgd(rule) => usize::from(rule.momentum.is_some()),
            Self::Adam(rule) => 2 + usize::from(rule.amsgrad),
            Self::AdamW(rule) => 2 + usize::from(rule.amsgrad),
            Self::AdaGrad(_) | Self::Lion(_) => 1,
            Self::RmsProp(rule) => 2 + usize::from(rule.centered) + usize::from(rule.has_momentum()),
            Self::Adan(_) => 4,
        }
    }

    /// `time` counts the steps of the parameter, this one included: 1 for the first. `fresh[i]` says that state `i`
    /// has no value yet.
    #[inline(always)]
    fn apply<T: Number>(&self, lr: f64, time: u64, fresh: [bool; MAX_STATES], part: Part<'_, T>) {
        match self {
            Self::Sgd(rule) => rule.apply(lr, fresh, part),
            Self::Adam(rule) => rule.apply(lr, time, fresh, part),
            Self::AdamW(rule) => rule.apply(lr, time, fresh, part),
            Self::AdaGrad(rule) => rule.apply(lr, time, fresh, part),
            Self::RmsProp(rule) => rule.apply(lr, fresh, part),
            Self::Adan(rule) => rule.apply(lr, time, fresh, part),
            Self::Lion(rule) => rule.apply(lr, fresh, part),
        }
    }
}

/// A parameter on its way through a step.
#[derive(Debug)]
pub struct Slot {
    /// The parameter: updated where it lies if nobody else holds its memory, else in fresh memory.
    pub parameter: Value,
    /// Its gradient.
    pub gradient: Value,
    /// State tensors, in the rule's order; `None` where there is none yet. Updated like the parameter.
    pub states: [Option<Value>; MAX_STATES],
    /// Steps of this parameter, this one included.
    pub time: u64,
    /// The learning rate.
    pub lr: f64,
}

/// Some elements of a parameter, and what goes with them.
pub(super) struct Part<'a, T> {
    pub(super) theta: &'a mut [T],
    pub(super) gradient: &'a [T],
    pub(super) states: [&'a mut [T]; MAX_STATES],
}

/// Applies a rule to all parameters, on all threads.
///
/// # Errors
/// `Shape` or `DType` if a gradient or a state does not fit its parameter; nothing is changed then.
pub fn step(rule: &Rule, slots: &mut [Slot]) -> Result<()> {
    slots.iter().try_for_each(|slot| check(rule, slot))?;
    let fresh: Vec<[bool; MAX_STATES]> =
        slots.iter().map(|slot| std::array::from_fn(|i| slot.states[i].is_none())).collect();
    for slot in slots.iter_mut() {
        make_writable(&mut slot.parameter)?;
        slot.gradient = slot.gradient.contiguous();
        for state in &mut slot.states[..rule.num_states()] {
            match state {
                Some(value) => make_writable(value)?,
                None => *state = Some(slot.parameter.build_like()?),
            }
        }
    }
    step_of::<f32>(rule, slots, &fresh, DType::F32);
    step_of::<f64>(rule, slots, &fresh, DType::F64);
    step_of::<f16>(rule, slots, &fresh, DType::F16);
    step_of::<bf16>(rule, slots, &fresh, DType::BF16);
    Ok(())
}

fn check(rule: &Rule, slot: &Slot) -> Result<()> {
    let (shape, dtype) = (slot.parameter.shape(), storage(slot.parameter.dtype()));
    let states = slot.states[..rule.num_states()].iter().flatten();
    for other in states.chain([&slot.gradient]) {
        if other.shape() != shape {
            let message = format_args!(
                "a parameter of shape {shape:?} with a gradient or state of {:?}",
                other.shape()
            );
            return Err(Error::shape("optimizer step", message));
        }
        if storage(other.dtype()) != dtype {
            let (wanted, found) = (dtype.name(), other.dtype().name());
            let message = format_args!("a parameter of {wanted} with a gradient or state of {found}");
            return Err(Error::dtype("optimizer step", message));
        }
    }
    match dtype {
        DType::F32 | DType::F64 | DType::F16 | DType::BF16 => Ok(()),
        other => {
            Err(Error::dtype("optimizer step", format_args!("{} parameters are not trained", other.name())))
        }
    }
}

/// Flex32 is stored, and so updated, as f32.
fn storage(dtype: DType) -> DType {
    if dtype == DType::Flex32 { DType::F32 } else { dtype }
}

fn make_writable(value: &mut Value) -> Result<()> {
    if !value.is_writable_alone() {
        *value = value.copied()?;
    }
    Ok(())
}

struct Task<'a, T> {
    part: Part<'a, T>,
    time: u64,
    lr: f64,
    fresh: [bool; MAX_STATES],
}

fn step_of<T: Number>(rule: &Rule, slots: &mut [Slot], fresh: &[[bool; MAX_STATES]], dtype: DType) {
    let mut tasks: Vec<Task<'_, T>> = Vec::new();
    let mut total = 0;
    for (slot, &fresh) in slots.iter_mut().zip(fresh) {
        if storage(slot.parameter.dtype()) == dtype {
            total += slot.parameter.num_elements();
            cut(slot, rule.num_states(), fresh, &mut tasks);
        }
    }
    // Small tensors go together, so that a task is worth its thread; bits do not depend on the company.
    let together = (CHUNK * tasks.len()).checked_div(total).unwrap_or(1).max(1);
    parallel::chunks_mut(&mut tasks, together, |_, tasks| dispatch(Apply { rule, tasks }));
}

/// The slot in parts of a task's length.
fn cut<'a, T: Number>(
    slot: &'a mut Slot,
    num_states: usize,
    fresh: [bool; MAX_STATES],
    tasks: &mut Vec<Task<'a, T>>,
) {
    let (time, lr) = (slot.time, slot.lr);
    let mut theta = slot.parameter.try_mut::<T>().expect("made writable").chunks_mut(CHUNK);
    let mut gradient = slot.gradient.as_slice::<T>().expect("made contiguous").chunks(CHUNK);
    let mut index = 0;
    let mut states = slot.states.each_mut().map(|state| {
        index += 1;
        let used = state.as_mut().filter(|_| index <= num_states);
        used.map(|state| state.try_mut::<T>().expect("made writable").chunks_mut(CHUNK))
    });
    while let (Some(theta), Some(gradient)) = (theta.next(), gradient.next()) {
        let states = states.each_mut().map(|state| match state {
            Some(chunks) => chunks.next().expect("as long as the parameter"),
            None => &mut [],
        });
        tasks.push(Task { part: Part { theta, gradient, states }, time, lr, fresh });
    }
}

struct Apply<'a, 'b, T> {
    rule: &'a Rule,
    tasks: &'a mut [Task<'b, T>],
}

impl<T: Number> Kernel for Apply<'_, '_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for task in self.tasks {
            let part = Part {
                theta: &mut *task.part.theta,
                gradient: task.part.gradient,
                states: task.part.states.each_mut().map(|state| &mut **state),
            };
            self.rule.apply(task.lr, task.time, task.fresh, part);
        }
    }
}
