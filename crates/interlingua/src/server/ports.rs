//! Connects parts of the hub that do not know each other: each asks by a port of its own, and here is who answers.

use std::sync::{Arc, Weak};
use std::time::Duration;

use futures_util::future::BoxFuture;
use interlingua_model::{Call, ConversationId, Event, Fault, Owner, Principal};
use interlingua_sites::browser::SessionSeen;

use interlingua_agents::{self, CallRouter, Routed, RoutedCall};
use interlingua_api::ports::{Memories, SiteSessions};
use interlingua_api::view::SiteSessionView;
use interlingua_envelope::{self, Inside};
use interlingua_hub::Hub;
use interlingua_sites::Sites;

/// Calls of agents go through the routing envelope. Held weakly: the hub holds the agent, and the envelope the hub.
#[derive(Debug)]
pub(super) struct EnvelopeRouter(pub(super) Weak<interlingua_envelope::Endpoint>);

impl CallRouter for EnvelopeRouter {
    fn route(&self, hub: &Hub, by: &Principal, call: Call, timeout: Option<Duration>) -> Result<Routed, Fault> {
        let Some(envelope) = self.0.upgrade() else { return Ok((call, None)) };
        let (call, inside) = envelope.own.inside(hub, by, call, timeout)?;
        Ok((call, inside.map(|inside| Box::new(Enveloped(inside)) as Box<dyn RoutedCall>)))
    }
}

#[derive(Debug)]
struct Enveloped(Inside);

impl RoutedCall for Enveloped {
    fn hear(&mut self, event: &Event, hub: &Hub) {
        self.0.hear(event, hub);
    }

    fn failed(&self) -> Option<bool> {
        self.0.failed()
    }
}

/// Sessions of the hub's browser.
#[derive(Debug)]
pub(super) struct BrowserSessions {
    pub(super) hub: Arc<Hub>,
    pub(super) sites: Arc<Sites>,
}

impl SiteSessions for BrowserSessions {
    fn list<'a>(&'a self, by: &'a Principal) -> BoxFuture<'a, Vec<SiteSessionView>> {
        Box::pin(async move { self.sites.sessions(by).await.iter().map(session_view).collect() })
    }

    fn end<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(self.sites.end_session(&self.hub, by, id))
    }
}

fn session_view(seen: &SessionSeen) -> SiteSessionView {
    SiteSessionView {
        id: seen.key.id().to_string(),
        site: seen.key.site.to_string(),
        name: seen.key.name.to_string(),
        owner: seen.key.owner.to_string(),
        state: seen.stands.as_str().into(),
        begun: seen.begun.to_string(),
        used: seen.used.to_string(),
        expires: seen.until.to_string(),
        calls: seen.calls,
    }
}

/// What agents of this hub remember.
#[derive(Debug)]
pub(super) struct AgentMemories(pub(super) Arc<Hub>);

impl Memories for AgentMemories {
    fn forget<'a>(&'a self, owner: &'a Owner, conversation: &'a ConversationId) -> BoxFuture<'a, Result<bool, Fault>> {
        Box::pin(interlingua_agents::forget(&self.0, owner, conversation))
    }
}
