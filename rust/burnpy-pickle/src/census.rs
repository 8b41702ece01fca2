//! How many leaves there are, before any is listed.
//!
//! Containers may be shared: sixty tuples, each holding the one before it twice, have 2^60 leaves. Counted from the
//! leaves up, once for each container, that takes sixty additions; walked, it would take a lifetime.

use crate::error::{ErrorKind, Result};
use crate::limits::{Limits, check};
use crate::value::{Arena, Dict, Object, Value, ValueId};

/// Attributes of an `nn.Module`, at most: it has about twenty of its own.
const MAX_MODULE_STATE: usize = 1000;

/// The number of leaves inside each container that can be reached.
pub(crate) struct Census {
    counts: Vec<Count>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Count {
    Unknown,
    Open,
    Known(u64),
}

/// A container whose members are being counted.
struct Frame<'a> {
    id: ValueId,
    members: Members<'a>,
    next: usize,
    count: u64,
}

enum Members<'a> {
    Items(&'a [ValueId]),
    Entries(&'a [(ValueId, ValueId)]),
    Tables([ValueId; 3]),
}

impl Members<'_> {
    fn get(&self, index: usize) -> Option<ValueId> {
        match self {
            Self::Items(items) => items.get(index).copied(),
            Self::Entries(entries) => entries.get(index).map(|entry| entry.1),
            Self::Tables(tables) => tables.get(index).copied(),
        }
    }
}

impl Census {
    /// Counts what is inside `root`.
    pub(crate) fn of(arena: &Arena, root: ValueId, limits: &Limits) -> Result<Self> {
        let mut census = Self { counts: vec![Count::Unknown; arena.len()] };
        let mut frames: Vec<Frame<'_>> = frame(arena, root).into_iter().collect();
        census.set(root, if frames.is_empty() { Count::Known(1) } else { Count::Open });
        while let Some(top) = frames.last_mut() {
            let Some(member) = top.members.get(top.next) else {
                census.set(top.id, Count::Known(top.count));
                frames.pop();
                continue;
            };
            match census.get(member) {
                Count::Known(count) => {
                    top.count = top.count.saturating_add(count);
                    top.next += 1;
                }
                Count::Open => return Err(ErrorKind::pickle("a container holds itself").into()),
                Count::Unknown => match frame(arena, member) {
                    Some(inner) => {
                        census.set(member, Count::Open);
                        frames.push(inner);
                    }
                    None => census.set(member, Count::Known(1)),
                },
            }
        }
        check("the number of leaves", census.leaves(root), limits.max_leaves)?;
        Ok(census)
    }

    /// The number of leaves inside a value that was reached; 1 for a leaf.
    pub(crate) fn leaves(&self, id: ValueId) -> u64 {
        match self.get(id) {
            Count::Known(count) => count,
            _ => 1,
        }
    }

    fn get(&self, id: ValueId) -> Count {
        self.counts.get(id.0 as usize).copied().unwrap_or(Count::Known(1))
    }

    fn set(&mut self, id: ValueId, count: Count) {
        if let Some(place) = self.counts.get_mut(id.0 as usize) {
            *place = count;
        }
    }
}

/// The members of a container; `None` for a leaf.
fn frame(arena: &Arena, id: ValueId) -> Option<Frame<'_>> {
    let (members, count) = match arena.get(id) {
        Value::List(items) => (Members::Items(items), 0),
        Value::Tuple(items) | Value::Size(items) => (Members::Items(items), 0),
        Value::Dict(dict) => (Members::Entries(&dict.entries), opaque_keys(arena, dict)),
        Value::Object(object) => (Members::Tables(module_tables(arena, object)?), 1),
        _ => return None,
    };
    Some(Frame { id, members, next: 0, count })
}

/// Keys that only a call could make: they are leaves of their own.
fn opaque_keys(arena: &Arena, dict: &Dict) -> u64 {
    let opaque = |key: ValueId| !matches!(arena.get(key), Value::Text(_) | Value::Int(_));
    dict.entries.iter().filter(|(key, _)| opaque(*key)).count() as u64
}

/// The tables of parameters, buffers and children that an `nn.Module` has; `None` for other objects.
pub(crate) fn module_tables(arena: &Arena, object: &Object) -> Option<[ValueId; 3]> {
    let state = object.state?;
    match arena.get(state) {
        Value::Dict(dict) if dict.entries.len() <= MAX_MODULE_STATE => {}
        _ => return None,
    }
    let table = |name| arena.lookup(state, name).filter(|id| matches!(arena.get(*id), Value::Dict(_)));
    Some([table("_parameters")?, table("_buffers")?, table("_modules")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(arena: &mut Arena, items: &[ValueId]) -> ValueId {
        arena.push(Value::Tuple(items.into())).unwrap()
    }

    #[test]
    fn shared_containers_are_counted_where_they_stand() {
        let mut arena = Arena::default();
        let leaf = arena.push(Value::Int(1)).unwrap();
        let pair = tuple(&mut arena, &[leaf, leaf]);
        let root = tuple(&mut arena, &[pair, leaf, pair]);
        assert_eq!(Census::of(&arena, root, &Limits::default()).unwrap().leaves(root), 5);
    }

    #[test]
    fn two_to_the_sixtieth_leaves_are_refused_at_once_and_no_leaves_are_none() {
        for (start, leaves) in [(Value::Int(1), None), (Value::List(Vec::new()), Some(0))] {
            let mut arena = Arena::default();
            let mut id = arena.push(start).unwrap();
            for _ in 0..60 {
                id = tuple(&mut arena, &[id, id]);
            }
            assert_eq!(
                Census::of(&arena, id, &Limits::default()).ok().map(|census| census.leaves(id)),
                leaves
            );
        }
    }

    #[test]
    fn a_cycle_is_an_error() {
        let mut arena = Arena::default();
        let list = arena.push(Value::List(Vec::new())).unwrap();
        let root = tuple(&mut arena, &[list]);
        arena.set(list, Value::List(vec![root]));
        assert_eq!(
            Census::of(&arena, root, &Limits::default()).err().unwrap().kind.name(),
            "malformed pickle"
        );
    }
}
