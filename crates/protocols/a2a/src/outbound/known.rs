//! Cached agent card: the card as it was last read, its usable parts, and the problems of the others. It is stored in records, so that a
//! restarted hub can call the agent, and resume tasks there, before it has read the card again.

use crate::client::skills;
use crate::discover::read::{AgentCard, Binding, Scheme, decode};
use interlingua_model::peer::Vouched;
use interlingua_model::ports::Expect;
use interlingua_model::{
    Card, CardFrom, CardSource, Digest, Fault, Health, Json, PeerId, Raw, RouteClass, Skill, Text, Time,
};
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::interface::{DEPTH, InterfaceClient};
use super::trust::{KeySet, Trust};
use crate::settings::{A2aBinding, A2aPeer};
use interlingua_hub::Hub;
use interlingua_net::client::credentials::Credentials;
use interlingua_settings::Peer;

pub(super) const KIND: &str = "a2a-card";
/// Where a key goes when a card does not say.
const KEY_HEADER: &str = "x-api-key";

#[derive(Debug)]
pub(super) struct Known {
    pub(super) card: AgentCard,
    json: Json,
    /// By which the agent knows whether its card has changed since.
    pub(super) etag: Option<String>,
    /// Who signed it, and the keys that were fetched to see that.
    pub(super) vouched: Option<Vouched>,
    sets: Vec<KeySet>,
    /// Its interfaces that can be spoken to, best first.
    pub(super) lines: Vec<InterfaceClient>,
    pub(super) credentials: Credentials,
    skills: Vec<Skill>,
    pub(super) problems: Vec<Text>,
}

/// What is written down of it.
#[derive(Serialize, Deserialize)]
struct Written {
    etag: Option<String>,
    card: Json,
    #[serde(default)]
    keys: Vec<KeySet>,
}

/// A card as it came.
pub(super) struct Shown {
    pub(super) card: Json,
    pub(super) etag: Option<String>,
    pub(super) sets: Vec<KeySet>,
}

/// By what a card is read.
pub(super) struct Reader<'a> {
    pub(super) peer: &'a PeerId,
    pub(super) address: &'a Address,
    pub(super) a2a: &'a A2aPeer,
    pub(super) trust: &'a Trust,
}

impl Known {
    /// Reads a card; the error says why it cannot be used at all.
    pub(super) fn read(shown: Shown, reader: &Reader<'_>) -> Result<Known, Text> {
        let Reader { peer, address, a2a, trust } = *reader;
        let Shown { card: json, etag, sets } = shown;
        let card = decode(json.as_bytes(), DEPTH).map_err(unusable)?;
        let vouched = trust.judge(&json, &sets)?;
        let mut problems = card.problems.clone();
        problems.extend(trust.problem(vouched.as_ref()));
        let lines = lines(&card, address, a2a, &mut problems);
        let (skills, left_out) = skills::skills(&card, peer);
        problems.extend(left_out);
        let credentials = credentials(&card, a2a).map_err(|fault| fault.public)?;
        if card.guarded && credentials.is_empty() {
            problems.push("it wants credentials and none are configured".into());
        }
        let usable = card.foreign.is_empty() && !lines.is_empty();
        if !card.foreign.is_empty() {
            problems.push(format!("it insists on extensions that are not known: {}", card.foreign.join(", ")).into());
        } else if lines.is_empty() {
            problems.push("none of its interfaces can be used".into());
        }
        let skills = if usable { skills } else { Vec::new() };
        let lines = if usable { lines } else { Vec::new() };
        Ok(Known { card, json, etag, vouched, sets, lines, credentials, skills, problems })
    }

    /// One that was taken before is not for that reason taken now.
    pub(super) async fn load(key: &str, hub: &Hub, reader: &Reader<'_>) -> Option<Known> {
        let item = hub.records(KIND).get(key).await.ok()??;
        let written: Written = serde_json::from_slice(&item.value).ok()?;
        Known::read(Shown { card: written.card, etag: written.etag, sets: written.keys }, reader).ok()
    }

