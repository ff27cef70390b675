//! The official Rust crates of A2A, as a client of the hub and as an agent behind it.
//!
//!     a2a-rust-interop client URL BINDING
//!     a2a-rust-interop agent HOST:PORT BINDING
//!
//! Bindings are spelled as on cards: JSONRPC, HTTP+JSON, GRPC. The client ends with 0 when all is as it should be. What both do
//! is what the programs in Python beside them do.

mod agent;
mod client;

use std::process::ExitCode;

type Problem = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["client", url, binding, token] => client::run(url, binding, token).await,
        ["agent", address, binding] => agent::run(address, binding).await,
        _ => Err("usage: client URL BINDING TOKEN, or agent HOST:PORT BINDING".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
