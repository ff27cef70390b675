//! They come to us: devices and orchestrators over WebSockets at `/ws` and `/aip/ws`, programs over a little HTTP.
//!
//! [`entry`] decides who is let in, [`socket`] is one connection, [`task`] one task that a client asked for, [`http`] the
//! interface of the Python server: `/api/clients`, `/api/dispatch`, `/api/task_result/{name}`, `/api/health`.

mod entry;
pub mod http;
mod socket;
pub(super) mod task;

pub use socket::routes;
