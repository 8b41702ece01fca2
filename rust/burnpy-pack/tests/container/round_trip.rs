//! Properties: what is written is read, the same in gives the same bytes, strict mode takes what the writer wrote.

use std::collections::BTreeMap;

use burnpy_buffer::{
    BlockScale, BlockSize, BoolStore, Bytes, DType, QuantMode, QuantScheme, QuantStore, QuantValue,
    ScaleDType,
};
use burnpy_pack::{Reader, Scalar, Tensor, Writer};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::{assert_same_content, open, open_strict, scalar_bits};

#[derive(Debug, Clone)]
struct Content {
    tensors: Vec<Tensor>,
    metadata: BTreeMap<String, String>,
    scalars: BTreeMap<String, Scalar>,
}

impl Content {
    fn written(&self) -> Vec<u8> {
        let mut writer = Writer::new(self.tensors.clone());
        for (key, value) in &self.metadata {
            writer = writer.with_metadata(key, value);
        }
        for (key, value) in &self.scalars {
            writer = writer.with_scalar(key, *value);
        }
        writer.into_bytes().expect("valid content can be written").to_vec()
    }
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[a-z.]{0,12}", 2 => "\\PC{0,6}", 1 => any::<String>(), 1 => "x{250,300}"]
}

fn plain_dtype() -> impl Strategy<Value = DType> {
    select(DType::plain().collect::<Vec<_>>())
}

fn block() -> impl Strategy<Value = BlockScale> {
    let size = vec(1u8..=20, 1..=5).prop_map(|extents| {
        let mut storage = [1; 5];
        storage[..extents.len()].copy_from_slice(&extents);
        // Not canonical on purpose where it begins with ones: that is kept as it is.
        BlockSize { storage, len: extents.len() as u8 }
    });
    (size, select(ScaleDType::ALL.to_vec())).prop_map(|(size, dtype)| BlockScale { size, dtype })
}

fn scheme(rank: usize) -> impl Strategy<Value = QuantScheme> {
    let dim = 0..rank.max(1) as u64;
    let store = prop_oneof![
        Just(QuantStore::Native),
        dim.clone().prop_map(QuantStore::PackedNative),
        dim.prop_map(QuantStore::PackedU32)
    ];
    let levels = (proptest::option::of(select(ScaleDType::ALL.to_vec())), proptest::option::of(block()));
    let mode = select(vec![QuantMode::Symmetric, QuantMode::Lookup]);
    (select(QuantValue::ALL.to_vec()), store, mode, levels)
        .prop_map(|(value, store, mode, (tensor, block))| QuantScheme { value, store, mode, tensor, block })
}

fn tensor() -> impl Strategy<Value = (DType, Vec<u64>, Option<u64>, u8)> {
    let shape = vec(prop_oneof![1 => Just(0u64), 2 => Just(1u64), 6 => 2..6u64], 0..5);
    shape.prop_flat_map(|shape| {
        let quantized = scheme(shape.len()).prop_map(DType::QFloat);
        let dtype = prop_oneof![3 => plain_dtype(), 1 => quantized];
        let id = prop_oneof![Just(None), any::<u64>().prop_map(Some), (0..300u64).prop_map(Some)];
        (dtype, Just(shape), id, any::<u8>())
    })
}

fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        any::<i64>().prop_map(Scalar::Int),
        (-300..300i64).prop_map(Scalar::Int),
        any::<u64>().prop_map(Scalar::UInt),
        any::<u64>().prop_map(|bits| Scalar::Float(f64::from_bits(bits))),
        any::<f32>().prop_map(Scalar::from),
        any::<u16>().prop_map(|bits| Scalar::Float(f64::from(bits) / 256.0)),
        any::<bool>().prop_map(Scalar::Bool),
    ]
}

fn content() -> impl Strategy<Value = Content> {
    let tensors = btree_map(name(), tensor(), 0..12).prop_map(|named| {
        let mut tensors: Vec<_> = named
            .into_iter()
            .map(|(name, (dtype, shape, id, seed))| {
                let len = dtype.payload_len(&shape).expect("a small shape") as usize;
                let bytes: Vec<u8> =
                    (0..len).map(|i| (i as u8).wrapping_mul(31).wrapping_add(seed)).collect();
                (seed, Tensor::new(name, dtype, shape, id, Bytes::from(bytes)))
            })
            .collect();
        // An order that is not that of the names.
        tensors.sort_by_key(|(seed, _)| *seed);
        tensors.into_iter().map(|(_, tensor)| tensor).collect()
    });
    let metadata = btree_map(name(), name(), 0..5);
    (tensors, metadata, btree_map(name(), scalar(), 0..5)).prop_map(|(tensors, metadata, scalars)| Content {
        tensors,
        metadata,
        scalars,
    })
}

