//! Agents that are registered while the hub runs and called at their own endpoint: their stored registrations, and how they are restored
//! after a start. Agents that fetch their messages need none of this.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_model::peer::Peer;
use interlingua_model::{Card, Fault, FaultKind, Owner, PeerId, Principal, Subject};

use super::outbound::{Manifest, Prepared, registered};
use interlingua_hub::Hub;
use interlingua_hub::bus::{self, Reach, Registration, Shown};
use interlingua_net::client::guard::Private;

/// Registered agents that speak A2A.
#[derive(Debug, Clone, Copy)]
pub struct CalledAgents;

impl bus::CalledAgents for CalledAgents {
    fn look<'a>(
        &'a self,
        hub: &'a Arc<Hub>,
        by: &'a Principal,
        name: Option<&'a str>,
        shown: Shown<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn bus::Applied>, Fault>> {
        Box::pin(async move { look(hub, by, name, shown).await.map(|applied| Box::new(applied) as _) })
    }

    fn again<'a>(
        &'a self,
        hub: &'a Arc<Hub>,
        registration: &'a Registration,
    ) -> BoxFuture<'a, Result<Box<dyn bus::Called>, Fault>> {
        Box::pin(async move { again(hub, registration).await.map(|prepared| Box::new(prepared) as _) })
    }

    fn forget<'a>(&'a self, hub: &'a Hub, registration: &'a Registration) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(async move {
            match &registration.reach {
                Reach::Inbox => Ok(()),
                Reach::Url(url) | Reach::Card(url) => registered::forget(hub, &registration.card.peer, url).await,
            }
        })
    }
}

/// An agent that was looked at and may be registered.
struct Applied {
    prepared: Prepared,
    reach: Reach,
    card: Card,
}

async fn look(hub: &Arc<Hub>, by: &Principal, name: Option<&str>, shown: Shown<'_>) -> Result<Applied, Fault> {
    let private = reached_by(&by.owner());
    let (prepared, reach): (Prepared, fn(interlingua_model::Uri) -> Reach) = match shown {
        Shown::At(url) => (registered::at(hub, name, url, private).await?, Reach::Url),
        Shown::By(card) => (registered::by_card(hub, name, card, private).await?, Reach::Card),
    };
    let unread = || Fault::hub(FaultKind::Internal, "an agent that was looked at has no card");
    let card = prepared.card(hub).ok_or_else(unread)?;
    Ok(Applied { reach: reach(prepared.url().into()), card, prepared })
}

impl bus::Applied for Applied {
    fn card(&self) -> &Card {
        &self.card
    }

    fn reach(&self) -> &Reach {
        &self.reach
    }

    fn register<'a>(
        self: Box<Self>,
        hub: &'a Arc<Hub>,
        by: &'a Principal,
        registration: Registration,
    ) -> BoxFuture<'a, Result<PeerId, Fault>> {
        Box::pin(async move {
            let name = self.prepared.name().clone();
            // Before anything is written over: it may be somebody else's.
            hub.check_agent_name(by, &name)?;
            self.prepared.keep(hub).await?;
            hub.register_agent(by, registration, Some(self.prepared.peer())).await?;
            self.prepared.watch(hub);
            Ok(name)
        })
    }
}

async fn again(hub: &Arc<Hub>, registration: &Registration) -> Result<Prepared, Fault> {
    let (url, manifest) = match &registration.reach {
        Reach::Url(url) => (url, Manifest::Shown),
        Reach::Card(url) => (url, Manifest::Given),
        Reach::Inbox => return Err(Fault::hub(FaultKind::Internal, "it fetches its messages")),
    };
    let private = reached_by(&registration.owner);
    registered::again(hub, &registration.card.peer, url, manifest, private).await
}

impl bus::Called for Prepared {
    fn peer(&self) -> Arc<dyn Peer> {
        Prepared::peer(self)
    }

    fn watch(&self, hub: &Arc<Hub>) {
        Prepared::watch(self, hub);
    }
}

/// The hub's own user could write any address into its configuration; for anybody else the hub goes only where anyone can.
fn reached_by(owner: &Owner) -> Private {
    match owner.0.iter().all(|subject| *subject == Subject::HubOwner) {
        true => Private::Allowed,
        false => Private::Refused,
    }
}
