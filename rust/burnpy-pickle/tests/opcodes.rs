//! Every opcode, by group: a pickle and what it holds.

use burnpy_pickle::{Checkpoint, Limits, Value, ValueId, open};

/// A value in a notation close to Python's.
fn render(checkpoint: &Checkpoint, id: ValueId) -> String {
    let list =
        |items: &[ValueId]| items.iter().map(|id| render(checkpoint, *id)).collect::<Vec<_>>().join(", ");
    let pairs = |entries: &[(ValueId, ValueId)]| {
        let pair =
            |(k, v): &(ValueId, ValueId)| format!("{}: {}", render(checkpoint, *k), render(checkpoint, *v));
        entries.iter().map(pair).collect::<Vec<_>>().join(", ")
    };
    match checkpoint.arena().get(id) {
        Value::None => "None".to_owned(),
        Value::Bool(bool) => format!("{bool}"),
        Value::Int(int) => int.to_string(),
        Value::BigInt(int) => int.to_string(),
        Value::Float(float) => format!("{float:?}"),
        Value::Complex(parts) => format!("complex{parts:?}"),
        Value::Text(text) => format!("{text:?}"),
        Value::Bytes(blob) => format!("b\"{}\"", blob.as_owned().unwrap().escape_ascii()),
        Value::List(items) => format!("[{}]", list(items)),
        Value::Tuple(items) => format!("({})", list(items)),
        Value::Size(items) => format!("Size({})", list(items)),
        Value::Set(set) if set.frozen => format!("frozenset({})", list(&set.items)),
        Value::Set(set) => format!("set({})", list(&set.items)),
        Value::Dict(dict) => format!("{{{}}}", pairs(&dict.entries)),
        Value::Global(global) => global.qualified(),
        Value::Device(device) => format!("device({device})"),
        Value::NumpyDType(dtype) => {
            format!("dtype({}{})", if dtype.big_endian { ">" } else { "" }, dtype.text)
        }
        Value::NumpyScalar(scalar) => format!("{}({:?})", scalar.dtype, scalar.value()),
        Value::Object(object) => {
            let mut text = format!("<{} {}", object.class.qualified(), render(checkpoint, object.args));
            for (name, part) in [("kwargs", object.kwargs), ("state", object.state)] {
                if let Some(part) = part {
                    text += &format!(" {name}={}", render(checkpoint, part));
                }
            }
            if !object.items.is_empty() {
                text += &format!(" items={}", list(&object.items));
            }
            if !object.entries.is_empty() {
                text += &format!(" entries={}", pairs(&object.entries));
            }
            text + ">"
        }
        other => format!("{other:?}"),
    }
}

/// The value of a pickle that begins with protocol 4, or the kind of its error.
fn read(body: &[u8]) -> String {
    let pickle = [b"\x80\x04", body].concat();
    match open(&pickle, &Limits::default()) {
        Ok(checkpoint) => render(&checkpoint, checkpoint.root()),
        Err(error) => error.kind.name().to_owned(),
    }
}

fn check(cases: &[(&[u8], &str)]) {
    for (body, expected) in cases {
        assert_eq!(read(body), *expected, "{}", body.escape_ascii());
    }
}

#[test]
fn constants_and_numbers() {
    check(&[
        (b"N.", "None"),
        (b"\x88.", "true"),
        (b"\x89.", "false"),
        (b"I01\n.", "true"),
        (b"I00\n.", "false"),
        (b"I-12\n.", "-12"),
        (b"L123456789012345678901234567890L\n.", "123456789012345678901234567890"),
        (b"J\xfe\xff\xff\xff.", "-2"),
        (b"K\xff.", "255"),
        (b"M\x01\x02.", "513"),
        (b"\x8a\x00.", "0"),
        (b"\x8a\x02\x00\x80.", "-32768"),
        (b"\x8b\x01\x00\x00\x00\x05.", "5"),
        (b"\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x40.", "1180591620717411303424"),
        (b"F1.5e3\n.", "1500.0"),
        (b"G\xbf\xf8\x00\x00\x00\x00\x00\x00.", "-1.5"),
        (b"Ix\n.", "malformed pickle"),
        (b"F1.5x\n.", "malformed pickle"),
        (b"\x8b\xff\xff\xff\xff.", "over limit"),
    ]);
}

