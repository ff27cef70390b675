//! Port of the call router: an optional router sends each call of an agent as a message of its own on its way to the hub. The program that
//! assembles the hub chooses the router.

use std::fmt::Debug;
use std::time::Duration;

use interlingua_model::{Call, Entry, Fault, Principal};

use super::Hub;

/// A call from the router, and the receiver of its answer if it travelled as a message.
pub type Routed = (Call, Option<Box<dyn RoutedCall>>);

/// A router between agents and the hub.
pub trait CallRouter: Send + Sync + Debug {
    /// Sends a call through the router and returns the call to make. A router that is switched off returns it unchanged.
    fn route(&self, hub: &Hub, by: &Principal, call: Call, timeout: Option<Duration>) -> Result<Routed, Fault>;
}

/// The hub without a router: every call is made as it is.
#[derive(Debug, Clone, Copy)]
pub struct Direct;

impl CallRouter for Direct {
    fn route(&self, _: &Hub, _: &Principal, call: Call, _: Option<Duration>) -> Result<Routed, Fault> {
        Ok((call, None))
    }
}

/// A call that travels as a message, and the answer that is built for it.
pub trait RoutedCall: Send + Sync + Debug {
    /// An entry of the call; the last one makes the response.
    fn hear(&mut self, entry: &Entry, hub: &Hub);

    /// Does the response say that the call failed? `None` before there is one.
    fn failed(&self) -> Option<bool>;
}
