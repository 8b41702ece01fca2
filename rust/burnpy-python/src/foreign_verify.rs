//! Checksums of a checkpoint's storages: compared by whoever reads a tensor first, or while it is copied to another file.

use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use burnpy_buffer::{Watch, forget_pages, watch_copies};
use burnpy_pickle::TensorLeaf;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::foreign::{Content, Entry, Foreign, PickleContent, Place};

/// Smaller storages pass through memory on their way, where they are compared at once.
const PUT_OFF_BYTES: usize = 1 << 20;

/// How far a storage is compared with its checksum.
#[derive(Default)]
pub(crate) struct Check {
    is_done: AtomicBool,
    /// Whether somebody compares it later.
    is_put_off: AtomicBool,
}

impl Check {
    fn is_due(&self) -> bool {
        !self.is_done.load(Ordering::Relaxed) && !self.is_put_off.load(Ordering::Relaxed)
    }

    fn finish(&self) {
        self.is_done.store(true, Ordering::Relaxed);
    }

    fn put_off(&self, on: bool) {
        self.is_put_off.store(on, Ordering::Relaxed);
    }
}

impl Foreign {
    /// Compares the storage of a tensor with its checksum where the archive has one, unless that is done or put off.
    ///
    /// # Errors
    /// `checksum`.
    pub(crate) fn verify(&self, entry: &Entry) -> Result<(), Failure> {
        let Some((pickle, leaf, check)) = self.check_of(entry).filter(|(_, _, check)| check.is_due()) else {
            return Ok(());
        };
        pickle.checkpoint.verify(&self.map.bytes, leaf)?;
        check.finish();
        Ok(())
    }

    fn check_of(&self, entry: &Entry) -> Option<(&PickleContent, &TensorLeaf, &Check)> {
        let (Place::Leaf(leaf), Content::Pickle(pickle)) = (&entry.place, &self.content) else { return None };
        let leaf = &pickle.leaves.tensors[*leaf];
        Some((pickle, leaf, pickle.checks.get(leaf.tensor.storage.index())?))
    }

    /// Where a large storage lies in the file, and its checksum.
    fn large_storage(&self, entry: &Entry) -> Option<(Range<usize>, u32)> {
        let (pickle, leaf, _) = self.check_of(entry)?;
        let storage = pickle.checkpoint.checksum(&self.map.bytes, leaf);
        storage.filter(|(range, _)| range.len() >= PUT_OFF_BYTES)
    }
}

/// Comparison of tensors with their checksums while they are copied: what was read meanwhile counts after ``finish``.
///
/// Whoever copies a storage from file to file tells the CRC-32 of what was written. The other ones are compared at the
/// end.
#[pyclass(frozen, name = "Verification", module = "burnpy._core")]
pub(crate) struct PyVerification {
    open: Arc<Foreign>,
    path: PathBuf,
    /// Tensors whose storages are put off, one for each, and where those are.
    put_off: Vec<(usize, Range<usize>)>,
    watch: Mutex<Option<Watch>>,
    /// Whether something was written that has not its checksum.
    is_wrong: Arc<AtomicBool>,
}

impl PyVerification {
    pub(crate) fn start(open: Arc<Foreign>, path: PathBuf, entries: &[usize]) -> Self {
        let large = |&index: &usize| {
            let (range, sum) = open.large_storage(&open.entries[index])?;
            Some((range, (index, sum)))
        };
        let storages: HashMap<_, _> = entries.iter().filter_map(large).collect();
        let mut put_off: Vec<_> =
            storages.iter().map(|(range, (index, _))| (*index, range.clone())).collect();
        // The first that is damaged is told.
        put_off.sort_unstable_by_key(|(index, _)| *index);
        let (watch, is_wrong) = (Mutex::new(None), Arc::new(AtomicBool::new(false)));
        let this = Self { open: Arc::clone(&open), path, put_off, watch, is_wrong: Arc::clone(&is_wrong) };
        this.put_off(true);
        let told = Arc::clone(&open);
        let witness = move |range, found| match storages.get(&range) {
            Some(&(index, expected)) if found == expected => {
                told.check_of(&told.entries[index]).into_iter().for_each(|(_, _, check)| check.finish());
            }
            Some(_) => is_wrong.store(true, Ordering::Relaxed),
            None => {}
        };
        *this.watch() = Some(watch_copies(&open.map.bytes, Arc::new(witness)));
        this
    }

    fn put_off(&self, on: bool) {
        let entries = self.put_off.iter().map(|(index, _)| &self.open.entries[*index]);
        entries.filter_map(|entry| self.open.check_of(entry)).for_each(|(_, _, check)| check.put_off(on));
    }

    fn watch(&self) -> MutexGuard<'_, Option<Watch>> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn compare_rest(&self) -> Result<(), Failure> {
        let start = self.open.map.bytes.as_ptr() as usize;
        self.put_off.iter().try_for_each(|(index, range)| {
            self.open.verify(&self.open.entries[*index])?;
            // No more of the file is in memory than one storage.
            forget_pages(start + range.start..start + range.end);
            Ok(())
        })
    }
}

#[pymethods]
impl PyVerification {
    /// Compares what was not copied as it is.
    ///
    /// Raises:
    ///     CheckpointError: a tensor is damaged, or the file was changed while it was read.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        self.stop();
        let finished = py.detach(|| {
            self.compare_rest()?;
            // What was read once and is not there any more.
            if self.is_wrong.load(Ordering::Relaxed) {
                return Err(Failure::Changed);
            }
            self.open.map.check_unchanged(&self.path)
        });
        finished.map_err(|failure| failure.into_exception(py, &self.path))
    }

    /// Whoever reads a tensor compares it again.
    fn stop(&self) {
        self.put_off(false);
        self.watch().take();
    }
}
