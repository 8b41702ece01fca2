//! Numbers in nested lists.

use burnpy_tensor::ops::Scalar;
use burnpy_tensor::{BOOL, DType, Error, Kind, Result, Tensor, Value, dispatch_stored};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList, PyTuple};

use super::argument::TensorDType;
use super::device::default_dtype;
use super::error::to_exception;
use super::number::Number;

/// Levels of lists; more are a list that contains itself.
const MAX_DEPTH: usize = 64;

/// A value of a number, or of lists of them, as a dtype or the device's for their kind.
pub(crate) fn value_of_numbers(data: &Bound<'_, PyAny>, dtype: Option<TensorDType>) -> PyResult<Value> {
    let nested = Nested::of(data)?;
    let dtype = dtype.map_or_else(|| default_dtype(nested.kind()), |dtype| dtype.0);
    nested.value(dtype).map_err(|error| to_exception(data.py(), error))
}

/// Sizes of the axes so far, and the numbers in order.
#[derive(Default)]
pub(crate) struct Nested {
    shape: Vec<usize>,
    /// Whether the innermost level was reached: from then on every branch must look like the first.
    is_deep: bool,
    numbers: Vec<Scalar>,
}

impl Nested {
    /// The numbers of nested lists.
    ///
    /// # Errors
    /// `ShapeError` for ragged lists, `TypeError` for what is no number.
    pub(crate) fn of(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut nested = Self::default();
        nested.read(data, 0)?;
        Ok(nested)
    }

    fn read(&mut self, data: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(list) = data.cast::<PyList>() {
            self.enter(data.py(), depth, list.len())?;
            list.iter().try_for_each(|item| self.read(&item, depth + 1))?;
        } else if let Ok(tuple) = data.cast::<PyTuple>() {
            self.enter(data.py(), depth, tuple.len())?;
            tuple.iter_borrowed().try_for_each(|item| self.read(&item, depth + 1))?;
        } else {
            let Number(number) = data.extract()?;
            if matches!(number, Scalar::Float(_)) && data.is_instance_of::<PyInt>() {
                let error = Error::dtype("from_data", format_args!("{data} is an integer of over 64 bits"));
                return Err(to_exception(data.py(), error));
            }
            if depth != self.shape.len() {
                return Err(ragged(data.py(), depth, "a number", &self.shape));
            }
            self.is_deep = true;
            self.numbers.push(number);
        }
        Ok(())
    }

    fn enter(&mut self, py: Python<'_>, depth: usize, len: usize) -> PyResult<()> {
        if depth == MAX_DEPTH {
            let error =
                Error::shape("from_data", format_args!("lists in lists, over {MAX_DEPTH} levels deep"));
            return Err(to_exception(py, error));
        }
        match self.shape.get(depth) {
            Some(&size) if size == len => Ok(()),
            None if !self.is_deep => {
                self.shape.push(len);
                // What an empty list would hold is not known: its level is the innermost one.
                self.is_deep = len == 0;
                Ok(())
            }
            _ => Err(ragged(py, depth, &format!("a list of {len}"), &self.shape)),
        }
    }

    /// Bools if all are, else integers if no float is among them; nothing is floats.
    pub(crate) fn kind(&self) -> Kind {
        let all = |test: fn(&Scalar) -> bool| !self.numbers.is_empty() && self.numbers.iter().all(test);
        if all(|number| matches!(number, Scalar::Bool(_))) {
            Kind::Bool
        } else if all(|number| !matches!(number, Scalar::Float(_))) {
            Kind::Int
        } else {
            Kind::Float
        }
    }

    /// The numbers as a value of a dtype.
    ///
    /// # Errors
    /// `DType` for an integer that is out of range.
    pub(crate) fn value(&self, dtype: DType) -> Result<Value> {
        if dtype == BOOL {
            let flags =
                self.numbers.iter().map(|number| u8::from(number.to_f64() != 0.0)).collect::<Vec<_>>();
            return Value::build_bool(&self.shape, |out| out.copy_from_slice(&flags));
        }
        dispatch_stored!(dtype, T => {
            let kind = Kind::of(dtype);
            let number = |number: &Scalar| match number {
                // Asked for integers by name, a float is truncated as a cast would.
                Scalar::Float(value) if kind == Kind::Int => Ok(burnpy_tensor::Element::from_f64(*value)),
                number => number.to::<T>("from_data"),
            };
            let numbers = self.numbers.iter().map(number).collect::<Result<Vec<T>>>()?;
            Value::build_as(dtype, &self.shape, |out: &mut [T]| out.copy_from_slice(&numbers))
        }, else => Err(Error::dtype("from_data", format_args!("no {} tensor is made of numbers", dtype.name()))))
    }
}

fn ragged(py: Python<'_>, depth: usize, found: &str, shape: &[usize]) -> PyErr {
    let message =
        format_args!("lists are ragged: {found} at level {depth}, where others make shape {shape:?}");
    to_exception(py, Error::shape("from_data", message))
}

/// A plain tensor without axes that holds a number as a dtype.
///
/// # Errors
/// `DType` for a number that the dtype does not take.
pub(crate) fn number_tensor(operation: &'static str, number: Scalar, dtype: DType) -> Result<Tensor> {
    let value = if dtype == BOOL {
        let flag = number.to_bool(operation)?;
        Value::build_bool(&[], |out| out.fill(flag))
    } else {
        dispatch_stored!(dtype, T => {
            let number = number.to::<T>(operation)?;
            Value::build_as(dtype, &[], |out: &mut [T]| out.fill(number))
        }, else => Err(Error::dtype(operation, format_args!("a {} tensor takes no number", dtype.name()))))
    };
    value.map(Tensor::from)
}
