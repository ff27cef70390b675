//! Arbitrary bytes as a request or an answer of NLWeb. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/nlweb.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::json(data));
