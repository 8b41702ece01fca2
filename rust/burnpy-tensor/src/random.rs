//! Random numbers that are a function of (seed, stream, position): the same whoever draws them, on any thread, in any
//! partition of the work. The function is Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1,
//! 2, 3").

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// Where the next numbers come from. Saved and restored, they come again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct State {
    /// Chosen by the user.
    pub seed: u64,
    /// One of 2^64 sequences of a seed.
    pub stream: u64,
    /// Blocks of 128 bits drawn so far from the stream.
    pub offset: u64,
    /// The number that the next stream gets.
    pub next_stream: u64,
}

impl State {
    /// The start of a seed: stream 0 serves tensor operations, streams from 1 on are handed out.
    pub const fn new(seed: u64) -> Self {
        Self { seed, stream: 0, offset: 0, next_stream: 1 }
    }
}

/// What threads draw from that have no state of their own.
static GENERATOR: Mutex<Option<State>> = Mutex::new(None);

thread_local! {
    static OWN: Cell<Option<State>> = const { Cell::new(None) };
}

/// A stretch of random blocks that nobody else draws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draw {
    /// Seed of the generator.
    pub seed: u64,
    /// Stream within the seed.
    pub stream: u64,
    /// First block.
    pub offset: u64,
}

fn with_state<R>(run: impl FnOnce(&mut State) -> R) -> R {
    if let Some(mut state) = OWN.get() {
        let result = run(&mut state);
        OWN.set(Some(state));
        return result;
    }
    let mut state = GENERATOR.lock().unwrap_or_else(PoisonError::into_inner);
    run(state.get_or_insert_with(|| State::new(entropy())))
}

/// Seeds of runs that nobody seeded.
fn entropy() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::time::SystemTime::now())
}

/// Starts again from a seed, with stream numbers too.
pub fn seed(seed: u64) {
    with_state(|state| *state = State::new(seed));
}

/// The state, to be restored later.
pub fn state() -> State {
    with_state(|state| *state)
}

/// Goes on from a saved state.
pub fn set_state(saved: State) {
    with_state(|state| *state = saved);
}

/// Has this thread draw from a state of its own, and [`seed`] and [`set_state`] change that one; or, with `None`, from the
/// state of the process, as all threads do at first. What it had before is returned, to be set again.
///
/// An operation takes its numbers on the thread that calls it, whichever threads then compute; so does what the way back
/// runs again.
///
/// ```
/// use burnpy_tensor::random::{State, draw, set_own_state, state};
/// let (before, outer) = (state(), set_own_state(Some(State::new(7))));
/// assert_eq!((draw(3).seed, state().offset), (7, 3));
/// set_own_state(outer);
/// assert_eq!(state(), before);
/// ```
pub fn set_own_state(own: Option<State>) -> Option<State> {
    OWN.replace(own)
}

/// The number of a stream that nobody has: for what is drawn later, in an order that must not matter.
pub fn new_stream() -> Draw {
    with_state(|state| {
        let stream = state.next_stream;
        state.next_stream += 1;
        Draw { seed: state.seed, stream, offset: 0 }
    })
}

/// Takes the next `blocks` blocks of the stream.
pub fn draw(blocks: u64) -> Draw {
    with_state(|state| {
        let draw = Draw { seed: state.seed, stream: state.stream, offset: state.offset };
        state.offset += blocks;
        draw
    })
}

/// Runs with the generator in a saved state, on this thread alone; the generator itself stays where it is.
pub(crate) fn replay<R>(saved: State, run: impl FnOnce() -> R) -> R {
    struct Restore(Option<State>);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_own_state(self.0);
        }
    }
    let _restore = Restore(set_own_state(Some(saved)));
    run()
}

impl Draw {
    /// 128 random bits: those of block `index` of this draw.
    #[inline(always)]
    pub fn block(&self, index: u64) -> [u32; 4] {
        let position = self.offset.wrapping_add(index);
        let halves = |wide: u64| (wide as u32, (wide >> 32) as u32);
        let ((p0, p1), (s0, s1), (mut k0, mut k1)) =
            (halves(position), halves(self.stream), halves(self.seed));
        let mut c = [p0, p1, s0, s1];
        for _ in 0..10 {
            let (l0, h0) = halves(u64::from(c[0]) * 0xD251_1F53);
            let (l1, h1) = halves(u64::from(c[2]) * 0xCD9E_8D57);
            c = [h1 ^ c[1] ^ k0, l1, h0 ^ c[3] ^ k1, l0];
            k0 = k0.wrapping_add(0x9E37_79B9);
            k1 = k1.wrapping_add(0xBB67_AE85);
        }
        c
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_paper() {
        let zero = Draw { seed: 0, stream: 0, offset: 0 };
        assert_eq!(zero.block(0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = Draw { seed: u64::MAX, stream: u64::MAX, offset: u64::MAX };
        assert_eq!(ones.block(0), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }

    #[test]
    fn a_replay_draws_the_same_and_leaves_the_generator_alone() {
        // Other tests draw from the state of the process.
        let outer = set_own_state(Some(State::new(7)));
        let start = state();
        let first = draw(3).block(0);
        let after = state();
        assert_eq!(replay(start, || draw(3).block(0)), first);
        assert_eq!(state(), after);
        set_own_state(outer);
    }

    #[test]
    fn threads_with_states_of_their_own_do_not_see_each_other() {
        let alone = |number| {
            set_own_state(Some(State::new(number)));
            (0..1000).map(|blocks| draw(blocks % 3)).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|number| scope.spawn(move || alone(number))).collect();
            for (number, thread) in (0..).zip(threads) {
                let mut offset = 0;
                for (blocks, found) in thread.join().unwrap().into_iter().enumerate() {
                    assert_eq!(found, Draw { seed: number, stream: 0, offset });
                    offset += blocks as u64 % 3;
                }
            }
        });
    }

    #[test]
    fn a_seed_and_a_state_set_on_a_thread_with_its_own_stay_there() {
        let outer = set_own_state(Some(State::new(1)));
        seed(2);
        assert_eq!(new_stream(), Draw { seed: 2, stream: 1, offset: 0 });
        set_state(State { seed: 3, stream: 4, offset: 5, next_stream: 6 });
        assert_eq!(draw(1), Draw { seed: 3, stream: 4, offset: 5 });
        let last = set_own_state(outer);
        assert_eq!(last, Some(State { seed: 3, stream: 4, offset: 6, next_stream: 6 }));
    }
}
