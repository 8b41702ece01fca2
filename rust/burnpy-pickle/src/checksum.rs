//! CRC-32, the checksum of zip archives.

use std::thread;

use flate2::Crc;

/// From this length on a second thread takes half: to start it costs some 40 µs.
const PARALLEL: usize = 2 << 20;

/// The CRC-32 of pieces that follow each other; of a large piece, by two threads.
///
/// ```
/// assert_eq!(burnpy_pickle::crc32(&[b"1234", b"", b"56789"]), 0xcbf4_3926);
/// ```
pub fn crc32(pieces: &[&[u8]]) -> u32 {
    let mut crc = Crc::new();
    for piece in pieces {
        match piece.len() < PARALLEL {
            true => crc.update(piece),
            false => crc.combine(&on_two_threads(piece)),
        }
    }
    crc.sum()
}

fn on_two_threads(bytes: &[u8]) -> Crc {
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    thread::scope(|scope| {
        // Where the system gives no second thread the work is all done here.
        let second = thread::Builder::new().spawn_scoped(scope, || crc_of(tail));
        let mut crc = crc_of(head);
        let tail_crc = second.ok().and_then(|second| second.join().ok()).unwrap_or_else(|| crc_of(tail));
        crc.combine(&tail_crc);
        crc
    })
}

fn crc_of(bytes: &[u8]) -> Crc {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_find_the_checksum_that_one_finds() {
        let bytes: Vec<u8> = (0..PARALLEL + 70).map(|i| (i * i % 255) as u8).collect();
        for len in [PARALLEL - 1, PARALLEL, PARALLEL + 1, PARALLEL + 69] {
            for start in [0, 1] {
                let piece = &bytes[start..start + len];
                assert_eq!(crc32(&[b"head", piece]), crc_of(&[b"head", piece].concat()).sum(), "{len} bytes");
            }
        }
    }
}
