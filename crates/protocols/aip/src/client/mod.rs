//! Client side of a connection: a device that executes commands, and an orchestrator that sends tasks to a server.
//!
//! These are machines without sockets, like the server's: events and the time come in, effects go out. Both use a
//! [`connection::ClientConnection`], which connects, registers, sends heartbeats, detects a lost connection and reconnects. A consumer of
//! effects cannot delay a reconnection: the machine decides, and it never waits. [`commands`] reads the commands of a device.

pub mod commands;
pub mod connection;
pub mod device;
pub mod orchestrator;
#[cfg(test)]
mod tests;
