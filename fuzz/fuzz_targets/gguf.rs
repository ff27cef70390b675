//! Arbitrary bytes as the file of a local model. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/gguf.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::file(data));
