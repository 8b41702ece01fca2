//! What the micro-kernels ask of a vector register.

/// A register of [`Vector::LANES`] numbers.
///
/// The functions are `#[inline(always)]`, so that they become instructions of the function that calls them.
///
/// # Safety
/// Only for code that runs where the register's instructions exist; pointers must be valid for what is read or
/// written, in any alignment.
pub(super) trait Vector: Copy {
    /// Its numbers.
    type Element: Copy;

    /// How many there are.
    const LANES: usize;

    /// All zeros.
    unsafe fn zero() -> Self;

    /// One number in every lane.
    unsafe fn splat(from: *const Self::Element) -> Self;

    unsafe fn load(from: *const Self::Element) -> Self;

    unsafe fn store(self, to: *mut Self::Element);

    /// `self * factor + sum`, rounded once where the CPU can.
    unsafe fn mul_add(self, factor: Self, sum: Self) -> Self;

    unsafe fn add(self, other: Self) -> Self;

    /// 0 where the number is below; NaN stays.
    unsafe fn relu(self) -> Self;

    /// Has the line that holds a number brought to the first-level cache, if it is anywhere. Any address will do.
    #[inline(always)]
    unsafe fn prefetch(_from: *const Self::Element) {}
}

/// A register of x86, by the names of its instructions.
#[cfg(target_arch = "x86_64")]
macro_rules! x86_vector {
    ($register:ty, $element:ty, $zero:ident, $splat:ident, $load:ident, $store:ident, $mul_add:ident, $add:ident,
     $max:ident) => {
        impl Vector for $register {
            type Element = $element;
            const LANES: usize = size_of::<$register>() / size_of::<$element>();

            #[inline(always)]
            unsafe fn zero() -> Self {
                // SAFETY: the caller has the instructions; so below.
                unsafe { $zero() }
            }

            #[inline(always)]
            unsafe fn splat(from: *const $element) -> Self {
                // SAFETY: the caller vouches for the pointer; so below.
                unsafe { $splat(*from) }
            }

            #[inline(always)]
            unsafe fn load(from: *const $element) -> Self {
                // SAFETY: as above.
                unsafe { $load(from) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut $element) {
                // SAFETY: as above.
                unsafe { $store(to, self) }
            }

            #[inline(always)]
            unsafe fn mul_add(self, factor: Self, sum: Self) -> Self {
                // SAFETY: as above.
                unsafe { $mul_add(self, factor, sum) }
            }

            #[inline(always)]
            unsafe fn add(self, other: Self) -> Self {
                // SAFETY: as above.
                unsafe { $add(self, other) }
            }

            #[inline(always)]
            unsafe fn relu(self) -> Self {
                // Of two numbers that do not compare, the instruction gives the second.
                // SAFETY: as above.
                unsafe { $max($zero(), self) }
            }

            #[inline(always)]
            unsafe fn prefetch(from: *const $element) {
                // SAFETY: a hint, which cannot fault.
                unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
pub(super) use x86_vector;
