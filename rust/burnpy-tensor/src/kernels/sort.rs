//! Rows in order: −NaN < −∞ < … < −0 < +0 < … < ∞ < NaN, equal ones in the order that they came in.
//!
//! Numbers are sorted as unsigned integers in the same order, with their index in the bits below where it is asked
//! for. So every order is total, and no comparison meets a NaN.

use half::{bf16, f16};

use crate::parallel;

/// Elements of a task.
const CHUNK: usize = 16 << 10;

/// Rows from this length on are sorted digit by digit: the passes do not grow with the length, comparisons do.
const RADIX_FROM: usize = 2048;

/// A number that has a place in the total order.
pub trait Ordered: Copy + Send + Sync {
    /// An unsigned integer.
    type Key: Key;
    /// The integer in its place.
    fn key(self) -> Self::Key;
    /// The number of an integer.
    fn from_key(key: Self::Key) -> Self;
}

macro_rules! ordered_ints {
    ($($number:ty, $key:ty, $flip:expr;)*) => {$(
        impl Ordered for $number {
            type Key = $key;
            #[inline(always)]
            fn key(self) -> $key {
                (self as $key) ^ $flip
            }
            #[inline(always)]
            fn from_key(key: $key) -> Self {
                (key ^ $flip) as Self
            }
        }
    )*};
}
ordered_ints! {
    u8, u32, 0; u16, u32, 0; u32, u32, 0; u64, u64, 0;
    i8, u32, 1 << 31; i16, u32, 1 << 31; i32, u32, 1 << 31; i64, u64, 1 << 63;
}

macro_rules! ordered_floats {
    ($($number:ty, $bits:ty, $key:ty;)*) => {$(
        impl Ordered for $number {
            type Key = $key;
            #[inline(always)]
            fn key(self) -> $key {
                // Negative ones backwards, below the positive ones.
                let (bits, sign) = (self.to_bits(), 1 << (<$bits>::BITS - 1));
                <$key>::from(if bits & sign != 0 { !bits } else { bits | sign })
            }
            #[inline(always)]
            fn from_key(key: $key) -> Self {
                let (key, sign) = (key as $bits, 1 << (<$bits>::BITS - 1));
                Self::from_bits(if key & sign != 0 { key ^ sign } else { !key })
            }
        }
    )*};
}
ordered_floats! { f16, u16, u32; bf16, u16, u32; f32, u32, u32; f64, u64, u64; }

/// An unsigned integer that is sorted.
pub trait Key: Copy + Ord + Send + Sync + Default {
    /// It and an index below it.
    type Pair: Copy + Ord + Default;
    /// Its order reversed.
    fn reversed(self) -> Self;
    /// With an index.
    fn with(self, index: u32) -> Self::Pair;
    /// What [`Key::with`] joined.
    fn parts(pair: Self::Pair) -> (Self, u32);
    /// Sorts keys; `spare` is room.
    fn sort(keys: &mut Vec<Self>, spare: &mut Vec<Self>);
    /// Sorts pairs whose indices rise.
    fn sort_pairs(pairs: &mut Vec<Self::Pair>, spare: &mut Vec<Self::Pair>);
}

impl Key for u32 {
    type Pair = u64;
    #[inline(always)]
    fn reversed(self) -> Self {
        !self
    }
    #[inline(always)]
    fn with(self, index: u32) -> u64 {
        u64::from(self) << 32 | u64::from(index)
    }
    #[inline(always)]
    fn parts(pair: u64) -> (Self, u32) {
        ((pair >> 32) as u32, pair as u32)
    }
    fn sort(keys: &mut Vec<Self>, spare: &mut Vec<Self>) {
        if keys.len() < RADIX_FROM {
            return keys.sort_unstable();
        }
        radix(keys, spare, |key| key);
    }
    fn sort_pairs(pairs: &mut Vec<u64>, spare: &mut Vec<u64>) {
        if pairs.len() < RADIX_FROM {
            return pairs.sort_unstable();
        }
        // Stable by itself: only the keys' digits count.
        radix(pairs, spare, |pair| (pair >> 32) as u32);
    }
}

