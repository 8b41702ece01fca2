//! Files of a few kilobytes that ask for gigabytes or hours, one for each way in which a pickle can multiply
//! what it holds. Each must end in seconds and within 100 MB.

#![allow(unreachable_pub, reason = "a test has no outside")]

#[path = "support/child.rs"]
mod child;

use child::measure;

#[test]
#[ignore = "started by the test below"]
fn child_reads_one_file() {
    child::child();
}

fn text(len: usize) -> Vec<u8> {
    let mut out = b"X".to_vec();
    out.extend((len as u32).to_le_bytes());
    out.resize(out.len() + len, b'a');
    out
}

fn pickle(parts: &[&[u8]]) -> Vec<u8> {
    [b"\x80\x04", parts.concat().as_slice(), b"."].concat()
}

/// A list of `count` empty lists, in memo 0.
fn long_list(count: usize) -> Vec<u8> {
    [b"](".as_slice(), &b"]".repeat(count), b"eq\0"].concat()
}

/// Each way to multiply, and how it should end where that is certain.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let many = 4000;
    vec![
        ("a list copied by calls", pickle(&[
            &long_list(10_000), b"(", &b"cbuiltins\nlist\nh\0\x85R".repeat(many), b"t",
        ])),
        ("a list copied into sets", pickle(&[
            &long_list(10_000), b"cbuiltins\nset\nq\x010(", &b"h\x01h\0\x85R".repeat(many), b"t",
        ])),
        ("a dict copied by calls", pickle(&[
            b"}(", &b"K\x01N".repeat(10_000), b"uq\0ccollections\nOrderedDict\nq\x010(",
            &b"h\x01h\0\x85R".repeat(many), b"t",
        ])),
        ("text encoded over and over", pickle(&[
            &text(500_000), b"q\0c_codecs\nencode\nq\x010(", &b"h\x01h\0\x8c\x06latin1\x86R".repeat(many), b"t",
        ])),
        ("a long class name in every object", pickle(&[
            b"c", &b"a".repeat(500_000), b"\nB\nq\x010(", &b"h\x01)\x81".repeat(many), b"t",
        ])),
        ("a long storage class", pickle(&[
            b"ctorch\n", &b"a".repeat(500_000), b"Storage\nq\x010(",
            &b"ctorch._utils\n_rebuild_tensor\n(X\x07\0\0\0storageh\x01K\x01NK\x01tR".repeat(1000), b"t",
        ])),
        ("lists made above a high stack", pickle(&[
            b"]", &b"N".repeat(400_000), &b"0".repeat(400_000), &b"(la".repeat(many),
        ])),
        ("tuples in tuples", pickle(&[b"K\x01q\0", &b"h\0h\0\x86q\0".repeat(60)])),
        ("tuples in tuples without a leaf", pickle(&[b")q\0", &b"h\0h\0\x86q\0".repeat(60)])),
        ("long keys in dicts in dicts", pickle(&[
            &text(100_000), b"q\0K\x01q\x01", &b"}h\0h\x01sq\x01".repeat(900),
        ])),
        ("long keys and many leaves", pickle(&[
            b"](", &b"K\x01".repeat(10_000), b"eq\x01", b"}", &text(100_000), b"h\x01s",
        ])),
        ("one leaf beside a million places without", pickle(&[
            b"](K\x01", &b"]".repeat(100_000), b"eq\0](", &b"h\0".repeat(many), b"e",
        ])),
        ("one leaf in a dict of empty lists", pickle(&[
            b"}(K\x01K\x01", &b"X\0\0\0\0]".repeat(20_000), b"uq\0](", &b"h\0".repeat(many), b"e",
        ])),
        ("a huge integer as every key", pickle(&[
            b"\x8b\0\x04\0\0", &[1; 1024], b"q\0](", &b"}h\0K\x01s".repeat(many), b"e",
        ])),
        ("a tuple of text as every key", pickle(&[
            &text(250), b"q\0(", &b"h\0".repeat(16), b"tq\0(", &b"h\0".repeat(16), b"tq\0](",
            &b"}h\0K\x01s".repeat(many), b"e",
        ])),
        ("a module's set of buffers", pickle(&[
            b"\x8f(", &b"\x8c\x01a".repeat(100_000), b"\x90q\0}(X\x0b\0\0\0_parameters}X\x08\0\0\0_buffers}",
            b"X\x08\0\0\0_modules}X\x1b\0\0\0_non_persistent_buffers_seth\0uq\x01](",
            &b"ca\nB\n)\x81h\x01b".repeat(many), b"e",
        ])),
        ("a module state of many names", pickle(&[
            b"}(", &b"\x8c\x0b_parameter_}".repeat(900), b"X\x0b\0\0\0_parameters}X\x08\0\0\0_buffers}",
            b"X\x08\0\0\0_modules}uq\x01](",
            &b"ca\nB\n)\x81h\x01b".repeat(many), b"e",
        ])),
        ("one name for many tensors", pickle(&[
            b"ctorch._utils\n_rebuild_tensor\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0\x30NK\0tK\0))tR",
            b"q\0", &b"}(X\x01\0\0\0ah\0X\x03\0\0\0a.ah\0uq\0".repeat(16),
        ])),
        ("a call in the place of a call's function", pickle(&[
            b"ctorch._tensor\n_rebuild_from_type_v2\nq\x01)q\0(", &b"(h\x01h\x01h\0}tq\0".repeat(1000), b"h\x01h\0Rt",
        ])),
        ("tensors of 64 dimensions", pickle(&[
            b"(", &b"K\x01".repeat(64), b"tq\0ctorch._utils\n_rebuild_tensor\nq\x010((X\x07\0\0\0storage",
            b"ctorch\nFloatStorage\nX\x01\0\0\0\x30NK\x01tK\0h\0h\0tq\x020](", &b"h\x01h\x02R".repeat(many), b"e",
        ])),
                ("digits", pickle(&[b"(", &[b"I".as_slice(), &b"1".repeat(1000), b"\n"].concat().repeat(1000), b"t"])),
    ]
}

#[test]
fn what_multiplies_is_bounded() {
    let folder = std::env::temp_dir().join(format!("burnpy-bombs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, bytes) in bombs() {
        let path = folder.join("bomb.pkl");
        std::fs::write(&path, &bytes).unwrap();
        let usage = measure(&path);
        println!("{name}: {} bytes, {} us, {} KiB, {}", bytes.len(), usage.micros, usage.kib, usage.end);
        assert!(bytes.len() < 2_000_000, "{name} is no small file");
        // A watchdog, not a measurement: other processes share the machine.
        assert!(usage.micros < 60_000_000, "{name} took {} us", usage.micros);
        assert!(usage.kib < 100_000, "{name} took {} KiB", usage.kib);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