fn assert_holds(reader: &Reader, content: &Content) {
    assert_eq!(reader.len(), content.tensors.len());
    for tensor in &content.tensors {
        let entry = reader.entry(&tensor.name).unwrap();
        assert_eq!(
            (entry.dtype(), entry.shape(), entry.param_id()),
            (tensor.dtype, &tensor.shape[..], tensor.param_id)
        );
        assert!(reader.bytes(&entry).unwrap()[..] == tensor.to_bytes().unwrap()[..]);
        assert_eq!((reader.data_start() + entry.start()) % 256, 0);
    }
    assert_eq!(reader.metadata(), &content.metadata);
    let bits = |scalars: &BTreeMap<String, Scalar>| {
        scalars.iter().map(|(key, value)| (key.clone(), scalar_bits(*value))).collect::<Vec<_>>()
    };
    assert_eq!(bits(reader.scalars()), bits(&content.scalars));
}

/// `fast` tries the same cases every time; `thorough` searches.
fn config() -> ProptestConfig {
    let thorough = std::env::var("BURNPY_TEST_PROFILE").is_ok_and(|profile| profile == "thorough");
    let rng_seed = if thorough {
        proptest::test_runner::RngSeed::Random
    } else {
        proptest::test_runner::RngSeed::Fixed(1)
    };
    ProptestConfig {
        cases: if thorough { 10_000 } else { 200 },
        failure_persistence: None,
        rng_seed,
        ..Default::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn what_is_written_is_read(content in content()) {
        let file = content.written();
        assert_holds(&open(file.clone()).unwrap(), &content);
        let strict = open_strict(file).unwrap();
        assert_holds(&strict, &content);
    }

    #[test]
    fn the_same_content_gives_the_same_bytes(content in content()) {
        let file = content.written();
        prop_assert!(file == content.written());
        prop_assert_eq!(Writer::new(content.tensors).size().is_ok(), true);
    }

    #[test]
    fn what_is_read_and_written_again_has_the_same_bytes(content in content()) {
        let file = content.written();
        let reader = open(file.clone()).unwrap();
        // Tensors of no bytes may share a place: their order is not in the file, and means nothing to its bytes.
        let tensors = reader.entries().map(|entry| reader.tensor(&entry).unwrap()).collect();
        let (metadata, scalars) = (reader.metadata().clone(), reader.scalars().clone());
        let again = Content { tensors, metadata, scalars };
        prop_assert!(again.written() == file);
    }

    #[test]
    fn a_file_reads_as_its_bytes_do(content in content()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.bpk");
        let file = content.written();
        std::fs::write(&path, &file).unwrap();
        for backend in [burnpy_pack::Backend::Mmap, burnpy_pack::Backend::Pread] {
            let options = burnpy_pack::ReadOptions { backend, ..Default::default() };
            assert_same_content(&Reader::from_file(&path, &options).unwrap(), &open(file.clone()).unwrap());
        }
    }

    #[test]
    fn a_changed_byte_is_an_error_or_a_container(content in content(), at in any::<prop::sample::Index>(), value in any::<u8>()) {
        let mut file = content.written();
        let at = at.index(file.len());
        file[at] = value;
        for reader in [open(file.clone()), open_strict(file)].into_iter().flatten() {
            reader.entries().for_each(|entry| drop(reader.bytes(&entry)));
        }
    }
}

#[test]
fn bool_stores_are_told_apart() {
    let tensor = |store, len| {
        Tensor::new(format!("{store:?}"), DType::Bool(store), vec![2], None, Bytes::from(vec![1; len]))
    };
    let tensors = vec![tensor(BoolStore::Native, 2), tensor(BoolStore::U8, 2), tensor(BoolStore::U32, 8)];
    let reader = open(Writer::new(tensors).into_bytes().unwrap().to_vec()).unwrap();
    for store in [BoolStore::Native, BoolStore::U8, BoolStore::U32] {
        assert_eq!(reader.entry(&format!("{store:?}")).unwrap().dtype(), DType::Bool(store));
    }
}
