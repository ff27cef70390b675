//! Agents that are registered while the hub runs and called where they are, by whichever protocol they speak.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_model::{Card, Fault, Json, PeerId, Principal};

use super::{Reach, Registration};
use crate::Hub;

/// How an agent is made known.
#[derive(Debug, Clone, Copy)]
pub enum Shown<'a> {
    /// Its card is there.
    At(&'a str),
    By(&'a Json),
}

/// A protocol by which registered agents are called.
pub trait CalledAgents: Send + Sync + Debug {
    /// Looks at an agent on behalf of whoever registers it. Nothing is kept of it yet.
    fn look<'a>(
        &'a self,
        hub: &'a Arc<Hub>,
        by: &'a Principal,
        name: Option<&'a str>,
        shown: Shown<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn Applied>, Fault>>;

    /// Nothing stays of how an agent was called.
    fn forget<'a>(&'a self, hub: &'a Hub, registration: &'a Registration) -> BoxFuture<'a, Result<(), Fault>>;
}

/// An agent that was looked at and may be registered.
pub trait Applied: Send + Sync {
    fn card(&self) -> &Card;

    fn reach(&self) -> &Reach;

    fn register<'a>(
        self: Box<Self>,
        hub: &'a Arc<Hub>,
        by: &'a Principal,
        registration: Registration,
    ) -> BoxFuture<'a, Result<PeerId, Fault>>;
}
