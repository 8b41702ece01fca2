//! Values: elements in shared memory, without a graph.

use burnpy_buffer::{
    AlignedBuf, BoolStore, Bytes, DType, Layout, LayoutError, Pod, try_cast_slice, try_cast_slice_mut,
};

use crate::element::{BOOL, Element};
use crate::error::{Error, Result};
use crate::kernels::strided::copy_strided;
use crate::{dispatch_bits, dispatch_stored};

/// Elements in a shared buffer, seen through a strided layout. Never changes; to clone it copies nothing.
///
/// This is what kernels compute with and what the graph saves: it holds no node, so that a graph of any length never
/// hangs on a saved input.
///
/// ```
/// use burnpy_tensor::Value;
/// let value = Value::from_slice(&[1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
/// let transposed = value.permuted(&[1, 0]);
/// assert_eq!(transposed.contiguous().as_slice::<f32>(), Some(&[1.0, 3.0, 2.0, 4.0][..]));
/// ```
#[derive(Clone)]
pub struct Value {
    bytes: Bytes,
    dtype: DType,
    layout: Layout,
}

impl Value {
    /// Elements of a block as the layout says. What is misaligned for its elements is copied to memory that is not.
    /// Booleans of other stores become bytes of 0 and 1.
    ///
    /// # Errors
    /// `Shape` if the block is too short for the layout.
    pub fn new(bytes: Bytes, dtype: DType, layout: Layout) -> Result<Self> {
        let Some(size) = dtype.size() else { return Self::quantized(bytes, dtype, layout) };
        let needed = layout.reach().end.checked_mul(size).filter(|&needed| needed <= bytes.len());
        if needed.is_none() {
            let found = bytes.len();
            return Err(Error::shape(
                "tensor",
                format_args!(
                    "a {} tensor of shape {:?} needs more than the {found} bytes that there are",
                    dtype.name(),
                    layout.shape()
                ),
            ));
        }
        let bytes = if bytes.is_aligned_to(size) { bytes } else { bytes.to_aligned() };
        match dtype {
            DType::Bool(BoolStore::U8) => Ok(Self { bytes, dtype: BOOL, layout }),
            DType::Bool(BoolStore::U32) => {
                let wide = Self { bytes, dtype: DType::U32, layout }.contiguous();
                let flags = wide.as_slice::<u32>().expect("contiguous");
                Self::build_bool(wide.shape(), |out| {
                    out.iter_mut().zip(flags).for_each(|(out, &flag)| *out = u8::from(flag != 0));
                })
            }
            _ => Ok(Self { bytes, dtype, layout }),
        }
    }

    fn quantized(bytes: Bytes, dtype: DType, layout: Layout) -> Result<Self> {
        let shape: Vec<u64> = layout.shape().iter().map(|&size| size as u64).collect();
        let needed = dtype.payload_len(&shape).map_err(|error| Error::shape("tensor", error))?;
        if bytes.len() as u64 != needed || !layout.is_contiguous() || layout.offset() != 0 {
            let found = bytes.len();
            return Err(Error::shape(
                "tensor",
                format_args!(
                    "a qfloat tensor of shape {shape:?} has {needed} bytes in one piece, got {found}"
                ),
            ));
        }
        Ok(Self { bytes, dtype, layout })
    }

    /// A new value, filled by `fill`, which finds whatever the memory held before.
    ///
    /// # Errors
    /// `Shape` if there are more elements than can be addressed.
    ///
    /// # Panics
    /// If there is no memory.
    pub fn build<T: Element>(shape: &[usize], fill: impl FnOnce(&mut [T])) -> Result<Self> {
        Self::build_as(T::DTYPE, shape, fill)
    }

    /// [`Value::build`] for booleans: `fill` writes bytes of 0 and 1.
    ///
    /// # Errors
    /// As [`Value::build`].
    pub fn build_bool(shape: &[usize], fill: impl FnOnce(&mut [u8])) -> Result<Self> {
        Self::build_as(BOOL, shape, fill)
    }

    /// [`Value::build`] with elements of a dtype seen as `T`, which has its size.
    ///
    /// # Errors
    /// As [`Value::build`].
    pub fn build_as<T: Pod>(dtype: DType, shape: &[usize], fill: impl FnOnce(&mut [T])) -> Result<Self> {
        debug_assert_eq!(dtype.size(), Some(size_of::<T>()));
        let layout = layout_of(shape)?;
        let len = layout.num_elements().checked_mul(size_of::<T>()).ok_or_else(|| too_large(shape))?;
        let mut block = AlignedBuf::try_for_overwrite(len).map_err(|error| Error::shape("tensor", error))?;
        fill(try_cast_slice_mut(&mut block).expect("blocks are aligned"));
        Ok(Self { bytes: block.into(), dtype, layout })
    }

    /// A copy of a slice.
    ///
    /// # Errors
    /// `Shape` if the numbers of elements differ.
    pub fn from_slice<T: Element>(data: &[T], shape: &[usize]) -> Result<Self> {
        if layout_of(shape)?.num_elements() != data.len() {
            return Err(Error::shape(
                "tensor",
                format_args!("shape {shape:?} does not have {} elements", data.len()),
            ));
        }
        Self::build(shape, |out: &mut [T]| out.copy_from_slice(data))
    }

