//! PyTorch's own calls: tensors, parameters, subclasses.

use crate::call::{Args, Form};
use crate::dtype::DType;
use crate::error::{ErrorKind, Result};
use crate::heap::Heap;
use crate::storage::{Element, StorageRef};
use crate::tensor::{Claim, TensorKind, TensorValue};
use crate::value::{Global, Value, ValueId};

/// Most dimensions of a tensor: PyTorch's own limit.
const MAX_RANK: usize = 64;

impl Heap {
    /// `_rebuild_tensor`, `_v2` or `_v3`. A tensor that makes no sense stays in the data, with its problem.
    pub(crate) fn rebuild_tensor(&mut self, mut args: Args, form: Form) -> Result<ValueId, ErrorKind> {
        if let Some(tuple) = args.get(0)
            && self.is_storage_tuple(tuple)
        {
            args = args.with_first(self.storage_reference(tuple)?);
        }
        if let Some(object) = self.foreign_part(args, form)? {
            return Ok(object);
        }
        if let (Some(call), Some(sizes)) = (self.pending_call(args, form), args.get(2)) {
            return self.add_object(&call, sizes);
        }
        let storage = args.get(0).and_then(|id| match self.arena.get(id) {
            Value::Storage(storage) => Some((**storage).clone()),
            _ => None,
        });
        let tensor = self.tensor(storage.as_ref(), args, form);
        let tensor = tensor.unwrap_or_else(|problem| TensorValue::broken(storage.as_ref(), problem));
        self.add(Value::Tensor(Box::new(tensor)))
    }

    /// Whether a tuple is the description of a storage that some old files have in the place of a persistent
    /// id.
    fn is_storage_tuple(&self, id: ValueId) -> bool {
        let tag = self.arena.sequence(id).and_then(|items| items.first());
        tag.is_some_and(|tag| self.arena.text(*tag) == Some("storage"))
    }

    /// What stands in the place of storage or hooks and is not what belongs there: such a tensor is not
    /// built.
    fn foreign_part(&mut self, args: Args, form: Form) -> Result<Option<ValueId>, ErrorKind> {
        let hooks = if form >= Form::V2 { args.get(5) } else { None };
        for part in [args.get(0), hooks].into_iter().flatten() {
            if let Value::Object(object) = self.arena.get(part) {
                let class = object.class.clone();
                return self.add_object(&class, part).map(Some);
            }
        }
        Ok(None)
    }

    fn tensor(&self, storage: Option<&StorageRef>, args: Args, form: Form) -> Result<TensorValue, ErrorKind> {
        let storage = storage.ok_or_else(|| ErrorKind::tensor("it has no storage"))?;
        let offset = args.get(1).and_then(|id| self.arena.int(id));
        let offset = offset.ok_or_else(|| ErrorKind::tensor("its offset is no 64-bit number"))?;
        let sizes = self.dimensions(args.get(2))?;
        let strides = self.dimensions(args.get(3))?;
        let dtype = self.dtype(storage, if form >= Form::V3 { args.get(6) } else { None })?;
        let mut tensor =
            TensorValue::new(storage, &Claim { dtype, offset, sizes: &sizes, strides: &strides });
        let flag = if form >= Form::V2 { args.get(4) } else { None };
        tensor.requires_grad = flag.is_some_and(|id| *self.arena.get(id) == Value::Bool(true));
        Ok(tensor)
    }

    /// The call that a lazily conjugated or negated tensor waits for: its storage holds other values than it
    /// has, and it is not built.
    fn pending_call(&self, args: Args, form: Form) -> Option<Global> {
        let metadata = match form {
            Form::V1 => None,
            Form::V2 => args.get(6),
            Form::V3 => args.get(7),
        }?;
        let is_set = |flag: &&str| {
            let value = self.arena.lookup(metadata, flag);
            value.is_some_and(|id| *self.arena.get(id) == Value::Bool(true))
        };
        let flag = ["conj", "neg"].into_iter().find(is_set)?;
        Some(Global { module: "torch".into(), name: flag.into() })
    }

