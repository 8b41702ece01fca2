//! Values as scalars.

use crate::error::ErrorKind;
use crate::flatten::torch_dtype;
use crate::leaf::Scalar;
use crate::limits::Budget;
use crate::value::{Arena, SetValue, Value, ValueId};

/// The scalar that a value is; `None` if it is none, or a string that is too long to be one.
pub(crate) fn scalar(arena: &Arena, id: ValueId, budget: &mut Budget) -> Result<Option<Scalar>, ErrorKind> {
    match arena.get(id) {
        Value::Set(set) => self::set(arena, set, budget),
        value => single(value, budget),
    }
}

/// A set whose members are all scalars.
fn set(arena: &Arena, set: &SetValue, budget: &mut Budget) -> Result<Option<Scalar>, ErrorKind> {
    budget.take(set.items.len() * size_of::<Scalar>())?;
    let mut items = Vec::with_capacity(set.items.len());
    for item in &set.items {
        match single(arena.get(*item), budget)? {
            Some(item) => items.push(item),
            None => return Ok(None),
        }
    }
    Ok(Some(if set.frozen { Scalar::FrozenSet(items) } else { Scalar::Set(items) }))
}

fn single(value: &Value, budget: &mut Budget) -> Result<Option<Scalar>, ErrorKind> {
    Ok(Some(match value {
        Value::None => Scalar::None,
        Value::Bool(bool) => Scalar::Bool(*bool),
        Value::Int(int) => Scalar::Int(*int),
        Value::BigInt(int) => {
            budget.take(int.to_le_bytes().len())?;
            Scalar::BigInt((**int).clone())
        }
        Value::Float(float) => Scalar::Float(*float),
        Value::Complex(parts) => Scalar::Complex(parts[0], parts[1]),
        Value::Text(text) => {
            budget.take(text.len())?;
            Scalar::Text(text.to_string())
        }
        Value::Bytes(blob) => Scalar::Bytes((**blob).clone()),
        Value::NumpyScalar(scalar) => Scalar::Numpy(**scalar),
        Value::Device(device) => {
            budget.take(device.len())?;
            Scalar::Device(device.to_string())
        }
        Value::NumpyDType(numpy) => return Ok(numpy.dtype().map(Scalar::DType)),
        value => return Ok(torch_dtype(value).map(Scalar::DType)),
    }))
}
