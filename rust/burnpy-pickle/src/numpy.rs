//! NumPy's own calls: arrays, scalars, dtypes.

use crate::call::Args;
use crate::error::{ErrorKind, Result};
use crate::heap::Heap;
use crate::storage::Element;
use crate::tensor::{Claim, TensorKind, TensorValue};
use crate::value::{Blob, NumpyDType, NumpyScalar, Value, ValueId};

impl Heap {
    /// `_reconstruct(numpy.ndarray, (0,), b"b")`: an empty array, which BUILD fills.
    pub(crate) fn numpy_reconstruct(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let Some(class) = args.get(0).and_then(|id| self.arena.class_of(id)).cloned() else {
            return Ok(None);
        };
        let empty = self.empty_tuple();
        self.add_object(&class, empty).map(Some)
    }

    /// The array that BUILD makes of `(version, shape, dtype, is_fortran, data)`; `None` if its elements are
    /// no plain numbers.
    pub(crate) fn numpy_array(&mut self, state: ValueId) -> Result<Option<Value>, ErrorKind> {
        let Some(&[.., shape, dtype, fortran, data]) = self.arena.sequence(state) else { return Ok(None) };
        let fortran = *self.arena.get(fortran) == Value::Bool(true);
        self.array(data, dtype, shape, fortran)
    }

    /// `_frombuffer(data, dtype, shape, order)`: how protocol 5 writes arrays.
    pub(crate) fn numpy_from_buffer(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let (Some(data), Some(dtype), Some(shape)) = (args.get(0), args.get(1), args.get(2)) else {
            return Ok(None);
        };
        let fortran = args.get(3).and_then(|id| self.arena.text(id)) == Some("F");
        match self.array(data, dtype, shape, fortran)? {
            Some(array) => self.add(array).map(Some),
            None => Ok(None),
        }
    }

    fn array(
        &mut self,
        data: ValueId,
        dtype: ValueId,
        shape: ValueId,
        fortran: bool,
    ) -> Result<Option<Value>, ErrorKind> {
        let Value::NumpyDType(numpy) = self.arena.get(dtype) else { return Ok(None) };
        let Some((dtype, big)) = numpy.dtype().map(|dtype| (dtype, numpy.big_endian)) else {
            return Ok(None);
        };
        let Some(blob) = self.as_bytes(data)? else { return Ok(None) };
        let sizes = self.dimensions(Some(shape));
        let storage = self.blob_storage(blob, Element::Typed(dtype), big)?;
        let tensor = match &sizes {
            Ok(sizes) => {
                let strides = strides(sizes, fortran);
                TensorValue::new(&storage, &Claim { dtype, offset: 0, sizes, strides: &strides })
            }
            Err(problem) => TensorValue::broken(Some(&storage), problem.clone()),
        };
        Ok(Some(Value::Tensor(Box::new(TensorValue { kind: TensorKind::Numpy, ..tensor }))))
    }

    /// `scalar(dtype, b"…")`.
    pub(crate) fn numpy_scalar(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let (Some(dtype), Some(data)) = (args.get(0), args.get(1)) else { return Ok(None) };
        let Value::NumpyDType(numpy) = self.arena.get(dtype) else { return Ok(None) };
        let Some((dtype, big)) = numpy.dtype().map(|dtype| (dtype, numpy.big_endian)) else {
            return Ok(None);
        };
        let Some(blob) = self.as_bytes(data)? else { return Ok(None) };
        let Some(source) = blob.as_owned().filter(|source| source.len() == dtype.size()) else {
            return Ok(None);
        };
        let mut bytes = [0; 16];
        if let Some(target) = bytes.get_mut(..source.len()) {
            target.copy_from_slice(source);
            if big {
                target.chunks_exact_mut(dtype.swap_size()).for_each(<[u8]>::reverse);
            }
        }
        self.add(Value::NumpyScalar(Box::new(NumpyScalar { dtype, bytes }))).map(Some)
    }

    /// `numpy.dtype("f4", False, True)`; BUILD adds the byte order.
    pub(crate) fn numpy_dtype(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let text = match args.get(0).map(|id| self.arena.get(id)) {
            Some(Value::Text(text)) => text.clone(),
            Some(Value::Global(global)) => global.name.clone(),
            _ => return Ok(None),
        };
        let big_endian = text.starts_with('>');
        let text = text.trim_start_matches(['<', '>', '=', '|']).into();
        self.add(Value::NumpyDType(Box::new(NumpyDType { text, big_endian }))).map(Some)
    }

    /// A bytes object, or a string of Python 2 that happens to be UTF-8.
    fn as_bytes(&mut self, id: ValueId) -> Result<Option<Blob>, ErrorKind> {
        match self.arena.get(id) {
            Value::Bytes(blob) => Ok(Some((**blob).clone())),
            Value::LongText(text) => Ok(Some(text.blob.clone())),
            Value::Text(text) => {
                self.budget.take(text.len())?;
                Ok(Some(Blob::owned(text.as_bytes())))
            }
            _ => Ok(None),
        }
    }
}

/// Strides of an array whose elements lie one after another.
fn strides(sizes: &[i64], fortran: bool) -> Vec<i64> {
    let mut strides = vec![1i64; sizes.len()];
    let mut step = 1i64;
    let mut fill = |(stride, size): (&mut i64, &i64)| {
        *stride = step;
        step = step.saturating_mul((*size).max(1));
    };
    if fortran {
        strides.iter_mut().zip(sizes).for_each(&mut fill);
    } else {
        strides.iter_mut().zip(sizes).rev().for_each(&mut fill);
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::strides;

    #[test]
    fn the_last_axis_is_dense_in_c_order_and_the_first_in_fortran_order() {
        assert_eq!(strides(&[2, 3, 4], false), [12, 4, 1]);
        assert_eq!(strides(&[2, 3, 4], true), [1, 2, 6]);
        assert_eq!(strides(&[], true), [0i64; 0]);
    }
}
