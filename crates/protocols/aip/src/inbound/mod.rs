//! Inbound AIP: devices and orchestrators over WebSockets at `/ws` and `/aip/ws`, programs over a small HTTP interface.
//!
//! [`entry`] authenticates, [`socket`] is one connection, [`custom_messages`] handles frames of other types, [`files`] binary frames,
//! [`http`] the interface of the Python server: `/api/clients`, `/api/dispatch`, `/api/task_result/{name}`, `/api/health`.

mod custom_messages;
mod entry;
mod files;
pub mod http;
mod socket;

pub use socket::routes;
