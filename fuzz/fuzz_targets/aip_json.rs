//! Arbitrary bytes as a frame or a plan of AIP. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/aip.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::json(data));
