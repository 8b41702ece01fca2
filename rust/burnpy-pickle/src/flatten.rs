//! From values to leaves: a walk through containers, which bounds what a few bytes of a file can multiply.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::{iter, slice};

use crate::census::{Census, module_tables};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{KeyIdentity, key_name};
use crate::leaf::{Leaves, ScalarLeaf, SkipReason, TensorLeaf};
use crate::limits::{Budget, Limits};
use crate::scalar::scalar;
use crate::skipped;
use crate::tensor::TensorValue;
use crate::value::{Arena, Dict, Object, Value, ValueId};

/// What a step in the walk costs beside the name that it adds: so that there is an end to steps without a
/// name.
const STEP_COST: usize = 8;
/// What a look at something costs that may not lead to a leaf.
const FRUITLESS_COST: usize = 32;

/// Everything inside `root`.
pub(crate) fn leaves(arena: &Arena, root: ValueId, limits: &Limits, len: usize) -> Result<Leaves> {
    let budget = Budget::new(limits.listing_memory(len), limits.max_time);
    let mut walk = Walk {
        arena,
        census: Census::of(arena, root, limits, &budget)?,
        budget,
        path: String::new(),
        frames: Vec::new(),
        visits: 0,
        out: Leaves::default(),
    };
    walk.visit(root, false)?;
    while let Some(frame) = walk.frames.last_mut() {
        let Some((name, id)) = frame.children.next() else {
            walk.frames.pop();
            continue;
        };
        let in_module = frame.is_module;
        walk.enter(&name)?;
        walk.visit(id, in_module)?;
    }
    let leaves = without_clashes(walk.out)?;
    refuse_lone_object(arena, root, leaves)
}

struct Walk<'a> {
    arena: &'a Arena,
    census: Census,
    budget: Budget,
    path: String,
    frames: Vec<Frame<'a>>,
    visits: u64,
    out: Leaves,
}

/// A container that is being walked through.
struct Frame<'a> {
    /// How much of the path names it.
    path_len: usize,
    children: Children<'a>,
    is_module: bool,
}

/// Values with the names of their keys.
type Entries<'a> = Vec<(Cow<'a, str>, ValueId)>;

enum Children<'a> {
    Named(<Entries<'a> as IntoIterator>::IntoIter),
    Positions(iter::Enumerate<slice::Iter<'a, ValueId>>),
}

impl<'a> Iterator for Children<'a> {
    type Item = (Cow<'a, str>, ValueId);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Named(children) => children.next(),
            Self::Positions(children) => children.next().map(|(i, id)| (Cow::Owned(i.to_string()), *id)),
        }
    }
}

