//! Random shapes, ways to lie in memory, dtypes and elements.

use burnpy_tensor::{BOOL, DType, Tensor};
use proptest::prelude::*;
use proptest::sample::select;

use crate::array::{Array, Way, flat, rounded, tensor};

pub(crate) const FLOATS: [DType; 5] = [DType::F32, DType::F64, DType::F16, DType::BF16, DType::Flex32];
pub(crate) const INTS: [DType; 8] =
    [DType::I64, DType::I32, DType::I16, DType::I8, DType::U64, DType::U32, DType::U16, DType::U8];

pub(crate) fn all_dtypes() -> impl Strategy<Value = DType> {
    prop_oneof![4 => select(&FLOATS[..]), 4 => select(&INTS[..]), 1 => Just(BOOL)]
}

/// Few cases in an ordinary run; `PROPTEST_CASES` of them, if it is set.
pub(crate) fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 32 };
    // Many random inputs make no operation, say an axis of a tensor without any.
    ProptestConfig {
        cases,
        max_global_rejects: cases.saturating_mul(16),
        failure_persistence: None,
        ..default
    }
}

/// The bits of a number without order.
pub(crate) fn hash(seed: u64, i: usize) -> u64 {
    let mut x = seed.wrapping_add((i as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// Sizes of up to five axes: 0 and 1, a few, more than a vector's lanes, and now and then more than a task's elements.
pub(crate) fn shape() -> impl Strategy<Value = Vec<usize>> {
    let size = || prop_oneof![1 => Just(0usize), 4 => Just(1), 14 => 2usize..6, 3 => 6usize..40];
    prop_oneof![
        40 => prop::collection::vec(size(), 0..6),
        8 => (prop::collection::vec(1usize..4, 0..3), 40usize..300, 0usize..3).prop_map(|(mut shape, long, at)| {
            shape.insert(at.min(shape.len()), long);
            shape
        }),
        1 => select(vec![vec![70_001], vec![3, 33_000], vec![33_000, 3], vec![260, 2, 260], vec![2, 2, 20_000]]),
    ]
    .prop_map(limited)
}

/// A shape of fewer elements than tests have time for.
fn limited(mut shape: Vec<usize>) -> Vec<usize> {
    let rank = shape.len();
    for axis in 0..rank {
        if rank > 3 && shape.iter().product::<usize>() > 3000 {
            shape[axis] = shape[axis].min(3);
        }
    }
    shape
}

/// A shape of at most as many elements.
pub(crate) fn small_shape(elements: usize) -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![1 => Just(0usize), 3 => Just(1), 12 => 2usize..6];
    prop::collection::vec(size, 0..5).prop_map(move |mut shape| {
        while shape.iter().product::<usize>() > elements {
            shape.pop();
        }
        shape
    })
}

pub(crate) fn way(rank: usize) -> impl Strategy<Value = Way> {
    let axes = Just((0..rank).collect::<Vec<_>>());
    let order = prop_oneof![axes.clone(), axes.prop_shuffle()];
    let rarely =
        |weight: u32| prop::collection::vec(prop_oneof![12 => Just(false), weight => Just(true)], rank);
    let gaps = prop_oneof![3 => Just(vec![1; rank]), 2 => prop::collection::vec(1usize..3, rank)];
    let any = (order, rarely(4), gaps, rarely(1), 0usize..3)
        .prop_map(|(order, flips, gaps, repeats, lead)| Way { order, flips, gaps, repeats, lead });
    prop_oneof![1 => Just(Way::plain(rank)), 3 => any]
}

/// A tensor to come: its elements follow from the seed.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) shape: Vec<usize>,
    pub(crate) way: Way,
    pub(crate) dtype: DType,
    pub(crate) seed: u64,
}

pub(crate) fn case_of(shape: Vec<usize>, dtype: DType) -> impl Strategy<Value = Case> {
    (way(shape.len()), any::<u64>()).prop_map(move |(way, seed)| Case {
        shape: shape.clone(),
        way,
        dtype,
        seed,
    })
}

pub(crate) fn case(dtypes: impl Strategy<Value = DType>) -> impl Strategy<Value = Case> {
    (shape(), dtypes).prop_flat_map(|(shape, dtype)| case_of(shape, dtype))
}

/// A case with at least one axis, and one of them.
pub(crate) fn case_and_axis(dtypes: impl Strategy<Value = DType>) -> impl Strategy<Value = (Case, usize)> {
    (case(dtypes).prop_filter("has axes", |case| !case.shape.is_empty()), any::<prop::sample::Index>())
        .prop_map(|(case, axis)| (axis.index(case.shape.len()), case))
        .prop_map(|(axis, case)| (case, axis))
}

/// Two cases of one dtype whose shapes broadcast, and the joint shape. Either may have sizes of 1 or fewer axes.
pub(crate) fn pair(dtypes: impl Strategy<Value = DType>) -> impl Strategy<Value = (Case, Case, Vec<usize>)> {
    let ones = || prop::collection::vec(prop_oneof![3 => Just(false), 1 => Just(true)], 8);
    let drops =
        prop_oneof![2 => Just((0usize, 0usize)), 1 => (0usize..4, Just(0)), 1 => (Just(0), 0usize..4)];
    (shape(), dtypes, ones(), ones(), drops).prop_flat_map(|(shape, dtype, a_ones, b_ones, drops)| {
        let part = |ones: &[bool], drop: usize| -> Vec<usize> {
            let sizes = shape.iter().zip(ones).map(|(&size, &one)| if one { 1 } else { size });
            sizes.skip(drop).collect()
        };
        let (a, b) = (part(&a_ones, drops.0), part(&b_ones, drops.1));
        let joint = joint(&a, &b);
        (case_of(a, dtype), case_of(b, dtype), Just(joint))
    })
}

/// The shape that both broadcast to.
pub(crate) fn joint(a: &[usize], b: &[usize]) -> Vec<usize> {
    let rank = a.len().max(b.len());
    let size = |shape: &[usize], axis: usize| {
        if axis + shape.len() < rank { 1 } else { shape[axis + shape.len() - rank] }
    };
    (0..rank).map(|axis| if size(a, axis) == 1 { size(b, axis) } else { size(a, axis) }).collect()
}

impl Case {
    /// An element a place, from the bits of the hash.
    fn filled<N: Copy>(&self, f: impl Fn(u64) -> N) -> Array<N> {
        let mut own = vec![0; self.shape.len()];
        Array::from_fn(&self.shape, |index| {
            for (axis, own) in own.iter_mut().enumerate() {
                *own = if self.way.repeats[axis] { 0 } else { index[axis] };
            }
            f(hash(self.seed, flat(&own, &self.shape)))
        })
    }

    /// Quarters from −4 to 4, which any float dtype holds, and sums and products of them f32; rarely NaN or ∞.
    pub(crate) fn quarters(&self) -> Array<f64> {
        self.filled(|bits| match bits >> 52 {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            _ => quarter(bits),
        })
    }

    /// Quarters from −4 to 4 only.
    pub(crate) fn finite(&self) -> Array<f64> {
        self.filled(quarter)
    }

    /// All that the float dtype holds: small and large, zeros, NaN, infinities.
    pub(crate) fn wild(&self) -> Array<f64> {
        self.filled(|bits| {
            let fraction = (bits >> 11) as f64 * 2f64.powi(-53) - 0.5;
            let x = match bits & 31 {
                0 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0][(bits >> 8 & 3) as usize],
                1 => [0.0, 1.0, -1.0, 0.5][(bits >> 8 & 3) as usize],
                2 => fraction * 2f64.powi((bits >> 8 & 255) as i32 - 128),
                3..12 => quarter(bits >> 8),
                12..20 => fraction * 20.0,
                _ => fraction * 2f64.powi((bits >> 8 & 15) as i32 - 8),
            };
            rounded(x, self.dtype)
        })
    }

    /// Integers of the dtype: small ones, its bounds, any bits; 0 and 1 for booleans.
    pub(crate) fn integers(&self) -> Array<i128> {
        let bits_of = self.dtype.size().unwrap() as u32 * 8;
        let signed = matches!(self.dtype, DType::I64 | DType::I32 | DType::I16 | DType::I8);
        self.filled(|bits| {
            let x = match bits & 15 {
                _ if self.dtype == BOOL => i128::from(bits >> 8 & 1),
                0..8 => i128::from(bits >> 8 & 15) - 5,
                8 => 1i128 << (bits_of - 1),
                9 => (1i128 << (bits_of - 1)) - 1,
                _ => i128::from(bits >> 4),
            };
            wrapped(x, bits_of, signed)
        })
    }

    /// Whole numbers that all dtypes hold, 0 and 1 for booleans: for what only moves elements.
    pub(crate) fn labels(&self) -> Array<i128> {
        let count = if self.dtype == BOOL { 2 } else { 127 };
        self.filled(|bits| i128::from(bits % count))
    }

    pub(crate) fn tensor<N: crate::array::Cell>(&self, array: &Array<N>) -> Tensor {
        tensor(array, &self.way, self.dtype)
    }
}

fn quarter(bits: u64) -> f64 {
    (bits % 33) as f64 / 4.0 - 4.0
}

/// The integer modulo 2^bits.
pub(crate) fn wrapped(x: i128, bits: u32, signed: bool) -> i128 {
    let low = x.rem_euclid(1 << bits);
    if signed && low >> (bits - 1) == 1 { low - (1 << bits) } else { low }
}

/// [`wrapped`] for a dtype of integers.
pub(crate) fn wrap(x: i128, dtype: DType) -> i128 {
    let signed = matches!(dtype, DType::I64 | DType::I32 | DType::I16 | DType::I8);
    wrapped(x, dtype.size().unwrap() as u32 * 8, signed)
}
