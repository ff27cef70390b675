//! Outbound AIP: calls a device of this hub ([`device`], [`plan`]), or one behind another server ([`constellation`]). [`show_devices`]
//! registers the first as peers.
//!
//! Both are live exchanges that run by themselves ([`interlingua_net::client::going`]); dropping one sends the device a stop.

mod constellation;
pub(super) mod device;
mod plan;
mod show_devices;

pub use constellation::{Prepared, prepare};
pub(crate) use show_devices::start_showing;

use futures_util::future::BoxFuture;
use interlingua_endpoint::sections;
use interlingua_model::Fault;

use crate::settings;

impl sections::Connect for settings::AipPeer {
    fn prepare<'a>(
        &'a self,
        around: sections::PeerAround<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn sections::Prepared>, Fault>> {
        let prepared = prepare(around.hub, around.name, around.peer, self);
        Box::pin(std::future::ready(prepared.map(|prepared| Box::new(prepared) as _)))
    }
}
