//! Arbitrary bytes as an MCP message, to a server and to a client. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/mcp.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::json(data));