impl Key for u64 {
    type Pair = u128;
    #[inline(always)]
    fn reversed(self) -> Self {
        !self
    }
    #[inline(always)]
    fn with(self, index: u32) -> u128 {
        u128::from(self) << 32 | u128::from(index)
    }
    #[inline(always)]
    fn parts(pair: u128) -> (Self, u32) {
        ((pair >> 32) as u64, pair as u32)
    }
    fn sort(keys: &mut Vec<Self>, _: &mut Vec<Self>) {
        keys.sort_unstable();
    }
    fn sort_pairs(pairs: &mut Vec<u128>, _: &mut Vec<u128>) {
        pairs.sort_unstable();
    }
}

/// Sorts by four digits of eight bits, the lowest first. A digit that all share costs nothing.
fn radix<T: Copy + Default>(items: &mut Vec<T>, spare: &mut Vec<T>, key: impl Fn(T) -> u32) {
    let mut counts = [[0u32; 256]; 4];
    for &item in items.iter() {
        let key = key(item);
        (0..4).for_each(|digit| counts[digit][(key >> (8 * digit)) as usize & 255] += 1);
    }
    spare.resize(items.len(), T::default());
    for (digit, counts) in counts.iter_mut().enumerate() {
        if counts.iter().any(|&count| count as usize == items.len()) {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for &item in items.iter() {
            let place = &mut counts[(key(item) >> (8 * digit)) as usize & 255];
            spare[*place as usize] = item;
            *place += 1;
        }
        std::mem::swap(items, spare);
    }
}

/// Rows of `len` elements, each sorted.
///
/// # Panics
/// If the slices differ in length.
pub fn sort_rows<T: Ordered>(x: &[T], len: usize, descending: bool, out: &mut [T]) {
    let rows = (CHUNK / len.max(1)).max(1);
    assert_eq!(x.len(), out.len());
    parallel::chunks_mut(out, rows * len.max(1), |i, part| {
        let (mut keys, mut spare) = (Vec::with_capacity(len), Vec::new());
        let x = x[i * rows * len..].chunks_exact(len);
        for (out, x) in part.chunks_exact_mut(len).zip(x) {
            keys.clear();
            keys.extend(x.iter().map(|&x| directed(x.key(), descending)));
            T::Key::sort(&mut keys, &mut spare);
            out.iter_mut().zip(&keys).for_each(|(out, &key)| *out = T::from_key(directed(key, descending)));
        }
    });
}

/// For each row of `len` elements the first `k` of its order, and where they came from.
///
/// # Panics
/// If the slices do not fit, or k is over `len`.
pub fn arg_sort_rows<T: Ordered>(
    x: &[T],
    (len, k): (usize, usize),
    descending: bool,
    values: &mut [T],
    indices: &mut [i32],
) {
    if k == 0 {
        return;
    }
    let rows = (CHUNK / len).max(1);
    parallel::chunks_mut2((values, rows * k), (indices, rows * k), |i, values, indices| {
        let (mut pairs, mut spare) = (Vec::with_capacity(len), Vec::new());
        let outs = values.chunks_exact_mut(k).zip(indices.chunks_exact_mut(k));
        for ((values, indices), x) in outs.zip(x[i * rows * len..].chunks_exact(len)) {
            load(x, descending, &mut pairs);
            if k < len {
                pairs.select_nth_unstable(k - 1);
                pairs.truncate(k);
                pairs.sort_unstable();
            } else {
                T::Key::sort_pairs(&mut pairs, &mut spare);
            }
            for ((value, index), &pair) in values.iter_mut().zip(indices).zip(&pairs) {
                let (key, from) = T::Key::parts(pair);
                (*value, *index) = (T::from_key(directed(key, descending)), from as i32);
            }
        }
    });
}

/// For each row of `len` elements, which one is the `k`-th (from 0) of the ascending order.
///
/// # Panics
/// If the slices do not fit, or k is not below `len`.
pub fn nth_of_rows<T: Ordered>(x: &[T], len: usize, k: usize, indices: &mut [i32]) {
    let rows = (CHUNK / len).max(1);
    parallel::chunks_mut(indices, rows, |i, indices| {
        let mut pairs = Vec::with_capacity(len);
        for (index, x) in indices.iter_mut().zip(x[i * rows * len..].chunks_exact(len)) {
            load(x, false, &mut pairs);
            let (_, &mut pair, _) = pairs.select_nth_unstable(k);
            *index = T::Key::parts(pair).1 as i32;
        }
    });
}

#[inline(always)]
fn directed<K: Key>(key: K, descending: bool) -> K {
    if descending { key.reversed() } else { key }
}

fn load<T: Ordered>(x: &[T], descending: bool, pairs: &mut Vec<<T::Key as Key>::Pair>) {
    pairs.clear();
    pairs.extend(x.iter().enumerate().map(|(i, &x)| directed(x.key(), descending).with(i as u32)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_and_come_back() {
        let nan = f32::from_bits(0x7FC0_0001);
        let floats = [-nan, f32::NEG_INFINITY, -1.0, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, nan];
        assert!(floats.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(floats.iter().all(|x| f32::from_key(x.key()).to_bits() == x.to_bits()));
        let doubles = floats.map(f64::from);
        assert!(doubles.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(doubles.iter().all(|x| f64::from_key(x.key()).to_bits() == x.to_bits()));
        let halves = [-f16::INFINITY, -f16::ONE, -f16::ZERO, f16::ZERO, f16::ONE, f16::NAN];
        assert!(halves.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(halves.iter().all(|x| f16::from_key(x.key()).to_bits() == x.to_bits()));
        assert!([i8::MIN, -1, 0, i8::MAX].windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!([i64::MIN, -1, 0, i64::MAX].iter().all(|&x| i64::from_key(x.key()) == x));
    }

    #[test]
    fn long_rows_are_sorted_as_short_ones_are() {
        for len in [1, 2, 100, RADIX_FROM - 1, RADIX_FROM, 3 * RADIX_FROM + 1] {
            let x: Vec<i32> =
                (0..2 * len).map(|i| (i.wrapping_mul(2_654_435_761) % 1000) as i32 - 500).collect();
            for descending in [false, true] {
                let mut expected: Vec<(i32, usize)> = Vec::new();
                for row in x.chunks(len) {
                    let mut row: Vec<_> = row.iter().copied().zip(0..).collect();
                    row.sort_by_key(|&(x, _)| if descending { -x } else { x });
                    expected.extend(row);
                }
                let (mut out, mut values, mut indices) =
                    (vec![0; 2 * len], vec![0; 2 * len], vec![0; 2 * len]);
                sort_rows(&x, len, descending, &mut out);
                arg_sort_rows(&x, (len, len), descending, &mut values, &mut indices);
                assert!(out.iter().eq(expected.iter().map(|(x, _)| x)) && out == values);
                assert!(indices.iter().map(|&i| i as usize).eq(expected.iter().map(|&(_, i)| i)));
                let (k, wide) = (len.div_ceil(3), x.iter().map(|&x| i64::from(x)).collect::<Vec<_>>());
                let (mut top, mut at) = (vec![0; 2 * k], vec![0; 2 * k]);
                arg_sort_rows(&wide, (len, k), descending, &mut top, &mut at);
                for row in 0..2 {
                    let first = expected[row * len..row * len + k].iter().map(|&(_, i)| i as i32);
                    assert!(at[row * k..][..k].iter().copied().eq(first));
                }
            }
        }
    }
}
