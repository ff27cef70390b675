//! They come to us: devices and orchestrators over WebSockets at `/ws` and `/aip/ws`, programs over a little HTTP.
//!
//! [`entry`] decides who is let in, [`socket`] is one connection, [`custom_messages`] what is
//! said in frames of other kinds, [`files`] what comes in binary ones, [`http`] the interface of the Python server:
//! `/api/clients`, `/api/dispatch`, `/api/task_result/{name}`, `/api/health`.

mod custom_messages;
mod entry;
mod files;
pub mod http;
mod socket;

pub use socket::routes;
