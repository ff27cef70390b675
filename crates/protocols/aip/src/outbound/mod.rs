//! We call them: a device of this hub ([`device`], [`plan`]), or one behind another server ([`constellation`]).
//!
//! Both are live exchanges that go on by themselves ([`interlingua_net::client::going`]); to let go of one is to tell the device to stop.

mod constellation;
pub(super) mod device;
mod plan;

pub use constellation::{Prepared, prepare};
