//! Arrays as plain lists, tensors of them laid out in memory in any way, and comparisons of both.

use std::fmt::Debug;

use burnpy_tensor::{BOOL, DType, Element, Kind, Layout, Tensor, Value, dispatch_stored};
use proptest::test_runner::TestCaseError;

/// What an array holds: doubles for floats, or whole numbers that are wide enough for any integer.
pub(crate) trait Cell: Copy + PartialEq + Debug {
    /// What lies in the gaps between the elements of a tensor.
    const GARBAGE: Self;
    fn store<T: Element>(self) -> T;
    fn read<T: Element>(element: T) -> Self;
    fn same(self, other: Self) -> bool;
}

impl Cell for f64 {
    const GARBAGE: Self = 113.0;
    fn store<T: Element>(self) -> T {
        T::from_f64(self)
    }
    fn read<T: Element>(element: T) -> Self {
        element.to_f64()
    }
    fn same(self, other: Self) -> bool {
        self == other || self.is_nan() && other.is_nan()
    }
}

impl Cell for i128 {
    const GARBAGE: Self = 1;
    fn store<T: Element>(self) -> T {
        T::from_i64(self as i64)
    }
    fn read<T: Element>(element: T) -> Self {
        match (Kind::of(T::DTYPE), element.to_i64()) {
            (_, whole) if T::DTYPE == DType::U64 => i128::from(whole as u64),
            (_, whole) => i128::from(whole),
        }
    }
    fn same(self, other: Self) -> bool {
        self == other
    }
}

/// What a tensor holds, index by index.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Array<N> {
    pub(crate) shape: Vec<usize>,
    pub(crate) data: Vec<N>,
}

impl<N: Copy> Array<N> {
    pub(crate) fn from_fn(shape: &[usize], mut f: impl FnMut(&[usize]) -> N) -> Self {
        let mut data = Vec::with_capacity(shape.iter().product());
        each_index(shape, |index| data.push(f(index)));
        Self { shape: shape.to_vec(), data }
    }

    pub(crate) fn at(&self, index: &[usize]) -> N {
        self.data[flat(index, &self.shape)]
    }

    /// The element of the array seen in a shape that it broadcasts to.
    pub(crate) fn spread(&self, index: &[usize]) -> N {
        let own = &index[index.len() - self.shape.len()..];
        self.data[own.iter().zip(&self.shape).fold(0, |at, (&i, &size)| at * size + i.min(size - 1))]
    }

    pub(crate) fn map<M>(&self, f: impl FnMut(N) -> M) -> Array<M> {
        Array { shape: self.shape.clone(), data: self.data.iter().copied().map(f).collect() }
    }

    /// For each index, with 0 along the axes, the elements along them.
    pub(crate) fn rows<M: Copy>(&self, axes: &[usize], mut f: impl FnMut(&[N]) -> M) -> Array<M> {
        let (mut kept, mut gone) = (self.shape.clone(), vec![1; self.shape.len()]);
        axes.iter().for_each(|&axis| gone[axis] = std::mem::replace(&mut kept[axis], 1));
        let mut row = Vec::new();
        Array::from_fn(&kept, |index| {
            row.clear();
            each_index(&gone, |inner| {
                let index: Vec<usize> = index.iter().zip(inner).map(|(a, b)| a + b).collect();
                row.push(self.at(&index));
            });
            f(&row)
        })
    }

    /// Each row along an axis replaced by another, of any length.
    pub(crate) fn with_rows<M: Copy>(
        &self,
        axis: usize,
        len: usize,
        mut f: impl FnMut(&[N]) -> Vec<M>,
    ) -> Array<M> {
        let mut shape = self.shape.clone();
        shape[axis] = len;
        let mut rows = Vec::new();
        self.rows(&[axis], |row| rows.push(f(row)));
        let mut without = shape.clone();
        without[axis] = 1;
        Array::from_fn(&shape, |index| {
            let mut row = index.to_vec();
            row[axis] = 0;
            rows[flat(&row, &without)][index[axis]]
        })
    }
}

