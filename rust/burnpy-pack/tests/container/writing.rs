//! What a writer promises, and what it refuses before anything is written.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use burnpy_buffer::{Bytes, DType, QuantScheme};
use burnpy_pack::{Error, ErrorKind, ProviderError, Tensor, Writer};

use crate::{f32_bytes, f32_tensor, open, payload};

/// A deferred f32 tensor `late` of shape `[2, 2]`.
fn late(
    byte_len: u64,
    provider: impl Fn() -> Result<Bytes, ProviderError> + Send + Sync + 'static,
) -> Tensor {
    Tensor::deferred("late", DType::F32, vec![2, 2], None, byte_len, Arc::new(provider))
}

/// What both ways of asking say: the size, and the bytes.
fn both(tensor: impl Fn() -> Tensor) -> (Result<u64, Error>, Result<usize, Error>) {
    let writer = Writer::new(vec![tensor()]);
    (writer.size(), Writer::new(vec![tensor()]).into_bytes().map(|bytes| bytes.len()))
}

#[test]
fn a_length_that_does_not_follow_from_shape_and_dtype_is_refused() {
    let tensor = |shape: &[u64], len: usize| {
        Tensor::new("w", DType::F32, shape.to_vec(), None, Bytes::from(vec![0; len]))
    };
    for (what, shape, len) in [
        ("payload too short", &[2, 2][..], 12),
        ("payload too long", &[2, 2], 20),
        ("rank 0 without payload", &[], 0),
        ("zero-size shape with payload", &[0], 4),
        ("shape product overflows u64", &[u64::MAX, 2], 8),
        ("overflow in front of a zero", &[u64::MAX, 2, 0], 0),
    ] {
        let (size, bytes) = both(|| tensor(shape, len));
        for error in [size.expect_err(what), bytes.expect_err(what)] {
            assert_eq!(
                (error.kind_name(), error.tensor.as_deref()),
                ("ValidationError", Some("w")),
                "{what}"
            );
        }
    }
    let (size, _) = both(|| tensor(&[2, 2], 12));
    assert_eq!((size.as_ref().unwrap_err().found(), size.unwrap_err().limit()), (Some(12), Some(16)));
    // A zero that comes first stops the product.
    assert!(both(|| tensor(&[0, u64::MAX, 2], 0)).0.is_ok());
}

#[test]
fn a_name_that_stands_twice_is_refused() {
    let tensors = vec![f32_tensor("w", &[1.0]), f32_tensor("v", &[1.0]), f32_tensor("w", &[2.0])];
    let error = Writer::new(tensors).into_bytes().unwrap_err();
    assert_eq!((error.kind_name(), error.tensor.as_deref()), ("ValidationError", Some("w")));
}

#[test]
fn a_quantized_payload_of_wrong_length_is_refused() {
    // Unlike Burn: it writes any length.
    let tensor =
        || Tensor::new("q", DType::QFloat(QuantScheme::default()), vec![3], None, Bytes::from(vec![0; 3]));
    let (size, bytes) = both(tensor);
    assert_eq!(size.unwrap_err().kind_name(), "ValidationError");
    assert_eq!(bytes.unwrap_err().kind_name(), "ValidationError");
}

#[test]
fn a_deferred_tensor_that_declares_a_wrong_length_runs_no_provider() {
    let (size, bytes) = both(|| late(8, || panic!("must not run")));
    assert_eq!(size.unwrap_err().kind_name(), "ValidationError");
    let error = bytes.unwrap_err();
    assert_eq!((error.kind_name(), error.found(), error.limit()), ("ValidationError", Some(8), Some(16)));
}

#[test]
fn a_provider_that_returns_another_length_is_an_error() {
    let (size, bytes) = both(|| late(16, || Ok(Bytes::from(vec![0; 8]))));
    assert_eq!(size.unwrap(), 256 + 16);
    let error = bytes.unwrap_err();
    assert_eq!(
        (error.kind_name(), error.found(), error.limit()),
        ("TensorBytesSizeMismatch", Some(8), Some(16))
    );
    assert_eq!(error.tensor.as_deref(), Some("late"));
}

#[test]
fn a_provider_that_fails_keeps_its_kind_and_its_text() {
    let (size, bytes) = both(|| late(16, || Err(std::io::Error::other("disk gone").into())));
    assert_eq!(size.unwrap(), 256 + 16);
    let error = bytes.unwrap_err();
    assert_eq!(error.kind_name(), "IoError");
    assert_eq!(error.to_string(), "tensor \"late\": disk gone");

    let header = || Error::from(ErrorKind::InvalidVersion { found: 7, newest: 1 });
    let (_, bytes) = both(|| late(16, move || Err(header().into())));
    assert_eq!(bytes.unwrap_err().kind_name(), "InvalidVersion");

    let (_, bytes) = both(|| late(16, || Err("a text".into())));
    let error = bytes.unwrap_err();
    assert!(matches!(error.kind, ErrorKind::Provider(_)), "{error:?}");
    assert!(error.to_string().contains("late") && error.to_string().contains("a text"), "{error}");
}

