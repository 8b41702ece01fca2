//! Other ways to look at the same elements: layouts made from layouts. The callers have checked their arguments; what
//! they got wrong is a panic here.

use crate::layout::{Axes, Layout, row_major_strides};

impl Layout {
    /// Axis `i` of the result is axis `order[i]` of this one.
    ///
    /// # Panics
    /// If `order` is no permutation of the axes.
    ///
    /// ```
    /// let layout = burnpy_buffer::Layout::contiguous([2, 3, 4]).unwrap().permuted(&[2, 0, 1]);
    /// assert_eq!((layout.shape(), layout.strides()), (&[4, 2, 3][..], &[1, 12, 4][..]));
    /// ```
    pub fn permuted(&self, order: &[usize]) -> Self {
        let is_permutation = order.len() == self.rank() && (0..self.rank()).all(|axis| order.contains(&axis));
        assert!(is_permutation, "{order:?} is no permutation of {} axes", self.rank());
        let shape = order.iter().map(|&axis| self.shape[axis]).collect();
        let strides = order.iter().map(|&axis| self.strides[axis]).collect();
        Self { shape, strides, offset: self.offset }
    }

    /// Repeats axes of size 1, and adds leading ones, until the shape is `shape`; `None` if it does not go.
    ///
    /// ```
    /// let column = burnpy_buffer::Layout::contiguous([3, 1]).unwrap();
    /// assert_eq!(column.broadcast_to(&[2, 3, 4]).unwrap().strides(), [0, 1, 0]);
    /// assert_eq!(column.broadcast_to(&[4, 4]), None);
    /// ```
    pub fn broadcast_to(&self, shape: &[usize]) -> Option<Self> {
        let added = shape.len().checked_sub(self.rank())?;
        row_major_strides(shape)?;
        let mut strides = Axes::from_elem(0, added);
        for ((&size, &stride), &wanted) in self.shape.iter().zip(&self.strides).zip(&shape[added..]) {
            if size != wanted && size != 1 {
                return None;
            }
            strides.push(if size == wanted { stride } else { 0 });
        }
        Some(Self { shape: shape.into(), strides, offset: self.offset })
    }

    /// Along one axis, the elements `start`, `start + step`, … , `count` of them. The step may be negative.
    ///
    /// # Panics
    /// If one of them is outside of the axis.
    pub fn sliced(&self, axis: usize, start: usize, step: isize, count: usize) -> Self {
        let mut view = self.clone();
        view.shape[axis] = count;
        if count == 0 {
            return view;
        }
        let last = start.checked_add_signed(step * (count as isize - 1));
        let size = self.shape[axis];
        assert!(start < size && last.is_some_and(|last| last < size), "slice outside of an axis of {size}");
        let moved = self.offset as isize + start as isize * self.strides[axis];
        view.offset = usize::try_from(moved).expect("the element is inside of the block");
        view.strides[axis] *= step;
        view
    }

    /// Element i of the axis becomes element size − 1 − i.
    pub fn flipped(&self, axis: usize) -> Self {
        let size = self.shape[axis];
        if size < 2 { self.clone() } else { self.sliced(axis, size - 1, -1, size) }
    }

