//! How many leaves there are, before any is listed.
//!
//! Containers may be shared: sixty tuples, each holding the one before it twice, have 2^60 leaves. Counted
//! from the leaves up, once for each container, that takes sixty additions; walked, it would take a lifetime.

use crate::error::{ErrorKind, Result};
use crate::limits::{Budget, Limits, check};
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
    Known { leaves: u64, depth: u32 },
}

const LEAF: Count = Count::Known { leaves: 1, depth: 0 };

/// A container whose members are being counted.
struct Frame<'a> {
    id: ValueId,
    members: Members<'a>,
    next: usize,
    leaves: u64,
    /// Containers in each other below this one.
    depth: u32,
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
    /// Counts what is inside `root`. Succeeds only if no container holds itself and none is nested too deep.
    pub(crate) fn of(arena: &Arena, root: ValueId, limits: &Limits, budget: &Budget) -> Result<Self> {
        let mut census = Self { counts: vec![Count::Unknown; arena.len()] };
        let mut frames: Vec<Frame<'_>> = frame(arena, root).into_iter().collect();
        census.set(root, if frames.is_empty() { LEAF } else { Count::Open });
        let mut steps = 0u64;
        while let Some(top) = frames.last_mut() {
            steps += 1;
            if steps.is_multiple_of(4096) {
                budget.check_time()?;
            }
            let Some(member) = top.members.get(top.next) else {
                let depth = top.depth + 1;
                check("the depth of containers", u64::from(depth), limits.max_depth as u64)?;
                census.set(top.id, Count::Known { leaves: top.leaves, depth });
                frames.pop();
                continue;
            };
            match census.get(member) {
                Count::Known { leaves, depth } => {
                    top.leaves = top.leaves.saturating_add(leaves);
                    top.depth = top.depth.max(depth);
                    top.next += 1;
                }
                Count::Open => return Err(ErrorKind::pickle("a container holds itself").into()),
                Count::Unknown => match frame(arena, member) {
                    Some(inner) => {
                        census.set(member, Count::Open);
                        frames.push(inner);
                    }
                    None => census.set(member, LEAF),
                },
            }
        }
        check("the number of leaves", census.leaves(root), limits.max_leaves)?;
        Ok(census)
    }

    /// The number of leaves inside a value that was reached; 1 for a leaf.
    pub(crate) fn leaves(&self, id: ValueId) -> u64 {
        match self.get(id) {
            Count::Known { leaves, .. } => leaves,
            _ => 1,
        }
    }

    fn get(&self, id: ValueId) -> Count {
        self.counts.get(id.0 as usize).copied().unwrap_or(LEAF)
    }

    fn set(&mut self, id: ValueId, count: Count) {
        if let Some(place) = self.counts.get_mut(id.0 as usize) {
            *place = count;
        }
    }
}

/// The members of a container; `None` for a leaf.
fn frame(arena: &Arena, id: ValueId) -> Option<Frame<'_>> {
    let (members, leaves) = match arena.get(id) {
        Value::List(items) => (Members::Items(items), 0),
        Value::Tuple(items) | Value::Size(items) => (Members::Items(items), 0),
        Value::Dict(dict) => (Members::Entries(&dict.entries), opaque_keys(arena, dict)),
        Value::Object(object) => (Members::Tables(module_tables(arena, object)?), 1),
        _ => return None,
    };
    Some(Frame { id, members, next: 0, leaves, depth: 0 })
}

/// Keys that only a call could make: they are leaves of their own.
fn opaque_keys(arena: &Arena, dict: &Dict) -> u64 {
    let opaque = |key: ValueId| !matches!(arena.get(key), Value::Text(_) | Value::Int(_));
    dict.entries.iter().filter(|(key, _)| opaque(*key)).count() as u64
}

/// The tables of parameters, buffers and children that an `nn.Module` has; `None` for other objects.
pub(crate) fn module_tables(arena: &Arena, object: &Object) -> Option<[ValueId; 3]> {
    let Value::Dict(state) = arena.get(object.state?) else { return None };
    // Many objects may share one state, which is read for each of them.
    if state.entries.len() > MAX_MODULE_STATE {
        return None;
    }
    let mut tables = [None; 3];
    for &(key, value) in &state.entries {
        let place = match arena.text(key) {
            Some("_parameters") => 0,
            Some("_buffers") => 1,
            Some("_modules") => 2,
            _ => continue,
        };
        tables[place] = Some(value).filter(|id| matches!(arena.get(*id), Value::Dict(_)));
    }
    Some([tables[0]?, tables[1]?, tables[2]?])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(arena: &Arena, root: ValueId) -> Result<Census> {
        Census::of(arena, root, &Limits::default(), &Budget::new(0, std::time::Duration::from_secs(60)))
    }

    fn tuple(arena: &mut Arena, items: &[ValueId]) -> ValueId {
        arena.push(Value::Tuple(items.into())).unwrap()
    }

    #[test]
    fn shared_containers_are_counted_where_they_stand() {
        let mut arena = Arena::default();
        let leaf = arena.push(Value::Int(1)).unwrap();
        let pair = tuple(&mut arena, &[leaf, leaf]);
        let root = tuple(&mut arena, &[pair, leaf, pair]);
        assert_eq!(census(&arena, root).unwrap().leaves(root), 5);
    }

    #[test]
    fn two_to_the_sixtieth_leaves_are_refused_at_once_and_no_leaves_are_none() {
        for (start, leaves) in [(Value::Int(1), None), (Value::List(Vec::new()), Some(0))] {
            let mut arena = Arena::default();
            let mut id = arena.push(start).unwrap();
            for _ in 0..60 {
                id = tuple(&mut arena, &[id, id]);
            }
            assert_eq!(census(&arena, id).ok().map(|census| census.leaves(id)), leaves);
        }
    }

    #[test]
    fn depth_is_limited_also_where_there_are_no_leaves() {
        let mut arena = Arena::default();
        let mut id = arena.push(Value::List(Vec::new())).unwrap();
        for _ in 0..1000 {
            id = tuple(&mut arena, &[id]);
        }
        assert_eq!(census(&arena, id).err().unwrap().kind.name(), "over limit");
        assert!(census(&arena, ValueId(999)).is_ok());
    }

    #[test]
    fn a_cycle_is_an_error() {
        let mut arena = Arena::default();
        let list = arena.push(Value::List(Vec::new())).unwrap();
        let root = tuple(&mut arena, &[list]);
        arena.set(list, Value::List(vec![root]));
        assert_eq!(census(&arena, root).err().unwrap().kind.name(), "malformed pickle");
    }
}