#[test]
fn text_and_bytes() {
    check(&[
        (b"X\x02\x00\x00\x00\xc3\xa9.", "\"é\""),
        (b"\x8c\x01a.", "\"a\""),
        (b"\x8d\x01\x00\x00\x00\x00\x00\x00\x00a.", "\"a\""),
        (b"Va\\u00e9\n.", "\"aé\""),
        (b"S'a\\x41'\n.", "\"aA\""),
        (b"S'\\xff'\n.", "b\"\\xff\""),
        (b"U\x01a.", "\"a\""),
        (b"U\x01\xff.", "b\"\\xff\""),
        (b"T\x01\x00\x00\x00a.", "\"a\""),
        (b"C\x01\xff.", "b\"\\xff\""),
        (b"B\x01\x00\x00\x00\xff.", "b\"\\xff\""),
        (b"\x8e\x01\x00\x00\x00\x00\x00\x00\x00\xff.", "b\"\\xff\""),
        (b"\x96\x01\x00\x00\x00\x00\x00\x00\x00\xff.", "b\"\\xff\""),
        (b"X\x01\x00\x00\x00\xff.", "malformed pickle"),
        (b"X\x09\x00\x00\x00abc.", "malformed pickle"),
        (b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.", "over limit"),
        (b"Sa\n.", "malformed pickle"),
        (b"Vabc", "malformed pickle"),
    ]);
}

#[test]
fn containers() {
    check(&[
        (b").", "()"),
        (b"K\x01\x85.", "(1)"),
        (b"K\x01K\x02\x86.", "(1, 2)"),
        (b"K\x01K\x02K\x03\x87.", "(1, 2, 3)"),
        (b"(K\x01K\x02K\x03K\x04t.", "(1, 2, 3, 4)"),
        (b"(t.", "()"),
        (b"].", "[]"),
        (b"]K\x01a.", "[1]"),
        (b"](K\x01K\x02e.", "[1, 2]"),
        (b"(K\x01K\x02l.", "[1, 2]"),
        (b"}.", "{}"),
        (b"}K\x01K\x02s.", "{1: 2}"),
        (b"}(K\x01K\x02K\x03K\x04u.", "{1: 2, 3: 4}"),
        (b"(K\x01K\x02d.", "{1: 2}"),
        (b"\x8f(K\x01K\x02\x90.", "set(1, 2)"),
        (b"(K\x01\x91.", "frozenset(1)"),
        (b"}K\x01a.", "malformed pickle"),
        (b"(K\x01\x91(K\x02\x90.", "malformed pickle"),
        (b"]K\x01K\x02s.", "malformed pickle"),
        (b"}(K\x01u.", "malformed pickle"),
        (b"}]K\x01s.", "malformed pickle"),
        (b"(K\x01t", "malformed pickle"),
        (b"t.", "malformed pickle"),
        (b"e.", "malformed pickle"),
        (b"\x87.", "malformed pickle"),
    ]);
}

#[test]
fn the_stack_and_its_marks() {
    check(&[
        (b"K\x01K\x020.", "1"),
        (b"K\x01(0.", "1"),
        (b"K\x01(K\x021.", "1"),
        (b"K\x012\x86.", "(1, 1)"),
        (b".", "malformed pickle"),
        (b"0.", "malformed pickle"),
        (b"1.", "malformed pickle"),
        (b"2.", "malformed pickle"),
        (b"K\x01(.", "malformed pickle"),
        (b"K\x01(2.", "malformed pickle"),
        (b"K\x01(\x85.", "malformed pickle"),
    ]);
}

#[test]
fn the_memo_refers_and_does_not_copy() {
    check(&[
        (b"]q\x00K\x01ah\x00.", "[1]"),
        (b"]q\x00h\x00h\x00K\x01a\x87.", "([1], [1], [1])"),
        (b"]p5\nK\x01ag5\n.", "[1]"),
        (b"]r\x00\x00\x00\xffK\x01aj\x00\x00\x00\xff.", "[1]"),
        (b"]\x94K\x01ah\x00.", "[1]"),
        (b"K\x01q\x00K\x02q\x00h\x00.", "2"),
        (b"h\x00.", "malformed pickle"),
        (b"q\x00.", "malformed pickle"),
        (b"gx\n.", "malformed pickle"),
    ]);
}

#[test]
fn names_stay_names() {
    check(&[
        (b"cos\nsystem\n.", "os.system"),
        (b"\x8c\x02os\x8c\x06system\x93.", "os.system"),
        (b"K\x01K\x02\x93.", "malformed pickle"),
    ]);
}

#[test]
fn calls_are_remembered_and_not_made() {
    check(&[
        (b"cos\nsystem\n\x8c\x02ls\x85R.", "<os.system (\"ls\")>"),
        (b"(\x8c\x02lsios\nsystem\n.", "<os.system (\"ls\")>"),
        (b"(cos\nsystem\n\x8c\x02lso.", "<os.system (\"ls\")>"),
        (b"cos\nsystem\n\x8c\x02ls\x85\x81.", "<os.system (\"ls\")>"),
        (b"ca\nB\n)}\x8c\x01kK\x01s\x92.", "<a.B () kwargs={\"k\": 1}>"),
        (b"ca\nB\n)\x81}\x8c\x01kK\x01sb.", "<a.B () state={\"k\": 1}>"),
        (b"ca\nB\n)\x81K\x01a.", "<a.B () items=1>"),
        (b"ca\nB\n)\x81K\x01K\x02s.", "<a.B () entries=1: 2>"),
        (b"ca\nB\n)R)R.", "<a.B ()>"),
        (b"ccopyreg\n_reconstructor\nca\nB\nc__builtin__\nobject\nN\x87R.", "<a.B ()>"),
        (b"K\x01)R.", "malformed pickle"),
        (b"ca\nB\nK\x01R.", "malformed pickle"),
        (b"(o.", "malformed pickle"),
        (b"K\x01}b.", "malformed pickle"),
    ]);
}

#[test]
fn calls_that_mean_data_are_read_as_data() {
    check(&[
        (b"ccollections\nOrderedDict\n)R.", "{}"),
        (b"ccollections\nOrderedDict\n]]K\x01aK\x02aa\x85R.", "{1: 2}"),
        (b"ccollections\nOrderedDict\n)RK\x01K\x02s}b.", "{1: 2}"),
        (b"ccollections\ndefaultdict\nc__builtin__\nlist\n\x85RK\x01K\x02s.", "{1: 2}"),
        (b"ccollections\nCounter\n}K\x01K\x02s\x85R.", "{1: 2}"),
        (b"c__builtin__\nset\n]K\x01a\x85R.", "set(1)"),
        (b"cbuiltins\nfrozenset\n]K\x01a\x85R.", "frozenset(1)"),
        (b"cbuiltins\ncomplex\nG\x3f\xf0\0\0\0\0\0\0G\xbf\xf0\0\0\0\0\0\0\x86R.", "complex[1.0, -1.0]"),
        (b"c_codecs\nencode\n\x8c\x02\xc3\xbf\x8c\x06latin1\x86R.", "b\"\\xff\""),
        (
            b"c_codecs\nencode\n\x8c\x03\xe2\x82\xac\x8c\x06latin1\x86R.",
            "<_codecs.encode (\"€\", \"latin1\")>",
        ),
        (b"c__builtin__\nbytes\n)R.", "b\"\""),
        (b"cbuiltins\nbytearray\nC\x01a\x85R.", "b\"a\""),
        (b"ctorch\nSize\nK\x02K\x03\x86\x85R.", "Size(2, 3)"),
        (b"ctorch\ndevice\n\x8c\x04cudaK\x01\x86R.", "device(cuda:1)"),
        (b"ctorch\ndevice\n\x8c\x03cpu\x85R.", "device(cpu)"),
        (b"cnumpy\ndtype\n\x8c\x03>f4\x89\x88\x87R.", "dtype(>f4)"),
        (b"cnumpy\ndtype\n\x8c\x02f4\x89\x88\x87R(K\x03\x8c\x01>NNNtb.", "dtype(>f4)"),
        (
            b"cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\n\x8c\x03>i2\x89\x88\x87RC\x02\x01\x02\x86R.",
            "i16(Int(258))",
        ),
    ]);
}

#[test]
fn framing_and_protocols() {
    check(&[
        (b"\x95\x02\x00\x00\x00\x00\x00\x00\x00N..", "None"),
        (b"\x95\xff\xff\xff\xff\xff\xff\xff\x7fN.", "over limit"),
        (b"\x95\xff\x00\x00\x00\x00\x00\x00\x00N.", "malformed pickle"),
        (b"\x80\x06N.", "malformed pickle"),
        (b"\x82\x01.", "malformed pickle"),
        (b"\x97.", "malformed pickle"),
        (b"\x98.", "malformed pickle"),
        (b"\x00.", "malformed pickle"),
        (b"N", "malformed pickle"),
    ]);
}

#[test]
fn a_persistent_id_needs_an_archive() {
    check(&[(b"\x8c\x01aQ.", "malformed pickle"), (b"Pa\n.", "malformed pickle")]);
}
