//! Arbitrary bytes as the answer of a model's provider. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/providers.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::stream(data));
