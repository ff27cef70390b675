//! Dynamic agent registration: others register agents while the hub runs, by the address of their card, or by the card itself. Each agent
//! is contacted first, so that every listed agent can be called.
//!
//! The registering caller chooses an address for the hub: unless it is the hub's own user, only public addresses are allowed (SSRF guard).
//! No credential is sent.

use std::sync::Arc;

use crate::discover::read::decode;
use bytes::Bytes;
use interlingua_model::peer::Peer;
use interlingua_model::{Card, Fault, FaultKind, Health, Json, PeerId};

use super::Prepared;
use super::interface::DEPTH;
use super::known::KIND;
use super::peer::{A2aPeer, Manifest, Named, place_of_card};
use super::refresh;
use crate::settings;
use interlingua_hub::Hub;
use interlingua_hub::names::name_problem;
use interlingua_net::client::guard::{Private, checked};

/// What an agent is called until its card was read.
const UNNAMED: &str = "agent";
/// No name that a card suggests is longer.
const LONGEST_NAME: usize = 50;

/// By its address: the card that is shown there counts.
pub(crate) async fn at(hub: &Arc<Hub>, name: Option<&str>, url: &str, private: Private) -> Result<Prepared, Fault> {
    checked(url, private).map_err(|problem| refused("/url", problem))?;
    let peer = made(hub, UNNAMED.into(), url, Manifest::Shown, private).await?;
    let (raw, etag) = peer.first_card().await.map_err(|problem| refused("/url", &problem))?;
    finished(peer, name, raw, etag, "/url").await
}

/// By its card: the first of its interfaces with an address of the web says where it is.
pub(crate) async fn by_card(
    hub: &Arc<Hub>,
    name: Option<&str>,
    card: &Json,
    private: Private,
) -> Result<Prepared, Fault> {
    let read = decode(card.as_bytes(), DEPTH).map_err(|invalid| refused("/card", &invalid.to_string()))?;
    let mut problem = "has no interface that can be called";
    for interface in &read.interfaces {
        match checked(&interface.url, private) {
            Ok(_) => {
                let peer = made(hub, UNNAMED.into(), &interface.url, Manifest::Given, private).await?;
                return finished(peer, name, card.as_bytes().clone(), None, "/card").await;
            }
            Err(why) => problem = why,
        }
    }
    Err(refused("/card", problem))
}

/// After a start: as it was registered, with what was kept of its card.
pub(crate) async fn again(
    hub: &Arc<Hub>,
    name: &PeerId,
    url: &str,
    manifest: Manifest,
    private: Private,
) -> Result<Prepared, Fault> {
    Ok(Prepared { peer: Arc::new(made(hub, name.clone(), url, manifest, private).await?) })
}

/// Nothing stays of an agent that is unregistered.
pub(crate) async fn forget(hub: &Hub, name: &PeerId, url: &str) -> Result<(), Fault> {
    hub.records(KIND).take(&place_of_card(name, url)).await?;
    Ok(())
}

async fn made(hub: &Arc<Hub>, name: PeerId, url: &str, manifest: Manifest, private: Private) -> Result<A2aPeer, Fault> {
    let a2a = settings::A2aPeer::new(url);
    let config = interlingua_settings::Peer::default();
    A2aPeer::new(hub, name, &config, &a2a, manifest, Named::ByOthers(private)).await
}

async fn finished(
    mut peer: A2aPeer,
    name: Option<&str>,
    raw: Bytes,
    etag: Option<String>,
    field: &str,
) -> Result<Prepared, Fault> {
    let card =
        decode(&raw, DEPTH).map_err(|invalid| refused(field, &format!("has a card that cannot be used: {invalid}")))?;
    peer.call_it(named(name, &card.name)?);
    let known = peer.judged(raw, etag).await.map_err(|text| refused(field, &text))?;
    if known.lines.is_empty() {
        let problems: Vec<&str> = known.problems.iter().map(|problem| &**problem).collect();
        return Err(refused(field, &problems.join("; ")));
    }
    peer.knows(known);
    Ok(Prepared { peer: Arc::new(peer) })
}

/// The name that is given, else one that the card's makes.
fn named(given: Option<&str>, title: &str) -> Result<PeerId, Fault> {
    let made;
    let name = match given {
        Some(name) => name,
        None => {
            made = suggested(title);
            &made
        }
    };
    match name_problem(name) {
        Some(problem) => Err(Fault::caller(FaultKind::InvalidInput, problem).field("/agent_id", "is not a name")),
        None => Ok(PeerId::from(name)),
    }
}

/// `Hotel Expert (beta)` is `hotel-expert-beta`.
fn suggested(title: &str) -> String {
    let words = title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    joined.chars().take(LONGEST_NAME).collect::<String>().trim_end_matches('-').to_owned()
}

fn refused(field: &str, problem: &str) -> Fault {
    Fault::caller(FaultKind::InvalidInput, format!("the agent cannot be registered: {problem}")).field(field, problem)
}

impl Prepared {
    pub(crate) fn name(&self) -> &PeerId {
        &self.peer.name
    }

    /// Where it is called.
    pub(crate) fn url(&self) -> &str {
        &self.peer.a2a.url
    }

    pub(crate) fn peer(&self) -> Arc<dyn Peer> {
        self.peer.clone()
    }

    /// What the hub shows of it: it has just been read.
    pub(crate) fn card(&self, hub: &Hub) -> Option<Card> {
        let known = self.peer.known()?;
        Some(known.card(&self.peer.name, &self.peer.config, Health::Up, hub.now()))
    }

    /// So that a hub that starts again can call it before it has read the card anew.
    pub(crate) async fn keep(&self, hub: &Hub) -> Result<(), Fault> {
        match self.peer.known() {
            Some(known) => known.keep(&self.peer.kept, hub).await,
            None => Ok(()),
        }
    }

    /// Once it is registered: keeps its card true, and its health.
    pub(crate) fn watch(&self, hub: &Arc<Hub>) {
        refresh::watch(hub, &self.peer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_suggests_a_name_that_peers_may_have() {
        for (title, name) in [
            ("Hotel Expert (beta)", Some("hotel-expert-beta")),
            ("Hôtel — 2", Some("h-tel-2")),
            ("local", None),
            ("酒店", None),
            ("", None),
        ] {
            assert_eq!(named(None, title).ok().as_ref().map(PeerId::as_str), name, "{title}");
        }
        let long = named(None, &"ab ".repeat(40)).expect("a name");
        assert!(name_problem(long.as_str()).is_none() && long.as_str().len() <= LONGEST_NAME, "{long}");
        assert_eq!(named(Some("mine"), "local").expect("a name").as_str(), "mine");
        named(Some("a b"), "x").expect_err("not a name");
    }
}
