//! One of two elements, as a mask says.

use std::hint::select_unpredictable;

use super::simd::Plain;
use crate::parallel;
use crate::simd::{Arch, Copies, Kernel, dispatch};

/// Elements of a task.
const CHUNK: usize = 16 << 10;

/// `out[i] = if mask[i] != 0 { yes[i] } else { no[i] }`.
///
/// # Panics
/// If the lengths differ.
pub fn choose<T: Plain>(mask: &[u8], yes: &[T], no: &[T], out: &mut [T]) {
    assert!(mask.len() == out.len() && yes.len() == out.len() && no.len() == out.len());
    parallel::chunks_mut(out, CHUNK, |i, out| {
        let part = i * CHUNK..i * CHUNK + out.len();
        dispatch(Choose { mask: &mask[part.clone()], yes: &yes[part.clone()], no: &no[part], out });
    });
}

/// `x[i] = number` where `(mask[i] != 0) == when`.
///
/// # Panics
/// If the lengths differ.
pub fn fill_where<T: Plain>(mask: &[u8], when: bool, number: T, x: &mut [T]) {
    assert_eq!(mask.len(), x.len());
    parallel::chunks_mut(x, CHUNK, |i, x| {
        dispatch(FillWhere { mask: &mask[i * CHUNK..][..x.len()], when, number, x });
    });
}

struct Choose<'a, T> {
    mask: &'a [u8],
    yes: &'a [T],
    no: &'a [T],
    out: &'a mut [T],
}

impl<T: Plain> Kernel for Choose<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        let sources = self.mask.iter().zip(self.yes).zip(self.no);
        for (out, ((&mask, &yes), &no)) in self.out.iter_mut().zip(sources) {
            // A branch would be guessed wrong at every other element.
            *out = select_unpredictable(mask != 0, yes, no);
        }
    }
}

struct FillWhere<'a, T> {
    mask: &'a [u8],
    when: bool,
    number: T,
    x: &'a mut [T],
}

impl<T: Plain> Kernel for FillWhere<'_, T> {
    type Output = ();
    const COPIES: Copies = T::COPIES.at_most_two();

    #[inline(always)]
    fn run<A: Arch>(self) {
        for (x, &mask) in self.x.iter_mut().zip(self.mask) {
            *x = select_unpredictable((mask != 0) == self.when, self.number, *x);
        }
    }
}
