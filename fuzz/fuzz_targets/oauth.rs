//! Arbitrary bytes as a challenge, metadata, a callback or a token. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/oauth.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::said(data));
