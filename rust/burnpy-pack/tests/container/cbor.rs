//! CBOR put together by hand, so that tests can say what no encoder would.

use crate::file_of;

pub(crate) type Item = Vec<u8>;

/// A head in its shortest form.
pub(crate) fn head(major: u8, value: u64) -> Item {
    let major = major << 5;
    match value {
        0..=23 => vec![major | value as u8],
        24..=0xFF => vec![major | 24, value as u8],
        0x100..=0xFFFF => [&[major | 25][..], &(value as u16).to_be_bytes()].concat(),
        0x1_0000..=0xFFFF_FFFF => [&[major | 26][..], &(value as u32).to_be_bytes()].concat(),
        _ => wide_head(major >> 5, value),
    }
}

/// A head of nine bytes, however small the value.
pub(crate) fn wide_head(major: u8, value: u64) -> Item {
    [&[major << 5 | 27][..], &value.to_be_bytes()].concat()
}

pub(crate) fn uint(value: u64) -> Item {
    head(0, value)
}

/// `-1 - n`.
pub(crate) fn negative(n: u64) -> Item {
    head(1, n)
}

pub(crate) fn bytes(content: &[u8]) -> Item {
    [head(2, content.len() as u64), content.to_vec()].concat()
}

pub(crate) fn text(content: &str) -> Item {
    [head(3, content.len() as u64), content.into()].concat()
}

pub(crate) fn array(items: &[Item]) -> Item {
    [head(4, items.len() as u64), items.concat()].concat()
}

pub(crate) fn map<K: Key>(entries: &[(K, Item)]) -> Item {
    [head(5, entries.len() as u64), pairs(entries)].concat()
}

pub(crate) fn tag(number: u64, item: Item) -> Item {
    [head(6, number), item].concat()
}

pub(crate) fn endless_text(chunks: &[&str]) -> Item {
    [vec![0x7F], chunks.iter().flat_map(|chunk| text(chunk)).collect(), vec![0xFF]].concat()
}

pub(crate) fn endless_array(items: &[Item]) -> Item {
    [vec![0x9F], items.concat(), vec![0xFF]].concat()
}

pub(crate) fn endless_map<K: Key>(entries: &[(K, Item)]) -> Item {
    [vec![0xBF], pairs(entries), vec![0xFF]].concat()
}

pub(crate) fn f64_item(value: f64) -> Item {
    [&[0xFB][..], &value.to_be_bytes()].concat()
}

pub(crate) const NULL: &[u8] = &[0xF6];
pub(crate) const UNDEFINED: &[u8] = &[0xF7];
pub(crate) const TRUE: &[u8] = &[0xF5];

fn pairs<K: Key>(entries: &[(K, Item)]) -> Item {
    entries.iter().flat_map(|(key, value)| [key.item(), value.clone()].concat()).collect()
}

/// A key of a map: text, or any item.
pub(crate) trait Key {
    fn item(&self) -> Item;
}

impl Key for &str {
    fn item(&self) -> Item {
        text(self)
    }
}

impl Key for Item {
    fn item(&self) -> Item {
        self.clone()
    }
}

/// Entries of a descriptor or of the top level, to be changed one at a time.
pub(crate) type Entries = Vec<(&'static str, Item)>;

/// F32 of shape `[2]` at `0..8`: what [`DATA`] holds.
pub(crate) fn descriptor() -> Entries {
    vec![("dtype", text("F32")), ("shape", array(&[uint(2)])), ("data_offsets", offsets(0, 8))]
}

pub(crate) fn offsets(start: u64, end: u64) -> Item {
    array(&[uint(start), uint(end)])
}

/// The descriptor with one entry replaced, or added if there was none.
pub(crate) fn descriptor_with(key: &'static str, value: Item) -> Entries {
    with(descriptor(), key, value)
}

pub(crate) fn with(mut entries: Entries, key: &'static str, value: Item) -> Entries {
    match entries.iter_mut().find(|entry| entry.0 == key) {
        Some(entry) => entry.1 = value,
        None => entries.push((key, value)),
    }
    entries
}

pub(crate) fn without(mut entries: Entries, key: &str) -> Entries {
    entries.retain(|entry| entry.0 != key);
    entries
}

/// `{"tensors": {"w": descriptor}}`, as entries.
pub(crate) fn top(descriptor: &[(&str, Item)]) -> Entries {
    vec![("tensors", map(&[("w", map(descriptor))]))]
}

/// The payload of the descriptor above: 1.0 and -2.5.
pub(crate) const DATA: [u8; 8] = [0, 0, 0x80, 0x3F, 0, 0, 0x20, 0xC0];

/// A file of one tensor `w` with this descriptor.
pub(crate) fn file_with(descriptor: &[(&str, Item)]) -> Vec<u8> {
    file_of(&map(&top(descriptor)), &DATA)
}

/// A file of this top-level item over [`DATA`].
pub(crate) fn file_of_item(item: &[u8]) -> Vec<u8> {
    file_of(item, &DATA)
}

/// `{"QFloat": scheme}`.
pub(crate) fn qfloat(scheme: &[(&str, Item)]) -> Item {
    map(&[("QFloat", map(scheme))])
}

/// Q8S, native, symmetric, one scale of the whole tensor.
pub(crate) fn scheme() -> Entries {
    vec![
        ("value", text("Q8S")),
        ("store", text("Native")),
        ("mode", text("Symmetric")),
        ("tensor", NULL.to_vec()),
        ("block", NULL.to_vec()),
    ]
}

/// A block of a scheme: storage, length in use, type of its scales.
pub(crate) fn block(storage: &[u64], len: u64, dtype: &str) -> Item {
    let storage: Vec<Item> = storage.iter().map(|&extent| uint(extent)).collect();
    map(&[("size", block_size(array(&storage), len)), ("dtype", text(dtype))])
}

pub(crate) fn block_size(storage: Item, len: u64) -> Item {
    map(&[("storage", storage), ("len", uint(len))])
}
