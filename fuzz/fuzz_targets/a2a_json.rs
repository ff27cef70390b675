//! Arbitrary bytes as an A2A message, to a server and to a client. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/a2a.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::json(data));
