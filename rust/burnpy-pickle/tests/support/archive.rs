//! Archives built by hand, good and bad.

use std::io::Write;

/// One member, with every field that a test may falsify.
pub struct Member {
    pub name: &'static str,
    pub local_name: &'static str,
    pub method: u16,
    pub flags: u16,
    pub crc: u32,
    pub packed: Vec<u8>,
    pub packed_len: u64,
    pub unpacked_len: u64,
    pub extra: Vec<u8>,
}

/// A stored member.
pub fn stored(name: &'static str, bytes: &[u8]) -> Member {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    Member {
        name,
        local_name: name,
        method: 0,
        flags: 0,
        crc: crc.sum(),
        packed: bytes.to_vec(),
        packed_len: bytes.len() as u64,
        unpacked_len: bytes.len() as u64,
        extra: Vec::new(),
    }
}

/// A deflated member.
pub fn deflated(name: &'static str, bytes: &[u8]) -> Member {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    let packed = encoder.finish().unwrap();
    Member { method: 8, packed_len: packed.len() as u64, packed, ..stored(name, bytes) }
}

/// A zip archive, with zip64 fields in the directory if `wide`.
pub fn zip(members: &[Member], wide: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut directory = Vec::new();
    for member in members {
        let offset = file.len() as u64;
        let name = member.local_name.as_bytes();
        file.extend(b"PK\x03\x04\x14\0");
        file.extend(member.flags.to_le_bytes());
        file.extend(member.method.to_le_bytes());
        // As PyTorch does it: times, CRC and sizes are left to the directory.
        file.extend([0; 16]);
        file.extend((name.len() as u16).to_le_bytes());
        file.extend((member.extra.len() as u16).to_le_bytes());
        file.extend(name);
        file.extend(&member.extra);
        file.extend(&member.packed);
        directory.extend(entry(member, offset, wide));
    }
    let start = file.len() as u64;
    file.extend(&directory);
    end(&mut file, start, directory.len() as u64, members.len() as u64, wide);
    file
}

fn entry(member: &Member, offset: u64, wide: bool) -> Vec<u8> {
    let narrow = |number: u64| if wide { u32::MAX } else { number as u32 };
    let mut extra = Vec::new();
    if wide {
        // A field of somebody else's first.
        extra.extend([0xfe, 0xca, 2, 0, 7, 7, 1, 0, 24, 0]);
        extra.extend([member.unpacked_len, member.packed_len, offset].map(u64::to_le_bytes).concat());
    }
    let mut out = b"PK\x01\x02\x14\0\x14\0".to_vec();
    out.extend(member.flags.to_le_bytes());
    out.extend(member.method.to_le_bytes());
    out.extend([0; 4]);
    out.extend(member.crc.to_le_bytes());
    out.extend(narrow(member.packed_len).to_le_bytes());
    out.extend(narrow(member.unpacked_len).to_le_bytes());
    out.extend((member.name.len() as u16).to_le_bytes());
    out.extend((extra.len() as u16).to_le_bytes());
    out.extend([0; 10]);
    out.extend(narrow(offset).to_le_bytes());
    out.extend(member.name.as_bytes());
    out.extend(extra);
    out
}

fn end(file: &mut Vec<u8>, start: u64, len: u64, count: u64, wide: bool) {
    let at = file.len() as u64;
    if wide {
        file.extend(b"PK\x06\x06");
        file.extend(44u64.to_le_bytes());
        file.extend([0; 12]);
        file.extend([count, count, len, start].map(u64::to_le_bytes).concat());
        file.extend(b"PK\x06\x07\0\0\0\0");
        file.extend(at.to_le_bytes());
        file.extend(1u32.to_le_bytes());
    }
    let narrow = |number: u64| if wide { u32::MAX } else { number as u32 };
    file.extend(b"PK\x05\x06\0\0\0\0");
    let count = if wide { u16::MAX } else { count as u16 };
    file.extend([count, count].map(u16::to_le_bytes).concat());
    file.extend(narrow(len).to_le_bytes());
    file.extend(narrow(start).to_le_bytes());
    file.extend([0, 0]);
}

/// The pickle of `{"w": tensor}`: four floats in storage 0, as a 2 by 2 matrix.
pub fn matrix_pickle() -> Vec<u8> {
    matrix_pickle_with(b"")
}

/// The same with more arguments behind the hooks.
pub fn matrix_pickle_with(arguments: &[u8]) -> Vec<u8> {
    let mut pickle = b"\x80\x02}X\x01\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storage".to_vec();
    pickle
        .extend(b"ctorch\nFloatStorage\nX\x01\0\0\0\x30X\x03\0\0\0cpuK\x04tQK\0K\x02K\x02\x86K\x02K\x01\x86");
    pickle.extend(b"\x89ccollections\nOrderedDict\n)R");
    pickle.extend(arguments);
    pickle.extend(b"tRs.");
    pickle
}

/// The bytes of its storage: 1, 2, 3, 4.
pub fn matrix_bytes() -> Vec<u8> {
    [1f32, 2.0, 3.0, 4.0].map(f32::to_le_bytes).concat()
}

/// A tar archive.
pub fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = Vec::new();
    for (name, bytes) in members {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[257..262].copy_from_slice(b"ustar");
        file.extend(header);
        file.extend(*bytes);
        file.resize(file.len().next_multiple_of(512), 0);
    }
    file.resize(file.len() + 1024, 0);
    file
}
