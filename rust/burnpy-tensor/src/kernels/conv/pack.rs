//! Operands in the order in which they are read.

use std::ops::Range;

use super::super::gemm::Scratch;
use super::super::simd::{Slide, transpose};
use super::ConvElement;
use super::plan::ConvShape;
use crate::parallel;

/// Images in a slice: element `(n, c, d, h, w)` is at `offset` plus the sum of index times stride.
#[derive(Debug, Clone, Copy)]
pub struct Images<'a, T> {
    /// Where the elements are.
    pub data: &'a [T],
    /// Where the first one is.
    pub offset: usize,
    /// From one to the next, along each axis.
    pub strides: [isize; 5],
}

/// A box of an image: `size` elements (depth, height, width) from `origin` on, which may lie outside.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crop {
    pub(super) image: usize,
    pub(super) origin: [isize; 3],
    pub(super) size: [usize; 3],
    /// What the image itself has.
    pub(super) bounds: [usize; 3],
}

impl Crop {
    /// Whether nothing of it lies outside.
    pub(super) fn is_inside(&self) -> bool {
        (0..3).all(|i| self.origin[i] >= 0 && self.origin[i] as usize + self.size[i] <= self.bounds[i])
    }

    /// Its elements in one channel.
    pub(super) fn len(&self) -> usize {
        self.size.iter().product()
    }
}

impl<T: ConvElement> Images<'_, T> {
    /// Where an element lies.
    pub(super) fn position(&self, index: [isize; 5]) -> usize {
        let at: isize = index.iter().zip(&self.strides).map(|(&i, &stride)| i * stride).sum();
        self.offset.wrapping_add_signed(at)
    }

    /// Where the crop starts, if its elements can be read where they are.
    pub(super) fn view(&self, crop: &Crop, channels: usize) -> Option<usize> {
        let dense = channels == 1 || self.strides[1] == 1;
        let forward = self.strides[2..].iter().all(|&stride| stride >= 0);
        let [d, h, w] = crop.origin;
        (dense && forward && crop.is_inside()).then(|| self.position([crop.image as isize, 0, d, h, w]))
    }

    /// Writes `channels` of a crop, channels last in rows of `lanes` each, zeros for what lies outside of the image and
    /// behind the channels.
    pub(super) fn pack(&self, crop: &Crop, channels: Range<usize>, lanes: usize, out: &mut [T]) {
        let width = crop.size[2];
        let inside = |i: isize, axis: usize| (0..crop.bounds[axis] as isize).contains(&i);
        let left = crop.origin[2].clamp(-(width as isize), 0).unsigned_abs();
        let right = (crop.bounds[2] as isize - crop.origin[2]).clamp(left as isize, width as isize) as usize;
        for (row, out) in out[..crop.len() * lanes].chunks_exact_mut((width * lanes).max(1)).enumerate() {
            let d = crop.origin[0] + (row / crop.size[1]) as isize;
            let h = crop.origin[1] + (row % crop.size[1]) as isize;
            if !inside(d, 0) || !inside(h, 1) || left == right {
                out.fill(T::ZERO);
                continue;
            }
            out[..left * lanes].fill(T::ZERO);
            out[right * lanes..].fill(T::ZERO);
            let w = crop.origin[2] + left as isize;
            let from = self.position([crop.image as isize, channels.start as isize, d, h, w]);
            self.pack_row(from, channels.len(), lanes, &mut out[left * lanes..right * lanes]);
        }
    }

    fn pack_row(&self, from: usize, channels: usize, lanes: usize, out: &mut [T]) {
        let [_, c, _, _, w] = self.strides;
        let at = |from: usize, i: usize, stride: isize| from.wrapping_add_signed(i as isize * stride);
        if channels < lanes {
            out.fill(T::ZERO);
        }
        if (c == 1 || channels == 1) && w == channels as isize && channels == lanes {
            out.copy_from_slice(&self.data[from..from + out.len()]);
        } else if c == 1 {
            for (i, out) in out.chunks_exact_mut(lanes).enumerate() {
                let from = at(from, i, w);
                copy_few(&self.data[from..from + channels], out);
            }
        } else {
            let blocks = w == 1 && channels == lanes && channels > 1;
            let size = (out.len() / lanes, lanes);
            let done = if blocks { transpose(self.data, from, c, size, out) } else { 0 };
            // In pieces of the width, so that what is written to again is still in the cache.
            for (piece, out) in out[done * lanes..].chunks_mut(16 * lanes).enumerate() {
                let from = at(from, done + piece * 16, w);
                let width = out.len() / lanes;
                for channel in 0..channels {
                    self.pack_column(at(from, channel, c), width, &mut out[channel..], lanes);
                }
            }
        }
    }

    #[inline(always)]
    fn pack_column(&self, from: usize, width: usize, out: &mut [T], step: usize) {
        let stride = self.strides[4];
        let out = out.iter_mut().step_by(step).take(width);
        if stride == 1 {
            out.zip(&self.data[from..from + width]).for_each(|(out, &x)| *out = x);
        } else {
            out.enumerate().for_each(|(i, out)| {
                *out = self.data[from.wrapping_add_signed(i as isize * stride)];
            });
        }
    }
}

