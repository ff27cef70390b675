//! Arbitrary bytes as a message of an MCP server. The checks are shared with the test that replays the seeds.

#![no_main]

#[path = "../checks/mcp_client.rs"]
mod checks;

libfuzzer_sys::fuzz_target!(|data: &[u8]| checks::message(data));
