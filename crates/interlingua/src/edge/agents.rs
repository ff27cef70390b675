//! Agents that are registered while the hub runs and called where they are: which wire that is, what is kept of them, and how
//! they are taken up after a start. Agents that fetch their messages need none of this.

use std::sync::{Arc, Mutex, PoisonError};

use interlingua_core::{Card, Fault, FaultKind, Json, Owner, PeerId, Principal, Subject};

use super::a2a::outbound::{Manifest, Prepared, registered};
use crate::client::guard::Private;
use crate::hub::Hub;
use crate::hub::bus::{Reach, Registration};

/// How an agent is made known.
pub(crate) enum Shown<'a> {
    /// Its card is there.
    At(&'a str),
    By(&'a Json),
}

/// An agent that was looked at and may be registered.
pub(crate) struct Applied {
    prepared: Prepared,
    pub(crate) reach: Reach,
    pub(crate) card: Card,
}

/// Looks at an agent on behalf of whoever registers it. Nothing is kept of it yet.
pub(crate) async fn look(
    hub: &Arc<Hub>,
    by: &Principal,
    name: Option<&str>,
    shown: Shown<'_>,
) -> Result<Applied, Fault> {
    let private = reached_by(&by.owner());
    let (prepared, reach): (Prepared, fn(interlingua_core::Uri) -> Reach) = match shown {
        Shown::At(url) => (registered::at(hub, name, url, private).await?, Reach::Url),
        Shown::By(card) => (registered::by_card(hub, name, card, private).await?, Reach::Card),
    };
    let unread = || Fault::hub(FaultKind::Internal, "an agent that was looked at has no card");
    let card = prepared.card(hub).ok_or_else(unread)?;
    Ok(Applied { reach: reach(prepared.url().into()), card, prepared })
}

impl Applied {
    pub(crate) async fn register(
        self,
        hub: &Arc<Hub>,
        by: &Principal,
        registration: Registration,
    ) -> Result<PeerId, Fault> {
        let name = self.prepared.name().clone();
        // Before anything is written over: it may be somebody else's.
        hub.check_agent_name(by, &name)?;
        self.prepared.keep(hub).await?;
        hub.register_agent(by, registration, Some(self.prepared.peer())).await?;
        self.prepared.watch(hub);
        Ok(name)
    }
}

/// Nothing stays of how an agent was called.
pub(crate) async fn forget(hub: &Hub, registration: &Registration) -> Result<(), Fault> {
    match &registration.reach {
        Reach::Inbox => Ok(()),
        Reach::Url(url) | Reach::Card(url) => registered::forget(hub, &registration.card.peer, url).await,
    }
}

/// Takes up the registrations that are kept.
pub(crate) async fn restore(hub: &Arc<Hub>) -> Result<(), Fault> {
    let called = Mutex::new(Vec::new());
    let make = async |registration: &Registration| {
        let (url, manifest) = match &registration.reach {
            Reach::Url(url) => (url, Manifest::Shown),
            Reach::Card(url) => (url, Manifest::Given),
            Reach::Inbox => return Err(Fault::hub(FaultKind::Internal, "it fetches its messages")),
        };
        let private = reached_by(&registration.owner);
        let prepared = registered::again(hub, &registration.card.peer, url, manifest, private).await?;
        let peer = prepared.peer();
        called.lock().unwrap_or_else(PoisonError::into_inner).push(prepared);
        Ok(peer)
    };
    let restored = hub.restore_agents(make).await?;
    for prepared in called.into_inner().unwrap_or_else(PoisonError::into_inner) {
        prepared.watch(hub);
    }
    if restored > 0 {
        tracing::info!(agents = restored, "took up registered agents");
    }
    Ok(())
}

/// The hub's own user could write any address into its configuration; for anybody else the hub goes only where anyone can.
fn reached_by(owner: &Owner) -> Private {
    match owner.0.iter().all(|subject| *subject == Subject::HubOwner) {
        true => Private::Allowed,
        false => Private::Refused,
    }
}