    /// Sizes or strides.
    pub(crate) fn dimensions(&self, id: Option<ValueId>) -> Result<Vec<i64>, ErrorKind> {
        let items = id.and_then(|id| self.arena.sequence(id));
        let items = items.ok_or_else(|| ErrorKind::tensor("its sizes or strides are no tuple"))?;
        crate::limits::check("the number of dimensions", items.len() as u64, MAX_RANK as u64)?;
        let numbers = items.iter().map(|item| self.arena.int(*item)).collect::<Option<_>>();
        numbers.ok_or_else(|| ErrorKind::tensor("one of its sizes or strides is no 64-bit number"))
    }

    /// The type of a tensor: its storage's, or the one that is named beside an untyped storage.
    fn dtype(&self, storage: &StorageRef, named: Option<ValueId>) -> Result<DType, ErrorKind> {
        let named = match named.map(|id| self.arena.get(id)) {
            Some(Value::Global(global)) if &*global.module == "torch" => {
                let unknown = || ErrorKind::unsupported(format!("elements of torch.{}", global.name));
                Some(DType::from_torch(&global.name).ok_or_else(unknown)?)
            }
            _ => None,
        };
        match (&storage.element, named) {
            (Element::Untyped, Some(named)) => Ok(named),
            (Element::Untyped, None) => {
                Err(ErrorKind::tensor("neither its UntypedStorage nor itself names a type"))
            }
            (Element::Typed(dtype), None) => Ok(*dtype),
            (Element::Typed(dtype), Some(named)) if *dtype == named => Ok(*dtype),
            (Element::Typed(dtype), Some(named)) => {
                Err(ErrorKind::tensor(format!("it is of type {named}, its storage of type {dtype}")))
            }
            (Element::Other(class, _), _) => {
                Err(ErrorKind::unsupported(format!("a storage of class {class}")))
            }
        }
    }

    /// `_rebuild_parameter(data, requires_grad, hooks[, state])`.
    pub(crate) fn rebuild_parameter(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        if let Some(hooks) = args.get(2)
            && let Value::Object(object) = self.arena.get(hooks)
        {
            let class = object.class.clone();
            return self.add_object(&class, hooks).map(Some);
        }
        let flag = args.get(1).map(|id| *self.arena.get(id) == Value::Bool(true));
        self.copy_of_tensor(args.get(0), TensorKind::Parameter, flag)
    }

    /// `_rebuild_device_tensor_from_numpy(data, dtype, device, requires_grad)`, and its like from a CPU
    /// tensor.
    pub(crate) fn rebuild_from_cpu(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let flag = args.get(3).map(|id| *self.arena.get(id) == Value::Bool(true));
        self.copy_of_tensor(args.get(0), TensorKind::Plain, flag)
    }

    /// `_rebuild_from_type_v2(function, class, args, state)`: the data of a subclass of tensor.
    pub(crate) fn rebuild_subclass(
        &mut self,
        args: Args,
        depth: usize,
    ) -> Result<Option<ValueId>, ErrorKind> {
        let (Some(function), Some(class), Some(inner)) = (args.get(0), args.get(1), args.get(2)) else {
            return Ok(None);
        };
        let made = self.inner_call(function, inner, depth)?;
        let kind = match self.arena.get(class) {
            Value::Global(class) if class.is("torch", "Tensor") || class.is("torch._tensor", "Tensor") => {
                None
            }
            Value::Global(class) if class.is("torch.nn.parameter", "Parameter") => {
                Some(TensorKind::Parameter)
            }
            Value::Global(class) => Some(TensorKind::Subclass(class.qualified().into())),
            _ => None,
        };
        match kind {
            Some(kind) => Ok(self.copy_of_tensor(Some(made), kind, None)?.or(Some(made))),
            None => Ok(Some(made)),
        }
    }

    /// The same view of the same storage, as another kind of tensor. What is no tensor is passed on.
    fn copy_of_tensor(
        &mut self,
        data: Option<ValueId>,
        kind: TensorKind,
        requires_grad: Option<bool>,
    ) -> Result<Option<ValueId>, ErrorKind> {
        let Some(data) = data else { return Ok(None) };
        let mut tensor = match self.arena.get(data) {
            Value::Tensor(tensor) => tensor.clone(),
            Value::Object(_) => return Ok(Some(data)),
            _ => return Ok(None),
        };
        if let TensorKind::Subclass(name) = &kind {
            self.budget.take(name.len())?;
        }
        tensor.kind = kind;
        tensor.requires_grad = requires_grad.unwrap_or(tensor.requires_grad);
        self.add(Value::Tensor(tensor)).map(Some)
    }
}
