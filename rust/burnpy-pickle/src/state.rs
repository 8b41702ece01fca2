//! BUILD: the state of an object that exists already.

use crate::error::{ErrorKind, Result};
use crate::heap::Heap;
use crate::value::{Value, ValueId};

impl Heap {
    /// Gives `target` a state. Arrays and dtypes of NumPy become whole by it, in place, so that the memo sees
    /// them too; every other object only keeps it.
    pub(crate) fn set_state(&mut self, target: ValueId, state: ValueId) -> Result<(), ErrorKind> {
        let is_array = match self.arena.get(target) {
            Value::Object(object) => object.class.is("numpy", "ndarray"),
            _ => false,
        };
        if is_array && let Some(array) = self.numpy_array(state)? {
            self.arena.set(target, array);
            return Ok(());
        }
        let order = self
            .arena
            .sequence(state)
            .and_then(|state| self.arena.text(*state.get(1)?))
            .map(|order| order == ">");
        match self.arena.get_mut(target) {
            Some(Value::Object(object)) => object.state = Some(state),
            Some(Value::Dict(dict)) => dict.state = Some(state),
            Some(Value::NumpyDType(dtype)) => dtype.big_endian = order.unwrap_or(dtype.big_endian),
            Some(Value::Tensor(_) | Value::List(_) | Value::Set(_) | Value::Global(_)) => {}
            _ => return Err(ErrorKind::pickle("a value that has no attributes is given a state")),
        }
        Ok(())
    }
}
