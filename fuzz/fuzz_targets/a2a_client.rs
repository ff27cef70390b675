//! Arbitrary bytes as the card or the answer of an A2A agent. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/a2a_client.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::said(data));