/// A copy of a few numbers, for which a call of `memcpy` would cost more than the copy.
#[inline(always)]
fn copy_few<T: Copy>(source: &[T], out: &mut [T]) {
    let (fours, rest) = source.as_chunks::<4>();
    let (out_fours, out) = out[..source.len()].as_chunks_mut::<4>();
    for (out, &four) in out_fours.iter_mut().zip(fours) {
        *out = four;
    }
    // No loop, which would become that call.
    match *rest {
        [a] => out[0] = a,
        [a, b] => (out[0], out[1]) = (a, b),
        [a, b, c] => (out[0], out[1], out[2]) = (a, b, c),
        _ => {}
    }
}

/// Weights in panels of columns, `[group][panel][tap][channel of the source][column]`, and biases likewise.
pub(super) struct Panels<T> {
    weights: Scratch,
    biases: Vec<T>,
    /// Panels in a group.
    pub(super) count: usize,
    columns: usize,
    panel_len: usize,
}

impl<T: ConvElement> Panels<T> {
    /// Of weights `[groups · outputs][inputs][taps]`. For the way back, channels change roles and taps their order.
    pub(super) fn new(
        slide: &Slide<T>,
        shape: &ConvShape,
        weights: &[T],
        bias: Option<&[T]>,
        backward: bool,
    ) -> Self {
        let (taps, columns) = (shape.taps(), slide.cols);
        let (o_stride, i_stride) = (shape.inputs * taps, taps);
        let (outs, ins, out_stride, in_stride) = if backward {
            (shape.inputs, shape.outputs, i_stride, o_stride)
        } else {
            (shape.outputs, shape.inputs, o_stride, i_stride)
        };
        let (count, panel_len) = (outs.div_ceil(columns), taps * ins * columns);
        let mut packed = Scratch::new::<T>(shape.groups * count * panel_len);
        if panel_len > 0 {
            let group_len = shape.outputs * shape.inputs * taps;
            let packed = &mut packed.numbers::<T>()[..shape.groups * count * panel_len];
            parallel::chunks_mut(packed, panel_len, |i, panel| {
                let (group, first) = (i / count, i % count * columns);
                let used = columns.min(outs - first);
                let weights = &weights[group * group_len..][..group_len];
                for (step, row) in panel.chunks_exact_mut(columns).enumerate() {
                    let (tap, channel) = (step / ins, step % ins);
                    let tap = if backward { taps - 1 - tap } else { tap };
                    let from = first * out_stride + channel * in_stride + tap;
                    row[used..].fill(T::ZERO);
                    let source = weights[from..].iter().step_by(out_stride);
                    row[..used].iter_mut().zip(source).for_each(|(to, &weight)| *to = weight);
                }
            });
        }
        let mut biases = vec![T::ZERO; shape.groups * count * columns];
        if let Some(bias) = bias {
            for (group, bias) in bias.chunks_exact(outs).enumerate() {
                biases[group * count * columns..][..outs].copy_from_slice(bias);
            }
        }
        Self { weights: packed, biases, count, columns, panel_len }
    }

    /// The weights of a panel.
    pub(super) fn weights(&self, group: usize, panel: usize) -> &[T] {
        &self.weights.as_numbers()[(group * self.count + panel) * self.panel_len..][..self.panel_len]
    }

    /// The biases of a panel.
    pub(super) fn biases(&self, group: usize, panel: usize) -> &[T] {
        &self.biases[(group * self.count + panel) * self.columns..][..self.columns]
    }
}
