//! Entry points for fuzzing and property tests: bytes in, nothing out, no panic.

use crate::checkpoint::open;
use crate::flatten;
use crate::heap::{Heap, Persistent};
use crate::input::Input;
use crate::limits::Limits;
use crate::machine;

/// Limits under which no input takes long.
fn small() -> Limits {
    Limits {
        max_memory: 8 << 20,
        max_inflated_pickle: 1 << 20,
        max_leaves: 10_000,
        max_tensor_bytes: 1 << 20,
        ..Limits::default()
    }
}

/// Opens a file, lists it, and reads every tensor.
pub fn exercise(file: &[u8]) {
    let Ok(checkpoint) = open(file, &small()) else { return };
    checkpoint.keys(checkpoint.root());
    checkpoint.get(checkpoint.root(), "0");
    let Ok(leaves) = checkpoint.leaves() else { return };
    assert!(leaves.ties().len() + leaves.overlaps().len() <= leaves.tensors.len());
    for leaf in leaves.tensors.iter().take(100) {
        let placed = checkpoint.placement(file, leaf);
        let view = checkpoint.view_range(file, leaf);
        let read = checkpoint.read(file, leaf);
        let _ = checkpoint.verify(file, leaf);
        if let (Ok(placed), Ok(read)) = (&placed, &read) {
            assert_eq!(placed.byte_len, read.len() as u64);
        }
        if let (Ok(Some(range)), Ok(read)) = (view, &read) {
            assert_eq!(&file[range], &**read, "a view and a copy are the same bytes");
        }
    }
}

/// Runs one pickle as if it were the `data.pkl` of an archive, and lists it.
pub fn exercise_pickle(pickle: &[u8]) {
    let limits = small();
    let mut heap = Heap::new(&limits, pickle.len());
    let input = Input::new(pickle, Some(0));
    let Ok(loaded) = machine::load(&mut heap, &limits, input, Persistent::Storages) else { return };
    let _ = flatten::leaves(&heap.arena, loaded.root, &limits, pickle.len());
}
