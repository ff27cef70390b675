//! Arbitrary bytes as JSON. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/core.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::json(data));
