//! What the pickles of one file fill: values, storages, and the account of both.

use crate::error::{ErrorKind, Result};
use crate::limits::{Budget, Limits};
use crate::storage::{Element, Located, Storage, StorageId, StorageRef, Storages};
use crate::value::{Arena, Blob, Global, LongText, Object, Value, ValueId};

/// Estimated bytes of one value: its place in the arena, which doubles when it grows.
const VALUE_COST: usize = 2 * size_of::<Value>();
/// Estimated bytes of one more reference in a container that doubles when it grows.
pub(crate) const ITEM_COST: usize = 2 * size_of::<ValueId>();

/// Values and storages of one file, with what they may cost.
#[derive(Debug)]
pub(crate) struct Heap {
    pub(crate) arena: Arena,
    pub(crate) storages: Storages,
    pub(crate) budget: Budget,
    none: ValueId,
    empty: ValueId,
}

/// What a persistent id in a pickle may mean.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Persistent<'a> {
    /// Nothing: a plain pickle has none.
    Forbidden,
    /// A storage, or a module class with its source.
    Storages,
    /// One of these tensors, by key.
    Tensors(&'a std::collections::HashMap<String, ValueId>),
}

impl Heap {
    pub(crate) fn new(limits: &Limits, len: usize) -> Self {
        let mut arena = Arena::default();
        let none = arena.push(Value::None).unwrap_or(ValueId(0));
        let empty = arena.push(Value::Tuple(Box::default())).unwrap_or(none);
        Self {
            arena,
            storages: Storages::default(),
            budget: Budget::new(limits.memory(len), limits.max_time),
            none,
            empty,
        }
    }

    /// The one `None`.
    pub(crate) fn none(&self) -> ValueId {
        self.none
    }

    /// The one empty tuple.
    pub(crate) fn empty_tuple(&self) -> ValueId {
        self.empty
    }

    /// Adds a value, which owns about as many bytes beside its place.
    pub(crate) fn add(&mut self, value: Value) -> Result<ValueId, ErrorKind> {
        self.budget.take(VALUE_COST + owned_bytes(&value))?;
        self.arena.push(value).ok_or_else(|| ErrorKind::OverLimit {
            what: "the number of values",
            found: 1 << 32,
            limit: u64::from(u32::MAX),
        })
    }

    /// Adds an object that is not built: what `class` would make of `args`.
    pub(crate) fn add_object(&mut self, class: &Global, args: ValueId) -> Result<ValueId, ErrorKind> {
        self.add(Value::Object(Box::new(Object::new(class.clone(), args))))
    }

    /// What a persistent id stands for.
    pub(crate) fn persistent(&mut self, id: ValueId, meaning: Persistent<'_>) -> Result<ValueId, ErrorKind> {
        match meaning {
            Persistent::Forbidden => Err(ErrorKind::pickle("a plain pickle holds a persistent id")),
            Persistent::Tensors(tensors) => self.tensor_of_key(id, tensors),
            Persistent::Storages => {
                match self.arena.sequence(id).map(|items| (items, first_text(&self.arena, items))) {
                    Some((_, Some("storage"))) => self.storage_reference(id),
                    Some((&[_, class, ..], Some("module"))) => Ok(class),
                    _ => Err(ErrorKind::pickle("a persistent id is neither a storage nor a module")),
                }
            }
        }
    }

    fn tensor_of_key(
        &self,
        id: ValueId,
        tensors: &std::collections::HashMap<String, ValueId>,
    ) -> Result<ValueId, ErrorKind> {
        let key = self
            .key_text(id)
            .ok_or_else(|| ErrorKind::pickle("a persistent id is neither text nor a number"))?;
        let tensor = tensors.get(&key).copied();
        tensor.ok_or_else(|| ErrorKind::pickle(format!("no tensor has the persistent id {key}")))
    }

    /// The storage that a tuple `("storage", class, key, location, numel[, view])` names. A class that is no
    /// storage class of PyTorch makes it an object that is not built.
    pub(crate) fn storage_reference(&mut self, tuple: ValueId) -> Result<ValueId, ErrorKind> {
        let Some(&[_, class, key, location, numel, ref view @ ..]) = self.arena.sequence(tuple) else {
            return Err(ErrorKind::pickle("a storage has fewer than 5 parts"));
        };
        let view = view.first().copied().unwrap_or(self.none);
        let Some(global) = self.arena.class_of(class) else {
            return Err(ErrorKind::pickle("the class of a storage is no class"));
        };
        let Some(element) = storage_class(global) else {
            let global = global.clone();
            return self.add_object(&global, tuple);
        };
        let key = self
            .key_text(key)
            .ok_or_else(|| ErrorKind::pickle("the key of a storage is neither text nor a number"))?;
        let declared =
            self.count(numel).ok_or_else(|| ErrorKind::pickle("the size of a storage is no number"))?;
        let view = self.view(view)?;
        let location = self.arena.text(location).unwrap_or_default().to_owned();
        let storage = self.mention(&key, &element, &location, declared)?;
        self.add(Value::Storage(Box::new(StorageRef { storage, element, declared, view })))
    }