#[test]
fn providers_run_once_a_write_in_order_and_never_for_the_size() {
    let runs = Arc::new(Mutex::new(Vec::new()));
    let tensors = || {
        [("a", vec![2, 2]), ("b", vec![3]), ("c", vec![64]), ("d", vec![0])].map(|(name, shape)| {
            let (runs, count) = (Arc::clone(&runs), shape.iter().product::<u64>() as usize);
            let provider = move || -> Result<Bytes, ProviderError> {
                runs.lock().unwrap().push(name);
                Ok(f32_bytes(&vec![1.5; count]))
            };
            Tensor::deferred(name, DType::F32, shape, None, count as u64 * 4, Arc::new(provider))
        })
    };
    let writer = Writer::new(tensors().into());
    writer.size().unwrap();
    assert!(runs.lock().unwrap().is_empty());
    let deferred = writer.into_bytes().unwrap();
    assert_eq!(*runs.lock().unwrap(), ["a", "b", "c", "d"]);

    let resident = tensors().map(|tensor| {
        Tensor::new(tensor.name.clone(), tensor.dtype, tensor.shape.clone(), None, tensor.to_bytes().unwrap())
    });
    assert!(Writer::new(resident.into()).into_bytes().unwrap()[..] == deferred[..]);
}

#[test]
fn to_bytes_runs_the_provider_every_time() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let tensor = late(16, move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes::from(vec![0; 16]))
    });
    let debug = format!("{tensor:?}");
    assert!(debug.contains("late") && debug.contains("16"), "{debug}");
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    tensor.to_bytes().unwrap();
    tensor.to_bytes().unwrap();
    assert_eq!(runs.load(Ordering::Relaxed), 2);
}

#[test]
fn each_payload_is_gone_before_the_next_one_is_drawn() {
    struct Counted(Vec<u8>, Arc<AtomicUsize>);
    impl AsRef<[u8]> for Counted {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let alive = Arc::new(AtomicUsize::new(0));
    let tensors = || {
        (0..4).map(|i| {
            let alive = Arc::clone(&alive);
            let provider = move || -> Result<Bytes, ProviderError> {
                assert_eq!(alive.fetch_add(1, Ordering::SeqCst), 0, "an earlier payload is still alive");
                Ok(Bytes::from_owner(Counted(vec![0; 1 << 20], Arc::clone(&alive))))
            };
            Tensor::deferred(format!("t{i}"), DType::U8, vec![1 << 20], None, 1 << 20, Arc::new(provider))
        })
    };
    Writer::new(tensors().collect()).into_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    Writer::new(tensors().collect()).durable(false).write_to_file(folder.path().join("a")).unwrap();
    Writer::new(tensors().collect()).write_to_file_in_place(folder.path().join("b")).unwrap();
}

#[test]
fn size_write_into_and_into_bytes_agree() {
    let writer =
        || Writer::new(vec![f32_tensor("w", &[1.0; 100]), f32_tensor("v", &[])]).with_scalar("step", 3u8);
    let bytes = writer().into_bytes().unwrap();
    assert_eq!(writer().size().unwrap(), bytes.len() as u64);
    let mut exact = vec![0xAA; bytes.len()];
    assert_eq!(writer().write_into(&mut exact).unwrap(), bytes.len() as u64);
    assert!(exact[..] == bytes[..]);

    let mut longer = vec![0xAA; bytes.len() + 9];
    writer().write_into(&mut longer).unwrap();
    assert_eq!(longer[bytes.len()..], [0xAA; 9]);

    let mut shorter = vec![0xAA; bytes.len() - 1];
    assert_eq!(writer().write_into(&mut shorter).unwrap_err().kind_name(), "IoError");
    assert!(
        shorter.iter().all(|&byte| byte == 0xAA),
        "nothing may be written into a buffer that is too short"
    );
}

#[test]
fn the_same_key_again_replaces() {
    let file = Writer::new(vec![])
        .with_metadata("k", "old")
        .with_metadata("k", "new")
        .with_scalar("s", 1u8)
        .with_scalar("s", true)
        .into_bytes()
        .unwrap();
    let reader = open(file.to_vec()).unwrap();
    assert_eq!(reader.metadata()["k"], "new");
    assert_eq!(reader.scalars()["s"], true.into());
}

#[test]
fn a_payload_longer_than_a_write_chunk_round_trips() {
    let content: Vec<u8> = (0..(8 << 20) + 4096).map(|i| (i % 251) as u8).collect();
    let tensor =
        || Tensor::new("w", DType::U8, vec![content.len() as u64], None, Bytes::from(content.clone()));
    let file = Writer::new(vec![tensor(), f32_tensor("v", &[1.0])]).into_bytes().unwrap();
    assert!(payload(&open(file.to_vec()).unwrap(), "w") == content);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.bpk");
    Writer::new(vec![tensor(), f32_tensor("v", &[1.0])]).durable(false).write_to_file(&path).unwrap();
    assert!(std::fs::read(&path).unwrap()[..] == file[..]);
}

#[test]
fn any_text_is_a_name() {
    let names = ["".to_owned(), "a/b".into(), "\0".into(), "日本".into(), "x".repeat(10_000), "a\nb".into()];
    let tensors = names.iter().zip(1u8..).map(|(name, i)| f32_tensor(name, &[f32::from(i)])).collect();
    let reader = open(Writer::new(tensors).into_bytes().unwrap().to_vec()).unwrap();
    let mut sorted: Vec<&str> = names.iter().map(String::as_str).collect();
    sorted.sort_unstable();
    assert_eq!(reader.names().collect::<Vec<_>>(), sorted);
    for (name, i) in names.iter().zip(1u8..) {
        assert_eq!(payload(&reader, name), f32::from(i).to_le_bytes());
    }
}