    /// All elements the same number.
    ///
    /// # Errors
    /// `Shape` as [`Value::build`], `DType` for a quantized dtype.
    pub fn full(shape: &[usize], number: f64, dtype: DType) -> Result<Self> {
        dispatch_stored!(dtype, T => {
            let number = if dtype == BOOL { T::from_i64(i64::from(number != 0.0)) } else { <T as Element>::from_f64(number) };
            Self::build_as(dtype, shape, |out: &mut [T]| out.fill(number))
        }, else => Err(Error::dtype("full", format_args!("cannot fill a {} tensor", dtype.name()))))
    }

    /// All elements 0.
    ///
    /// # Errors
    /// As [`Value::full`].
    pub fn zeros(shape: &[usize], dtype: DType) -> Result<Self> {
        Self::full(shape, 0.0, dtype)
    }

    /// Sizes of the axes.
    pub fn shape(&self) -> &[usize] {
        self.layout.shape()
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.layout.rank()
    }

    /// Number of elements.
    pub fn num_elements(&self) -> usize {
        self.layout.num_elements()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Where the elements lie.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory, of which the layout uses a part.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The elements as one slice; `None` if they do not lie in order, or are not of that type.
    pub fn as_slice<T: Pod>(&self) -> Option<&[T]> {
        let from = self.layout.offset();
        let block = if self.layout.is_contiguous() { self.block::<T>()? } else { return None };
        block.get(from..from + self.num_elements())
    }

    /// The whole block as numbers, for use with the layout; `None` if they have another size.
    pub fn block<T: Pod>(&self) -> Option<&[T]> {
        if self.dtype.size() != Some(size_of::<T>()) {
            return None;
        }
        let whole = self.bytes.len() / size_of::<T>() * size_of::<T>();
        try_cast_slice(&self.bytes[..whole])
    }

    /// The elements for a change in place: only if they lie in order and nobody else holds the memory.
    pub fn try_mut<T: Pod>(&mut self) -> Option<&mut [T]> {
        if self.dtype.size() != Some(size_of::<T>()) || !self.layout.is_contiguous() {
            return None;
        }
        let (from, count) = (self.layout.offset(), self.num_elements());
        let bytes = self.bytes.try_mut()?;
        try_cast_slice_mut(&mut bytes[from * size_of::<T>()..(from + count) * size_of::<T>()])
    }

    /// Whether [`Value::try_mut`] would give the elements.
    pub(crate) fn is_writable_alone(&self) -> bool {
        self.layout.is_contiguous() && self.bytes.is_writable() && self.bytes.owner_count() == 1
    }

    /// The same elements in memory of their own.
    pub(crate) fn copied(&self) -> Result<Self> {
        dispatch_bits!(self.dtype.size().unwrap_or(1), T => {
            let block = self.block::<T>().expect("the dtype has this size");
            Self::build_as(self.dtype, self.shape(), |out: &mut [T]| copy_strided(block, &self.layout, out))
        })
    }

    /// New memory for as many elements of the same dtype, holding whatever was there before.
    pub(crate) fn build_like(&self) -> Result<Self> {
        dispatch_bits!(self.dtype.size().unwrap_or(1), T => {
            Self::build_as(self.dtype, self.shape(), |_: &mut [T]| {})
        })
    }

    /// The same elements in row-major order: this value if they are already, else a copy.
    pub fn contiguous(&self) -> Self {
        if self.layout.is_contiguous() {
            return self.clone();
        }
        self.copied().expect("its elements are in memory already")
    }

    /// The same elements with another layout, that stays within what this one reaches.
    pub(crate) fn with_layout(&self, layout: Layout) -> Self {
        debug_assert!(layout.num_elements() == 0 || layout.reach().end <= self.bytes.len());
        Self { bytes: self.bytes.clone(), dtype: self.dtype, layout }
    }

    /// The same bytes as another dtype of the same size.
    pub(crate) fn relabelled(&self, dtype: DType) -> Self {
        debug_assert_eq!(dtype.size(), self.dtype.size());
        Self { bytes: self.bytes.clone(), dtype, layout: self.layout.clone() }
    }

    /// Axis `i` of the result is axis `order[i]` of this one; no copy.
    pub fn permuted(&self, order: &[usize]) -> Self {
        self.with_layout(self.layout.permuted(order))
    }

    /// The last two axes swapped; no copy.
    ///
    /// # Panics
    /// If there are fewer.
    pub fn transposed(&self) -> Self {
        let mut order: Vec<usize> = (0..self.rank()).collect();
        order.swap(self.rank() - 2, self.rank() - 1);
        self.permuted(&order)
    }

    /// Axes of size 1 repeated, and leading ones added; no copy. `None` if the shapes do not fit.
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Self> {
        self.layout.broadcast_to(shape).map(|layout| self.with_layout(layout))
    }

    /// Another shape of as many elements; a copy only where the layout asks for it.
    ///
    /// # Panics
    /// If the number of elements differs.
    pub fn reshaped(&self, shape: &[usize]) -> Self {
        let view = self.layout.reshaped(shape).map(|layout| self.with_layout(layout));
        view.unwrap_or_else(|| {
            let dense = self.contiguous();
            let layout = dense.layout.reshaped(shape).expect("as many elements");
            dense.with_layout(layout)
        })
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Value {} {:?}", self.dtype.name(), self.shape())
    }
}

fn layout_of(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous(shape).map_err(|_: LayoutError| too_large(shape))
}

fn too_large(shape: &[usize]) -> Error {
    Error::shape("tensor", format_args!("shape {shape:?} has more elements than memory can hold"))
}
