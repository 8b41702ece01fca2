//! Words for what is not built.

use crate::leaf::{SkipReason, Skipped};
use crate::value::{Arena, Object, Value, ValueId};

/// Names a value that is not built, with the shape that it would have had if it is a kind of tensor.
pub(crate) fn describe(arena: &Arena, id: ValueId, name: String, reason: SkipReason) -> Skipped {
    let plain =
        |qualified: String| Skipped { name: name.clone(), qualified, reason, shape: None, dtype: None };
    match arena.get(id) {
        Value::Object(object) => {
            let unsupported = reason == SkipReason::Call && is_kind_of_tensor(object);
            let reason = if unsupported { SkipReason::Unsupported } else { reason };
            let (shape, dtype) = (shape(arena, object), numpy_dtype(arena, object));
            Skipped { reason, shape, dtype, ..plain(object.class.qualified()) }
        }
        Value::Global(global) => plain(global.qualified()),
        Value::Storage(storage) => Skipped {
            reason: SkipReason::Unsupported,
            ..plain(format!("torch.{}", storage.element.class_name()))
        },
        other => Skipped { reason: SkipReason::Unsupported, ..plain(type_name(other).to_owned()) },
    }
}

/// Whether an object is data of PyTorch or NumPy, of a kind that is not read.
fn is_kind_of_tensor(object: &Object) -> bool {
    if object.class.is("torch", "conj") || object.class.is("torch", "neg") {
        return true;
    }
    let class = &object.class;
    class.is("numpy", "ndarray") || (&*class.module == "torch._utils" && class.name.starts_with("_rebuild_"))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::LongText(_) => "str",
        Value::Set(set) if set.frozen => "frozenset",
        Value::Set(_) => "set",
        Value::NumpyDType(_) => "numpy.dtype",
        Value::BigInt(_) => "int",
        Value::Bytes(_) => "bytes",
        Value::Tuple(_) => "tuple",
        Value::List(_) => "list",
        Value::Dict(_) => "dict",
        _ => "object",
    }
}

/// The sizes of quantized, sparse and other tensors, and of arrays of objects.
fn shape(arena: &Arena, object: &Object) -> Option<Vec<u64>> {
    let args = arena.sequence(object.args)?;
    let at = |index: usize| args.get(index).copied();
    let sizes = match (&*object.class.module, &*object.class.name) {
        ("numpy", "ndarray") => array_state(arena, object).map(|[shape, _]| shape),
        ("torch", "conj" | "neg") => Some(object.args),
        ("torch._utils", "_rebuild_qtensor" | "_rebuild_wrapper_subclass") => at(2),
        ("torch._utils", "_rebuild_meta_tensor_no_storage") => at(1),
        ("torch._utils", "_rebuild_sparse_tensor" | "_rebuild_sparse_csr_tensor") => {
            arena.sequence(at(1)?)?.iter().copied().find(|part| matches!(arena.get(*part), Value::Size(_)))
        }
        _ => None,
    }?;
    let sizes = arena.sequence(sizes).filter(|sizes| sizes.len() <= 64)?;
    sizes.iter().map(|size| arena.int(*size).and_then(|size| u64::try_from(size).ok())).collect()
}

fn numpy_dtype(arena: &Arena, object: &Object) -> Option<String> {
    let [_, dtype] = array_state(arena, object)?;
    match arena.get(dtype) {
        Value::NumpyDType(dtype) if dtype.text.starts_with('O') => Some("object".to_owned()),
        Value::NumpyDType(dtype) => Some(dtype.text.chars().take(64).collect()),
        _ => None,
    }
}

/// Shape and dtype of an array whose elements are no plain numbers.
fn array_state(arena: &Arena, object: &Object) -> Option<[ValueId; 2]> {
    if !object.class.is("numpy", "ndarray") {
        return None;
    }
    match arena.sequence(object.state?)? {
        &[.., shape, dtype, _, _] => Some([shape, dtype]),
        _ => None,
    }
}
