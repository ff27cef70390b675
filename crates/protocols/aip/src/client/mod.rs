//! The other ends of a connection: a device that does what it is told, and an orchestrator that asks a server for tasks.
//!
//! Machines without sockets, like the server's: what happened and the time come in, what to do goes out. Both stand on a
//! [`connection::ClientConnection`], which connects, registers, sends heartbeats, notices death and comes back. Whoever listens to effects cannot
//! hold up a reconnection: it is the machine that decides, and it never waits. [`commands`] reads what a device is told to do.

pub mod commands;
pub mod connection;
pub mod device;
pub mod orchestrator;
#[cfg(test)]
mod tests;
