//! Arbitrary bytes as a message of A2A in protocol buffers, and as frames of gRPC. The checks are shared with the test that
//! replays the seeds.

#![no_main]

#[path = "../checks/a2a.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::proto(data));