impl<'a> Walk<'a> {
    /// Makes the path that of a child of the innermost container.
    fn enter(&mut self, name: &str) -> Result<()> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        self.budget.take(name.len() + STEP_COST)?;
        self.path.truncate(frame.path_len);
        if self.frames.len() > 1 {
            self.path.push('.');
        }
        self.path.push_str(name);
        Ok(())
    }

    /// Lists a value, or begins to walk through it.
    fn visit(&mut self, id: ValueId, in_module: bool) -> Result<()> {
        let arena = self.arena;
        if self.census.leaves(id) == 0 {
            return Ok(self.budget.take(FRUITLESS_COST)?);
        }
        self.count(1)?;
        match arena.get(id) {
            Value::List(items) => self.open(Children::Positions(items.iter().enumerate()), false),
            Value::Tuple(items) | Value::Size(items) => {
                self.open(Children::Positions(items.iter().enumerate()), false);
            }
            Value::Dict(dict) => {
                let children = self.entries(dict)?;
                self.open(Children::Named(children.into_iter()), false);
            }
            Value::Object(object) => match self.module(object)? {
                Some(children) => {
                    if !in_module {
                        self.skip(id, SkipReason::Module)?;
                    }
                    self.open(Children::Named(children.into_iter()), true);
                }
                None => self.skip(id, SkipReason::Call)?,
            },
            Value::Tensor(tensor) => self.tensor(tensor)?,
            _ => self.plain(id)?,
        }
        Ok(())
    }

    /// Counts values that are looked at, and looks at the time every few thousand.
    fn count(&mut self, visits: usize) -> Result<()> {
        let before = self.visits;
        self.visits += visits as u64;
        if before / 4096 != self.visits / 4096 {
            self.budget.check_time()?;
        }
        Ok(())
    }

    fn open(&mut self, children: Children<'a>, is_module: bool) {
        self.frames.push(Frame { path_len: self.path.len(), children, is_module });
    }

    /// A dict's values by the names of their keys: one a key, the last, at the place of the first, as in
    /// Python.
    fn entries(&mut self, dict: &'a Dict) -> Result<Entries<'a>> {
        self.count(dict.entries.len())?;
        let mut places: HashMap<KeyIdentity<'a>, usize> = HashMap::new();
        let mut out: Entries<'a> = Vec::new();
        for &(key, value) in &dict.entries {
            let Some(name) = key_name(self.arena, key) else {
                self.skip(key, SkipReason::Call)?;
                continue;
            };
            let identity = KeyIdentity::new(self.arena, key);
            self.budget.take(identity.owned_bytes() + name.len() + FRUITLESS_COST)?;
            match places.get(&identity) {
                Some(&place) => out[place].1 = value,
                None => {
                    places.insert(identity, out.len());
                    out.push((name, value));
                }
            }
        }
        Ok(out)
    }

    /// The entries that an `nn.Module` has in its `state_dict`, and its children; `None` for other objects.
    fn module(&mut self, object: &'a Object) -> Result<Option<Entries<'a>>> {
        let Some(tables) = module_tables(self.arena, object) else { return Ok(None) };
        let arena = self.arena;
        let [Value::Dict(parameters), Value::Dict(buffers), Value::Dict(modules)] =
            tables.map(|id| arena.get(id))
        else {
            return Ok(None);
        };
        let transient = self.transient_buffers(object)?;
        let mut children = self.entries(parameters)?;
        children.extend(self.entries(buffers)?.into_iter().filter(|(name, _)| !transient.contains(&**name)));
        children.extend(self.entries(modules)?);
        children.retain(|(_, id)| *self.arena.get(*id) != Value::None);
        Ok(Some(children))
    }

    /// The names of the buffers that are not saved.
    fn transient_buffers(&mut self, object: &Object) -> Result<HashSet<&'a str>> {
        let set = object.state.and_then(|state| self.arena.lookup(state, "_non_persistent_buffers_set"));
        let arena = self.arena;
        let Some(Value::Set(set)) = set.map(|set| arena.get(set)) else { return Ok(HashSet::new()) };
        self.budget.take(set.items.len() * 4 * STEP_COST)?;
        Ok(set.items.iter().filter_map(|item| arena.text(*item)).collect())
    }

    /// The path, to be kept.
    fn name(&mut self) -> Result<String> {
        self.budget.take(self.path.len() + size_of::<ScalarLeaf>() + STEP_COST)?;
        Ok(self.path.clone())
    }

    fn tensor(&mut self, tensor: &TensorValue) -> Result<()> {
        self.budget.take(size_of::<TensorLeaf>() + 16 * tensor.shape.len())?;
        let name = self.name()?;
        self.out.tensors.push(TensorLeaf { name, tensor: tensor.clone() });
        Ok(())
    }

    fn plain(&mut self, id: ValueId) -> Result<()> {
        match scalar(self.arena, id, &mut self.budget)? {
            Some(value) => {
                let name = self.name()?;
                self.out.scalars.push(ScalarLeaf { name, value });
                Ok(())
            }
            None => self.skip(id, SkipReason::Global),
        }
    }

    fn skip(&mut self, id: ValueId, reason: SkipReason) -> Result<()> {
        let name = self.name()?;
        let skipped = skipped::describe(self.arena, id, name, reason);
        self.budget.take(size_of_val(&skipped) + skipped.qualified.len())?;
        self.out.skipped.push(skipped);
        Ok(())
    }
}

/// Refuses two values of one name where a tensor is one of them. The same view under one name twice is one
/// tensor.
fn without_clashes(mut leaves: Leaves) -> Result<Leaves> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(leaves.tensors.len());
    let mut again = HashSet::new();
    let clash = |name: &str| Error::from(ErrorKind::NameClash).with_tensor(name);
    for (index, leaf) in leaves.tensors.iter().enumerate() {
        let Some(&other) = first.get(&*leaf.name) else {
            first.insert(&leaf.name, index);
            continue;
        };
        if !leaf.tensor.is_tied_to(&leaves.tensors[other].tensor) {
            return Err(clash(&leaf.name));
        }
        again.insert(index);
    }
    if let Some(scalar) = leaves.scalars.iter().find(|scalar| first.contains_key(&*scalar.name)) {
        return Err(clash(&scalar.name));
    }
    let mut index = 0..;
    leaves.tensors.retain(|_| index.next().is_none_or(|index| !again.contains(&index)));
    Ok(leaves)
}

/// A file that is nothing but an object has nothing to offer, and a list of one skipped thing would hide
/// that.
fn refuse_lone_object(arena: &Arena, root: ValueId, leaves: Leaves) -> Result<Leaves> {
    let [only] = &*leaves.skipped else { return Ok(leaves) };
    if !leaves.tensors.is_empty() || !leaves.scalars.is_empty() || only.reason == SkipReason::Module {
        return Ok(leaves);
    }
    match arena.get(root) {
        Value::Object(_) | Value::Global(_) if only.reason != SkipReason::Unsupported => {
            Err(ErrorKind::unsafe_global(&*only.qualified).into())
        }
        Value::Object(_) => Err(ErrorKind::unsupported(only.qualified.clone()).into()),
        _ => Ok(leaves),
    }
}

/// The type that `torch.<name>` is, if it is one.
pub(crate) fn torch_dtype(value: &Value) -> Option<DType> {
    match value {
        Value::Global(global) if &*global.module == "torch" => DType::from_torch(&global.name),
        _ => None,
    }
}