/// The sum, whose roundings are summed too.
pub(crate) fn total(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, lost) = numbers.fold((0.0f64, 0.0), |(sum, lost), x| {
        let next = sum + x;
        let rest = if sum.abs() >= x.abs() { (sum - next) + x } else { (x - next) + sum };
        (next, lost + rest)
    });
    if sum.is_finite() { sum + lost } else { sum }
}

/// Units in the last place that a sum of `len` terms of one sign may be off, in whatever order it is summed: doubles
/// are rounded after each term, half a unit at most, and narrower floats are summed as doubles.
pub(crate) fn of_sum(dtype: DType, len: usize) -> f64 {
    if dtype == DType::F64 { len as f64 / 2.0 } else { 0.0 }
}

pub(crate) fn flat(index: &[usize], shape: &[usize]) -> usize {
    index.iter().zip(shape).fold(0, |flat, (&i, &size)| flat * size + i)
}

pub(crate) fn each_index(shape: &[usize], mut f: impl FnMut(&[usize])) {
    let mut index = vec![0; shape.len()];
    for _ in 0..shape.iter().product() {
        f(&index);
        for (i, &size) in index.iter_mut().zip(shape).rev() {
            *i = if *i + 1 == size { 0 } else { *i + 1 };
            if *i > 0 {
                break;
            }
        }
    }
}

/// How the elements of a tensor come to lie in memory.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    /// Axes from the outermost in memory to the innermost.
    pub(crate) order: Vec<usize>,
    pub(crate) flips: Vec<bool>,
    pub(crate) gaps: Vec<usize>,
    /// Axes along which all elements are one in memory.
    pub(crate) repeats: Vec<bool>,
    pub(crate) lead: usize,
}

impl Way {
    pub(crate) fn plain(rank: usize) -> Self {
        let (flips, repeats) = (vec![false; rank], vec![false; rank]);
        Self { order: (0..rank).collect(), flips, gaps: vec![1; rank], repeats, lead: 0 }
    }

    fn layout(&self, shape: &[usize]) -> (Layout, usize) {
        let (mut strides, mut extent, mut offset) = (vec![0isize; shape.len()], 1, self.lead);
        for &axis in self.order.iter().rev().filter(|&&axis| !self.repeats[axis]) {
            strides[axis] = (extent * self.gaps[axis]) as isize;
            extent *= shape[axis].max(1) * self.gaps[axis];
            if self.flips[axis] {
                offset += shape[axis].saturating_sub(1) * strides[axis] as usize;
                strides[axis] = -strides[axis];
            }
        }
        (Layout::from_parts(shape, &strides, offset).unwrap(), self.lead + extent)
    }
}

/// A tensor of the array's values.
pub(crate) fn tensor<N: Cell>(array: &Array<N>, way: &Way, dtype: DType) -> Tensor {
    let (layout, extent) = way.layout(&array.shape);
    let mut block = vec![N::GARBAGE; extent];
    let mut elements = array.data.iter();
    each_index(&array.shape, |index| {
        let by: isize = index.iter().zip(layout.strides()).map(|(&i, &stride)| i as isize * stride).sum();
        block[layout.offset().checked_add_signed(by).unwrap()] = *elements.next().unwrap();
    });
    let bytes = dispatch_stored!(dtype, T => {
        let stored: Vec<T> = block.into_iter().map(|x| x.store()).collect();
        let stored = if dtype == BOOL { stored.iter().map(|&x| if x == T::ZERO { x } else { T::ONE }).collect() } else { stored };
        Value::from_slice(&stored, &[stored.len()]).unwrap().bytes().clone()
    }, else => unreachable!("a plain dtype"));
    Value::new(bytes, dtype, layout).unwrap().into()
}

