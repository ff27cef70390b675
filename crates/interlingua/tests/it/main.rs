//! The one integration-test binary: each test of the whole is a module here, because each binary links everything again.

mod a2a;
mod agents;
mod api;
mod bus;
mod cli;
mod crash;
mod envelope;
mod hooks;
mod hostile;
mod hubs;
mod mcp;
mod mcp_client;
mod mcp_interop;
mod mcp_suite;
mod nlip;
mod nlip_client;
mod nlip_interop;
mod nlip_peers;
mod powercut;
mod program;
mod reload;
mod support;
mod telemetry;
mod tidy;
mod tools;
mod trust;