    /// A layout of another shape with the elements in the same order; `None` if they would have to move, or are not
    /// as many.
    ///
    /// ```
    /// let layout = burnpy_buffer::Layout::contiguous([4, 6]).unwrap();
    /// assert_eq!(layout.reshaped(&[2, 2, 6]).unwrap().strides(), [12, 6, 1]);
    /// assert_eq!(layout.permuted(&[1, 0]).reshaped(&[24]), None);
    /// ```
    pub fn reshaped(&self, shape: &[usize]) -> Option<Self> {
        let total = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size))?;
        if total != self.num_elements() {
            return None;
        }
        if total == 0 || self.is_contiguous() {
            return Some(Self {
                strides: row_major_strides(shape)?,
                shape: shape.into(),
                offset: self.offset,
            });
        }
        let merged = self.merged();
        let mut strides = Axes::new();
        let mut sizes = shape.iter().rev();
        for &(size, stride) in merged.iter().rev() {
            let (mut left, mut stride) = (size, stride);
            while left > 1 {
                let &wanted = sizes.next()?;
                if left % wanted != 0 {
                    return None;
                }
                strides.push(stride);
                stride *= wanted as isize;
                left /= wanted;
            }
        }
        strides.extend(sizes.map(|_| 0));
        strides.reverse();
        Some(Self { shape: shape.into(), strides, offset: self.offset })
    }

    /// Sizes and strides with axes joined where one goes on where the next one ends, and without axes of size 1: the
    /// fewest loops that visit the elements in order.
    pub fn merged(&self) -> Vec<(usize, isize)> {
        let mut axes: Vec<(usize, isize)> = Vec::with_capacity(self.rank());
        for (&size, &stride) in self.shape.iter().zip(&self.strides).filter(|&(&size, _)| size != 1) {
            match axes.last_mut() {
                Some(outer) if outer.1 == stride * size as isize => *outer = (outer.0 * size, stride),
                _ => axes.push((size, stride)),
            }
        }
        axes
    }

    /// The order of axes in which the elements lie in memory without gaps or repeats; `None` if there is none.
    pub fn dense_order(&self) -> Option<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.rank()).collect();
        order.sort_by_key(|&axis| (std::cmp::Reverse(self.strides[axis]), self.shape[axis] == 1));
        let axes = order.iter().map(|&axis| (self.shape[axis], self.strides[axis]));
        let mut expected = 1isize;
        for (size, stride) in axes.rev().filter(|&(size, _)| size != 1) {
            if stride != expected {
                return None;
            }
            expected *= size as isize;
        }
        Some(order)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Positions of all elements in order.
    fn positions(layout: &Layout) -> Vec<isize> {
        let mut all = vec![layout.offset() as isize];
        for (&size, &stride) in layout.shape().iter().zip(layout.strides()) {
            all = all.iter().flat_map(|&at| (0..size as isize).map(move |i| at + i * stride)).collect();
        }
        all
    }

    proptest! {
        #[test]
        fn a_reshaped_view_visits_the_same_positions(
            shape in prop::collection::vec(1usize..5, 0..4),
            flips in prop::collection::vec(any::<bool>(), 4),
            order in Just([0usize, 1, 2, 3]).prop_shuffle(),
            split in 1usize..4,
        ) {
            let mut layout = Layout::contiguous(&shape).unwrap();
            for (axis, _) in flips.iter().enumerate().filter(|&(axis, &flip)| flip && axis < shape.len()) {
                layout = layout.flipped(axis);
            }
            let order: Vec<usize> = order.into_iter().filter(|&axis| axis < shape.len()).collect();
            let layout = layout.permuted(&order);
            let total = layout.num_elements();
            for wanted in [vec![total], vec![1, total, 1], vec![split, total / split], layout.shape().to_vec()] {
                if let Some(view) = layout.reshaped(&wanted) {
                    prop_assert_eq!(view.shape(), &wanted[..]);
                    prop_assert_eq!(positions(&view), positions(&layout));
                } else {
                    prop_assert!(wanted != layout.shape());
                }
            }
            prop_assert_eq!(layout.dense_order().is_some(), flips.iter().zip(&shape).all(|(&f, &n)| !f || n < 2));
        }
    }

    #[test]
    fn a_slice_takes_the_elements_it_names() {
        let layout = Layout::contiguous([2, 5]).unwrap();
        assert_eq!(positions(&layout.sliced(1, 4, -2, 3)), [4, 2, 0, 9, 7, 5]);
        assert_eq!(layout.sliced(1, 5, 1, 0).num_elements(), 0);
        assert_eq!(positions(&layout.flipped(0)), [5, 6, 7, 8, 9, 0, 1, 2, 3, 4]);
    }

    #[test]
    fn repeats_and_gaps_are_not_dense() {
        let layout = Layout::contiguous([2, 3]).unwrap();
        assert_eq!(layout.permuted(&[1, 0]).dense_order(), Some(vec![1, 0]));
        assert_eq!(layout.sliced(1, 0, 2, 2).dense_order(), None);
        assert_eq!(Layout::contiguous([1, 3]).unwrap().broadcast_to(&[2, 3]).unwrap().dense_order(), None);
    }
}
