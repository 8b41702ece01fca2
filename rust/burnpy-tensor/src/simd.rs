//! Which vector instructions the CPU has, and kernels compiled for each of them.
//!
//! A kernel is written once, as a safe loop over slices; [`dispatch`] runs the copy of it that the compiler made with
//! the widest instructions at hand. What the loop computes for one element must not depend on where the element
//! stands, so that bits are the same under any partition of the work.

use std::sync::atomic::{AtomicU8, Ordering};

/// A set of instructions that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Level {
    /// What every CPU of the target has.
    Portable = 1,
    /// x86-64 with AVX2 and FMA.
    Avx2 = 2,
    /// x86-64 with AVX-512 (F, BW, DQ, VL).
    Avx512 = 3,
    /// AArch64; every one of them has it.
    Neon = 4,
}

impl Level {
    /// All levels, narrowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Avx2, Self::Avx512, Self::Neon];

    /// The name that `BURNPY_CPU` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// Whether this CPU has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
            }
            #[cfg(target_arch = "aarch64")]
            Self::Neon => true,
            #[allow(unreachable_patterns, reason = "which levels are left depends on the target")]
            _ => false,
        }
    }

    /// The widest that this CPU has.
    fn best() -> Self {
        let order = [Self::Avx512, Self::Avx2, Self::Neon];
        order.into_iter().find(|level| level.is_available()).unwrap_or(Self::Portable)
    }

    /// The level that `BURNPY_CPU` names, if the CPU has it; else the best one. A wish that cannot be met is no reason
    /// to stop: the Python package says so at import.
    fn wanted() -> Self {
        let name = std::env::var("BURNPY_CPU").unwrap_or_default();
        let named = Self::ALL.into_iter().find(|level| level.name() == name);
        named.filter(|level| level.is_available()).unwrap_or_else(Self::best)
    }
}

/// 0: not asked yet.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The level in use.
#[inline]
pub fn level() -> Level {
    let known = LEVEL.load(Ordering::Relaxed);
    Level::ALL.into_iter().find(|&level| level as u8 == known).unwrap_or_else(|| {
        let level = Level::wanted();
        LEVEL.store(level as u8, Ordering::Relaxed);
        level
    })
}

/// Uses another level from now on, in the whole process. `false`, and nothing changes, if the CPU does not have it.
pub fn set_level(level: Level) -> bool {
    let available = level.is_available();
    if available {
        LEVEL.store(level as u8, Ordering::Relaxed);
    }
    available
}

/// What a kernel may ask about the instructions that it is compiled for.
pub trait Arch: Copy + 'static {
    /// The level.
    const LEVEL: Level;
    /// Whether `a * b + c` is one instruction. Where it is not, `mul_add` would be a call of the C library.
    const FMA: bool;

    /// `a * b + c`, rounded once where that is free.
    #[inline(always)]
    fn fma32(a: f32, b: f32, c: f32) -> f32 {
        if Self::FMA { a.mul_add(b, c) } else { a * b + c }
    }

    /// [`Arch::fma32`] for doubles.
    #[inline(always)]
    fn fma64(a: f64, b: f64, c: f64) -> f64 {
        if Self::FMA { a.mul_add(b, c) } else { a * b + c }
    }
}

macro_rules! arch {
    ($(#[$doc:meta])* $name:ident, $level:ident, $fma:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $name;
        impl Arch for $name {
            const LEVEL: Level = Level::$level;
            const FMA: bool = $fma;
        }
    };
}
arch!(
    /// [`Level::Portable`].
    Portable, Portable, false
);
arch!(
    /// [`Level::Avx2`].
    Avx2, Avx2, true
);
arch!(
    /// [`Level::Avx512`].
    Avx512, Avx512, true
);
arch!(
    /// [`Level::Neon`].
    Neon, Neon, true
);

/// How many copies of a kernel the compiler makes. Each takes room in the library and time to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// The portable one: loops over integers wait for memory whatever the instructions, and doubles are not what is
    /// trained in.
    One,
    /// The portable one and that of AVX2 or NEON, which wider CPUs run too: what waits for memory gains nothing from
    /// registers twice as wide.
    Two,
    /// One for every level.
    All,
}

impl Copies {
    /// No more than two, for kernels that do little with what they read.
    pub const fn at_most_two(self) -> Self {
        match self {
            Self::All => Self::Two,
            fewer => fewer,
        }
    }
}

/// A computation that is compiled once for each level. `run` must be `#[inline(always)]`, as all that it calls in its
/// inner loops, or it is compiled without the level's instructions.
pub trait Kernel {
    /// What it gives.
    type Output;

    /// Which instructions are worth a copy of the code.
    const COPIES: Copies = Copies::All;

    /// The computation.
    fn run<A: Arch>(self) -> Self::Output;
}

/// Runs a kernel with the instructions of [`level`].
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    if matches!(K::COPIES, Copies::One) {
        return kernel.run::<Portable>();
    }
    match level() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level is only ever in use after `is_available` has found its instructions.
        Level::Avx512 if matches!(K::COPIES, Copies::All) => unsafe { run_avx512(kernel) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above; AVX-512 is only available with AVX2.
        Level::Avx2 | Level::Avx512 => unsafe { run_avx2(kernel) },
        #[cfg(target_arch = "aarch64")]
        Level::Neon => kernel.run::<Neon>(),
        _ => kernel.run::<Portable>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx2>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
fn run_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Avx512>()
}

/// The level is the whole process's: tests that change it, or compare bits, take turns.
#[cfg(test)]
pub(crate) fn turn() -> std::sync::MutexGuard<'static, ()> {
    static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());
    TURN.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Name;
    impl Kernel for Name {
        type Output = (&'static str, f32);
        #[inline(always)]
        fn run<A: Arch>(self) -> Self::Output {
            (A::LEVEL.name(), A::fma32(2.0, 3.0, 1.0))
        }
    }

    #[test]
    fn a_kernel_runs_on_every_level_that_the_cpu_has() {
        let _turn = turn();
        let before = level();
        for level in Level::ALL {
            assert_eq!(set_level(level), level.is_available());
            if level.is_available() {
                assert_eq!(dispatch(Name), (level.name(), 7.0));
            }
        }
        assert!(set_level(before));
    }
}
