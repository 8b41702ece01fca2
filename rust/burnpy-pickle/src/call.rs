//! Calls that a pickle asks for. None is made: a few well-known ones are read as the data that they describe,
//! and every other becomes an [`Object`](crate::Object), which only remembers it.

use crate::error::{ErrorKind, Result};
use crate::heap::{Heap, ITEM_COST};
use crate::input::SHORT_BLOB;
use crate::storage::BlobData;
use crate::text;
use crate::value::{Blob, Dict, Global, SetValue, Value, ValueId};

/// The calls whose outcome is plain data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Known {
    Dict,
    DefaultDict,
    Set { frozen: bool },
    List,
    Tuple,
    Bytes,
    Complex,
    Encode,
    Reconstructor,
    Size,
    Device,
    Tensor(Form),
    Parameter,
    Subclass,
    FromCpu,
    NumpyArray,
    NumpyBuffer,
    NumpyScalar,
    NumpyDType,
}

/// The forms in which PyTorch describes a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Form {
    /// Storage, offset, sizes, strides.
    V1,
    /// And whether it wants gradients, and hooks.
    V2,
    /// And its type, for untyped storages.
    V3,
}

fn known(global: &Global) -> Option<Known> {
    Some(match (&*global.module, &*global.name) {
        ("collections", "OrderedDict" | "Counter") | ("builtins" | "__builtin__", "dict") => Known::Dict,
        ("collections", "defaultdict") => Known::DefaultDict,
        ("builtins" | "__builtin__", "set") => Known::Set { frozen: false },
        ("builtins" | "__builtin__", "frozenset") => Known::Set { frozen: true },
        ("builtins" | "__builtin__", "list") => Known::List,
        ("builtins" | "__builtin__", "tuple") => Known::Tuple,
        ("builtins" | "__builtin__", "bytes" | "bytearray") => Known::Bytes,
        ("builtins" | "__builtin__", "complex") => Known::Complex,
        ("_codecs", "encode") => Known::Encode,
        ("copyreg" | "copy_reg", "_reconstructor") => Known::Reconstructor,
        ("torch", "Size") => Known::Size,
        ("torch", "device") => Known::Device,
        ("torch._utils", "_rebuild_tensor") => Known::Tensor(Form::V1),
        ("torch._utils", "_rebuild_tensor_v2") => Known::Tensor(Form::V2),
        ("torch._utils", "_rebuild_tensor_v3") => Known::Tensor(Form::V3),
        ("torch._utils", "_rebuild_parameter" | "_rebuild_parameter_with_state") => Known::Parameter,
        ("torch._tensor", "_rebuild_from_type" | "_rebuild_from_type_v2") => Known::Subclass,
        ("torch._utils", "_rebuild_device_tensor_from_numpy" | "_rebuild_xla_tensor") => Known::FromCpu,
        ("torch._utils", "_rebuild_device_tensor_from_cpu_tensor") => Known::FromCpu,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "_reconstruct") => Known::NumpyArray,
        ("numpy.core.multiarray" | "numpy._core.multiarray", "scalar") => Known::NumpyScalar,
        ("numpy.core.numeric" | "numpy._core.numeric", "_frombuffer") => Known::NumpyBuffer,
        ("numpy", "dtype") => Known::NumpyDType,
        _ => return None,
    })
}

/// The first arguments of a call; no known call has more.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args {
    items: [Option<ValueId>; 8],
}

impl Args {
    pub(crate) fn get(&self, index: usize) -> Option<ValueId> {
        self.items.get(index).copied().flatten()
    }

    pub(crate) fn with_first(mut self, first: ValueId) -> Self {
        self.items[0] = Some(first);
        self
    }
}

/// How deep a call may stand in the place of another's function.
const MAX_NESTED_CALLS: usize = 4;

