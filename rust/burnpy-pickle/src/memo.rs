//! The memo: values that a pickle may refer to again.

use std::collections::HashMap;

use crate::error::ErrorKind;
use crate::limits::check;
use crate::value::ValueId;

/// Numbered values. Pickles number them from 0 on, so a list holds them; a stray number goes into a map, so
/// that an index of four billion costs one entry.
#[derive(Debug, Default)]
pub(crate) struct Memo {
    dense: Vec<ValueId>,
    sparse: HashMap<u64, ValueId>,
}

impl Memo {
    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        self.dense.len() + self.sparse.len()
    }

    pub(crate) fn put(&mut self, index: u64, id: ValueId, limit: usize) -> Result<(), ErrorKind> {
        let place = usize::try_from(index).ok();
        if let Some(place) = place.and_then(|place| self.dense.get_mut(place)) {
            *place = id;
            return Ok(());
        }
        check("the number of memo entries", self.len() as u64 + 1, limit as u64)?;
        if place == Some(self.dense.len()) && !self.sparse.contains_key(&index) {
            self.dense.push(id);
        } else {
            self.sparse.insert(index, id);
        }
        Ok(())
    }

    pub(crate) fn get(&self, index: u64) -> Result<ValueId, ErrorKind> {
        let dense = usize::try_from(index).ok().and_then(|place| self.dense.get(place));
        let found = dense.or_else(|| self.sparse.get(&index)).copied();
        found.ok_or_else(|| ErrorKind::pickle(format!("memo entry {index} was never put")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_order_of_indices_is_kept() {
        let mut memo = Memo::default();
        for (value, index) in [5, 0, 1, 1 << 40, 2, 3, 4, 5, 6, 0].into_iter().enumerate() {
            memo.put(index, ValueId(value as u32), 100).unwrap();
        }
        for (index, value) in [(0, 9), (1, 2), (2, 4), (4, 6), (5, 7), (6, 8), (1 << 40, 3)] {
            assert_eq!(memo.get(index), Ok(ValueId(value)));
        }
        assert_eq!(memo.len(), 8);
        assert_eq!(memo.get(7).unwrap_err().name(), "malformed pickle");
    }

    #[test]
    fn entries_are_limited() {
        let mut memo = Memo::default();
        memo.put(0, ValueId(0), 1).unwrap();
        memo.put(0, ValueId(0), 1).unwrap();
        assert_eq!(memo.put(1, ValueId(0), 1).unwrap_err().name(), "over limit");
    }
}