/// What the tensor holds.
pub(crate) fn array<N: Cell>(tensor: &Tensor) -> Array<N> {
    let (value, shape) = (tensor.value(), tensor.shape().to_vec());
    let data = dispatch_stored!(value.dtype(), T => {
        let (block, layout) = (value.block::<T>().unwrap(), value.layout());
        let mut data = Vec::new();
        each_index(&shape, |index| {
            let by: isize = index.iter().zip(layout.strides()).map(|(&i, &stride)| i as isize * stride).sum();
            data.push(N::read(block[layout.offset().checked_add_signed(by).unwrap()]));
        });
        data
    }, else => unreachable!("a plain dtype"));
    Array { shape, data }
}

pub(crate) type Tested = Result<(), TestCaseError>;

/// The tensor holds exactly the array.
pub(crate) fn exactly<N: Cell>(what: &str, found: &Tensor, dtype: DType, expected: &Array<N>) -> Tested {
    compared(what, found, dtype, expected, N::same)
}

/// The tensor holds the array but for roundings in the dtype, `ulps` of them.
pub(crate) fn nearly(what: &str, found: &Tensor, dtype: DType, expected: &Array<f64>, ulps: f64) -> Tested {
    compared(what, found, dtype, expected, |found, expected| near(found, expected, dtype, (ulps, 0.0)))
}

/// [`nearly`], with roundings of numbers as large as `scale`, of which a difference is left.
pub(crate) fn nearly_beside(
    what: &str,
    found: &Tensor,
    dtype: DType,
    expected: &Array<f64>,
    (ulps, scale): (f64, f64),
) -> Tested {
    compared(what, found, dtype, expected, |found, expected| near(found, expected, dtype, (ulps, scale)))
}

fn compared<N: Cell>(
    what: &str,
    found: &Tensor,
    dtype: DType,
    expected: &Array<N>,
    same: impl Fn(N, N) -> bool,
) -> Tested {
    let fail = |message: String| Err(TestCaseError::fail(format!("{what} {}: {message}", dtype.name())));
    if found.dtype() != dtype || found.shape() != expected.shape {
        return fail(format!("{} {:?}, expected {:?}", found.dtype().name(), found.shape(), expected.shape));
    }
    let found = array::<N>(found);
    let different = found.data.iter().zip(&expected.data).position(|(&a, &b)| !same(a, b));
    match different {
        Some(i) => fail(format!("element {i} is {:?}, expected {:?}", found.data[i], expected.data[i])),
        None => Ok(()),
    }
}

/// Digits of the significand, least exponent, largest number.
pub(crate) fn format(dtype: DType) -> (i32, i32, f64) {
    match dtype {
        DType::F64 => (53, -1022, f64::MAX),
        DType::F16 => (11, -14, 65504.0),
        DType::BF16 => (8, -126, (2.0 - 2f64.powi(-7)) * 2f64.powi(127)),
        _ => (24, -126, f64::from(f32::MAX)),
    }
}

/// The nearest number of a float dtype; of two, the even one.
pub(crate) fn rounded(x: f64, dtype: DType) -> f64 {
    let (digits, least, largest) = format(dtype);
    if dtype == DType::F64 || !x.is_finite() || x == 0.0 {
        return x;
    }
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let unit = 2f64.powi(exponent - digits + 1);
    let near = (x / unit).round_ties_even() * unit;
    if near.abs() > largest { f64::INFINITY.copysign(x) } else { near }
}

fn near(found: f64, expected: f64, dtype: DType, (ulps, scale): (f64, f64)) -> bool {
    let (digits, least, largest) = format(dtype);
    if found.same(expected) || found == rounded(expected, dtype) {
        return true;
    }
    let relative = ulps * 2f64.powi(1 - digits);
    if found.is_infinite() {
        return found.signum() == expected.signum() && expected.abs() >= largest * (1.0 - relative);
    }
    let smallest = if dtype == DType::F16 { 2f64.powi(-24) } else { 2f64.powi(least) };
    (found - expected).abs() <= relative * expected.abs().max(scale) + smallest
}