impl Heap {
    /// What `callable(*args, **kwargs)` would be, as data.
    pub(crate) fn call(
        &mut self,
        callable: ValueId,
        args: ValueId,
        kwargs: Option<ValueId>,
    ) -> Result<ValueId, ErrorKind> {
        if let Some(kwargs) = kwargs {
            let id = self.object_of(callable, args)?;
            if let Some(Value::Object(object)) = self.arena.get_mut(id) {
                object.kwargs = Some(kwargs);
            }
            return Ok(id);
        }
        self.call_nested(callable, args, 0)
    }

    fn call_nested(&mut self, callable: ValueId, args: ValueId, depth: usize) -> Result<ValueId, ErrorKind> {
        let known = match self.arena.get(callable) {
            Value::Global(global) if depth < MAX_NESTED_CALLS => known(global),
            _ => None,
        };
        if let Some(known) = known
            && let Some(made) = self.known_call(known, args, depth)?
        {
            return Ok(made);
        }
        self.object_of(callable, args)
    }

    /// An object that remembers the call.
    fn object_of(&mut self, callable: ValueId, args: ValueId) -> Result<ValueId, ErrorKind> {
        if !matches!(self.arena.get(args), Value::Tuple(_)) {
            return Err(ErrorKind::pickle("the arguments of a call are no tuple"));
        }
        let class = self
            .arena
            .class_of(callable)
            .ok_or(ErrorKind::pickle("what is called is no class or function"))?;
        let class = class.clone();
        self.add_object(&class, args)
    }

    /// The outcome of a known call; `None` if its arguments are not the usual ones.
    fn known_call(
        &mut self,
        known: Known,
        args: ValueId,
        depth: usize,
    ) -> Result<Option<ValueId>, ErrorKind> {
        let Value::Tuple(items) = self.arena.get(args) else { return Ok(None) };
        let mut first = Args { items: [None; 8] };
        for (place, item) in first.items.iter_mut().zip(items) {
            *place = Some(*item);
        }
        let args = first;
        match known {
            Known::Dict => self.dict(args),
            Known::DefaultDict => self.add(Value::Dict(Box::default())).map(Some),
            Known::Set { frozen } => self.set(args, frozen),
            Known::List => self.copied_sequence(args, |items| Value::List(items.to_vec())),
            Known::Tuple => self.copied_sequence(args, |items| Value::Tuple(items.into())),
            Known::Size => self.copied_sequence(args, |items| Value::Size(items.into())),
            Known::Bytes => self.bytes_call(args),
            Known::Complex => self.complex(args),
            Known::Encode => self.encode(args),
            Known::Reconstructor => self.reconstructor(args),
            Known::Device => self.device(args),
            Known::Tensor(form) => self.rebuild_tensor(args, form).map(Some),
            Known::Parameter => self.rebuild_parameter(args),
            Known::Subclass => self.rebuild_subclass(args, depth),
            Known::FromCpu => self.rebuild_from_cpu(args),
            Known::NumpyArray => self.numpy_reconstruct(args),
            Known::NumpyBuffer => self.numpy_from_buffer(args),
            Known::NumpyScalar => self.numpy_scalar(args),
            Known::NumpyDType => self.numpy_dtype(args),
        }
    }

    /// A call in the place of another's function, such as the one that rebuilds the data of a subclass.
    pub(crate) fn inner_call(
        &mut self,
        callable: ValueId,
        args: ValueId,
        depth: usize,
    ) -> Result<ValueId, ErrorKind> {
        self.call_nested(callable, args, depth + 1)
    }

    /// `OrderedDict()`, `OrderedDict([[key, value], …])`, `Counter({…})`.
    fn dict(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let Some(source) = args.get(0) else { return self.add(Value::Dict(Box::default())).map(Some) };
        let len = match self.arena.get(source) {
            Value::Dict(dict) => dict.entries.len(),
            _ => self.arena.sequence(source).map_or(0, <[_]>::len),
        };
        self.budget.take(len * 2 * ITEM_COST)?;
        let entries = match self.arena.get(source) {
            Value::Dict(dict) => Some(dict.entries.clone()),
            _ => self
                .arena
                .sequence(source)
                .and_then(|items| items.iter().map(|item| self.pair(*item)).collect()),
        };
        let Some(entries) = entries else { return Ok(None) };
        self.add(Value::Dict(Box::new(Dict { entries, state: None }))).map(Some)
    }

