//! Agents that register at run time and are called at their own endpoint, by the protocol they speak.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::{BoxFuture, ready};
use interlingua_model::peer::Peer;
use interlingua_model::{Card, Fault, FaultKind, Feature, Json, PeerId, Principal};

use super::{Reach, Registration};
use crate::Hub;

/// How an agent describes itself.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'a> {
    /// Its card is at this address.
    At(&'a str),
    /// This is its card.
    By(&'a Json),
}

/// A protocol by which registered agents are called.
pub trait CalledAgents: Send + Sync + Debug {
    /// Contacts an agent on behalf of the registering caller. Nothing of it is stored yet.
    fn look<'a>(
        &'a self,
        hub: &'a Arc<Hub>,
        by: &'a Principal,
        name: Option<&'a str>,
        shown: Shown<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Applied>, Fault>>;

    /// Makes an agent again that was registered before the hub started.
    fn again<'a>(
        &'a self,
        hub: &'a Arc<Hub>,
        registration: &'a Registration,
    ) -> BoxFuture<'a, Result<Box<dyn Called>, Fault>>;

    /// Nothing stays of how an agent was called.
    fn forget<'a>(&'a self, hub: &'a Hub, registration: &'a Registration) -> BoxFuture<'a, Result<(), Fault>>;
}

/// An agent that is prepared and can be called.
pub trait Called: Send {
    /// The peer by which the hub calls it.
    fn peer(&self) -> Arc<dyn Peer>;

    /// Follows from now on what it says of itself; once all are registered.
    fn watch(&self, hub: &Arc<Hub>);
}

/// The hub without such a protocol: agents fetch their messages.
#[derive(Debug, Clone, Copy)]
pub struct NoneCalled;

impl CalledAgents for NoneCalled {
    fn look<'a>(
        &'a self,
        _: &'a Arc<Hub>,
        _: &'a Principal,
        _: Option<&'a str>,
        _: Shown<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Applied>, Fault>> {
        let kind = FaultKind::Unsupported(Feature::Operation);
        Box::pin(ready(Err(Fault::caller(kind, "this hub calls no agents: register one that fetches its messages"))))
    }

    fn again<'a>(&'a self, _: &'a Arc<Hub>, _: &'a Registration) -> BoxFuture<'a, Result<Box<dyn Called>, Fault>> {
        Box::pin(ready(Err(Fault::hub(FaultKind::Unsupported(Feature::Operation), "this hub calls no agents"))))
    }

    fn forget<'a>(&'a self, _: &'a Hub, _: &'a Registration) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(ready(Ok(())))
    }
}

/// An agent that was checked and may be registered.
pub trait Applied: Send + Sync {
    /// Its card, as it showed it.
    fn card(&self) -> &Card;

    /// How it will be called.
    fn reach(&self) -> &Reach;

    /// Registers it; returns the name under which it is a peer.
    fn register<'a>(
        self: Box<Self>,
        hub: &'a Arc<Hub>,
        by: &'a Principal,
        registration: Registration,
    ) -> BoxFuture<'a, Result<PeerId, Fault>>;
}