    /// The storage with this key, made at its first mention.
    pub(crate) fn mention(
        &mut self,
        key: &str,
        element: &Element,
        location: &str,
        declared: i64,
    ) -> Result<StorageId, ErrorKind> {
        if self.storages.find(key).is_none() {
            self.budget.take(size_of::<Storage>() * 2 + key.len() * 2 + location.len())?;
        }
        self.storages
            .mention(key, element, location, declared)
            .ok_or_else(|| ErrorKind::pickle("too many storages"))
    }

    /// A storage that is part of the pickle.
    pub(crate) fn blob_storage(
        &mut self,
        blob: Blob,
        element: Element,
        big: bool,
    ) -> Result<StorageRef, ErrorKind> {
        self.budget.take(size_of::<Storage>() * 2)?;
        let size = element.size().unwrap_or(1).max(1);
        let declared = i64::try_from(blob.len() as u64 / size).unwrap_or(i64::MAX);
        let storage = self.storages.push(Storage {
            key: Box::default(),
            location: "cpu".into(),
            element: element.clone(),
            declared,
            disputed: false,
            big_endian: big,
            located: Located::Blob(blob),
        });
        let storage = storage.ok_or_else(|| ErrorKind::pickle("too many storages"))?;
        Ok(StorageRef { storage, element, declared, view: None })
    }

    /// A key that is text or a number, as text.
    pub(crate) fn key_text(&self, id: ValueId) -> Option<String> {
        match self.arena.get(id) {
            Value::Text(text) => Some(text.to_string()),
            Value::Int(int) => Some(int.to_string()),
            _ => None,
        }
    }

    /// A count; one beyond 64 bits is as good as the largest.
    fn count(&self, id: ValueId) -> Option<i64> {
        match self.arena.get(id) {
            Value::BigInt(int) => Some(if int.is_negative() { i64::MIN } else { i64::MAX }),
            _ => self.arena.int(id),
        }
    }

    /// The part of a storage that an old file means: `None`, or `(key, offset, length)`.
    fn view(&self, id: ValueId) -> Result<Option<(i64, i64)>, ErrorKind> {
        if *self.arena.get(id) == Value::None {
            return Ok(None);
        }
        let Some(&[_, offset, len]) = self.arena.sequence(id) else {
            return Err(ErrorKind::pickle("the view of a storage has other than 3 parts"));
        };
        let numbers = self.count(offset).zip(self.count(len));
        numbers.map(Some).ok_or_else(|| ErrorKind::pickle("the view of a storage is not made of numbers"))
    }
}

/// The elements of a storage class; `None` if the class is none of PyTorch's.
fn storage_class(class: &Global) -> Option<Element> {
    let ours = &*class.module == "torch" || class.module.starts_with("torch.");
    // Short, because each of many references keeps the name.
    let plain = class.name.len() <= 64 && !class.name.contains('.') && class.name.ends_with("Storage");
    (ours && plain).then(|| Element::from_class(&class.name))
}

fn first_text<'a>(arena: &'a Arena, items: &[ValueId]) -> Option<&'a str> {
    items.first().and_then(|id| arena.text(*id))
}

/// Bytes that a value owns beside its place in the arena; list and dict items are counted as they come.
fn owned_bytes(value: &Value) -> usize {
    match value {
        Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 0,
        Value::BigInt(int) => 16 + int.to_le_bytes().len(),
        Value::Complex(_) => 16,
        Value::Text(text) | Value::Device(text) => text.len(),
        Value::LongText(text) => size_of::<LongText>() + text.blob.as_owned().map_or(0, <[u8]>::len),
        Value::Bytes(blob) => size_of::<Blob>() + blob.as_owned().map_or(0, <[u8]>::len),
        Value::List(items) => items.len() * ITEM_COST,
        Value::Tuple(items) | Value::Size(items) => items.len() * ITEM_COST,
        Value::Set(set) => 32 + set.items.len() * ITEM_COST,
        Value::Dict(dict) => 32 + dict.entries.len() * 2 * ITEM_COST,
        Value::Global(global) => 32 + global.module.len() + global.name.len(),
        Value::Storage(_) => size_of::<StorageRef>(),
        Value::Tensor(tensor) => {
            size_of::<crate::tensor::TensorValue>() + (tensor.shape.len() + tensor.strides.len()) * 8 + 64
        }
        Value::NumpyDType(dtype) => 32 + dtype.text.len(),
        Value::NumpyScalar(_) => 32,
        Value::Object(object) => size_of::<Object>() + object.class.module.len() + object.class.name.len(),
    }
}