    pub(super) async fn keep(&self, key: &str, hub: &Hub) -> Result<(), Fault> {
        let written = Written { etag: self.etag.clone(), card: self.json.clone(), keys: self.sets.clone() };
        let written = serde_json::to_vec(&written).map_err(Fault::internal)?;
        hub.records(KIND).put(key, written.into(), None, Expect::Anything).await?;
        Ok(())
    }

    pub(super) fn is_same(&self, other: &Known) -> bool {
        self.json.as_bytes() == other.json.as_bytes() && self.vouched == other.vouched
    }

    /// What the hub shows of it.
    pub(super) fn card(&self, name: &PeerId, config: &Peer, health: Health, seen: Time) -> Card {
        let offered = self.skills.iter().filter(|skill| config.offers(skill.id.skill.as_str()));
        let skills = offered.map(|skill| config.believed(skill.clone())).collect();
        let title = config.title.as_deref().map_or_else(|| self.card.name.clone(), Text::from);
        let description = config.description.as_deref().map_or_else(|| self.card.description.clone(), Text::from);
        let version = self.card.interfaces.first().map(|interface| interface.version.wire());
        let raw = version.filter(|_| self.card.signed).map(|wire| Raw { wire, json: self.json.clone() });
        Card {
            provider: self.card.provider.clone(),
            version: self.card.version.clone(),
            sources: vec![CardSource { from: CardFrom::Manifest, digest: Digest::of(self.json.as_bytes()) }],
            raw,
            ..unknown_card(name, title, description, skills, health, seen)
        }
    }
}

/// Why nothing can be made of a card.
pub(super) fn unusable(invalid: impl std::fmt::Display) -> Text {
    format!("its card cannot be used: {invalid}").into()
}

/// Before a card has been read.
pub(super) fn unknown(name: &PeerId, config: &Peer, health: Health, seen: Time) -> Card {
    let title: Text = config.title.as_deref().unwrap_or(name.as_str()).into();
    let description = config.description.as_deref().map_or_else(|| format!("{title}, an agent.").into(), Text::from);
    unknown_card(name, title, description, Vec::new(), health, seen)
}

fn unknown_card(name: &PeerId, title: Text, description: Text, skills: Vec<Skill>, health: Health, seen: Time) -> Card {
    Card {
        peer: name.clone(),
        title,
        description,
        version: "1".into(),
        class: RouteClass::Agent,
        provider: None,
        skills,
        resources: Vec::new(),
        sources: Vec::new(),
        health,
        telemetry: None,
        seen,
        raw: None,
    }
}

fn lines(card: &AgentCard, address: &Address, a2a: &A2aPeer, problems: &mut Vec<Text>) -> Vec<InterfaceClient> {
    let wanted = |binding: Binding| match a2a.binding {
        None => true,
        Some(A2aBinding::Jsonrpc) => binding == Binding::JsonRpc,
        Some(A2aBinding::Http) => binding == Binding::HttpJson,
        Some(A2aBinding::Grpc) => binding == Binding::Grpc,
    };
    let mut lines = Vec::new();
    for interface in card.interfaces.iter().filter(|interface| wanted(interface.binding)) {
        let at = match interface.binding {
            Binding::JsonRpc | Binding::HttpJson => address.interface(&interface.url),
            Binding::Grpc => address.service(&interface.url),
        };
        match at {
            Ok(uri) => lines.push(InterfaceClient::new(interface.clone(), uri)),
            Err(problem) => problems.push(problem.into()),
        }
    }
    lines
}

fn credentials(card: &AgentCard, a2a: &A2aPeer) -> Result<Credentials, Fault> {
    let mut credentials = Credentials::new(a2a.token.as_ref(), &a2a.headers)?;
    if let Some(basic) = &a2a.basic {
        credentials.basic(&basic.user, basic.password.expose().text().unwrap_or_default())?;
    }
    if let Some(key) = &a2a.api_key {
        let header = card.schemes.iter().find_map(|scheme| match scheme {
            Scheme::Header(header) => Some(&**header),
            Scheme::Bearer | Scheme::Basic | Scheme::Other(_) => None,
        });
        credentials.header(header.unwrap_or(KEY_HEADER), key.expose().text().unwrap_or_default())?;
    }
    Ok(credentials)
}
