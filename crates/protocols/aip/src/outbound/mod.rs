//! We call them: a device of this hub ([`device`], [`plan`]), or one behind another server ([`constellation`]).
//! [`show_devices`] registers the first as peers.
//!
//! Both are live exchanges that go on by themselves ([`interlingua_net::client::going`]); to let go of one is to tell the device to stop.

mod constellation;
pub(super) mod device;
mod plan;
mod show_devices;

pub use constellation::{Prepared, prepare};
pub(crate) use show_devices::start_showing;