    fn pair(&self, id: ValueId) -> Option<(ValueId, ValueId)> {
        match self.arena.sequence(id)? {
            &[key, value] => Some((key, value)),
            _ => None,
        }
    }

    fn set(&mut self, args: Args, frozen: bool) -> Result<Option<ValueId>, ErrorKind> {
        self.copied_sequence(args, |items| Value::Set(Box::new(SetValue { items: items.to_vec(), frozen })))
    }

    /// A container made from the members of the only argument, or empty without one.
    fn copied_sequence(
        &mut self,
        args: Args,
        make: impl Fn(&[ValueId]) -> Value,
    ) -> Result<Option<ValueId>, ErrorKind> {
        let items = match args.get(0) {
            None => &[],
            Some(source) => match self.arena.sequence(source) {
                Some(items) => items,
                None => return Ok(None),
            },
        };
        // Charged before the copy: a long list may be copied by every few bytes of the file.
        self.budget.take(items.len() * ITEM_COST)?;
        let value = make(items);
        self.add(value).map(Some)
    }

    fn complex(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let part = |index| match args.get(index).map(|id| self.arena.get(id)) {
            Some(Value::Float(float)) => Some(*float),
            _ => None,
        };
        let Some(parts) = part(0).zip(part(1)) else { return Ok(None) };
        self.add(Value::Complex(Box::new([parts.0, parts.1]))).map(Some)
    }

    /// `bytes()`, `bytearray(b"…")`, `bytearray("…", "latin-1")`.
    fn bytes_call(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let Some(source) = args.get(0) else {
            return self.add(Value::Bytes(Box::new(Blob::owned(&[])))).map(Some);
        };
        match self.arena.get(source) {
            Value::Bytes(blob) => {
                let blob = blob.clone();
                self.add(Value::Bytes(blob)).map(Some)
            }
            _ => self.encode(args),
        }
    }

    /// `_codecs.encode("…", "latin1")`: how protocols 0 to 2 write bytes.
    fn encode(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let (Some(source), Some(codec)) = (args.get(0), args.get(1)) else { return Ok(None) };
        if !matches!(self.arena.text(codec), Some("latin1" | "latin-1")) {
            return Ok(None);
        }
        let blob = match self.arena.get(source) {
            Value::Text(text) => {
                self.budget.take(text.len())?;
                text::to_latin1(text).map(|bytes| Blob::owned(&bytes))
            }
            Value::LongText(text) => match (&text.blob.data, text.latin1_len) {
                (BlobData::Owned(utf8), Some(len)) => {
                    self.budget.take(len)?;
                    std::str::from_utf8(utf8).ok().and_then(text::to_latin1).map(|bytes| Blob::owned(&bytes))
                }
                (BlobData::Span { in_file, range, .. }, Some(len)) if len > SHORT_BLOB => {
                    let data = BlobData::Span { in_file: *in_file, range: range.clone(), latin1: true };
                    Some(Blob { data, len })
                }
                _ => None,
            },
            _ => None,
        };
        let Some(blob) = blob else { return Ok(None) };
        self.add(Value::Bytes(Box::new(blob))).map(Some)
    }

    /// `copyreg._reconstructor(class, base, state)`: an object of the class.
    fn reconstructor(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let Some(class) = args.get(0).and_then(|id| self.arena.class_of(id)).cloned() else {
            return Ok(None);
        };
        let empty = self.empty_tuple();
        self.add_object(&class, empty).map(Some)
    }

    /// `torch.device("cuda", 0)`.
    fn device(&mut self, args: Args) -> Result<Option<ValueId>, ErrorKind> {
        let Some(kind) = args.get(0).and_then(|id| self.arena.text(id)) else { return Ok(None) };
        let index = args.get(1).and_then(|id| self.arena.int(id));
        self.budget.take(kind.len())?;
        let device = index.map_or_else(|| kind.to_owned(), |index| format!("{kind}:{index}"));
        self.add(Value::Device(device.into())).map(Some)
    }
}
