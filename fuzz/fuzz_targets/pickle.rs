//! Any bytes as a PyTorch checkpoint, and as a bare pickle: errors or data, in bounded memory and time.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    burnpy_pickle::exercise(data);
    burnpy_pickle::exercise_pickle(data);
});
