//! Serves cards: one for the hub, or for the peer that is its front door; one for each peer. Both show what their reader may call.

use std::sync::Arc;

use crate::Version;
use crate::decode::Addressed;
use crate::discover::{self, Facts, ListedSkill, Readers};
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LAST_MODIFIED, VARY};
use http::{HeaderValue, StatusCode};
use interlingua_model::{Digest, Fault, FaultKind, Json, Media, Noun, PeerId, Time};

use super::modes::visible;
use super::send::{Skill, peer_of};
use super::{Arrived, Asking};
use crate::Endpoint;
use crate::refusal::A2aErrors;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_hub::FrontDoor;

/// How long a card may be used without asking again.
const MAX_AGE: &str = "max-age=60";

pub(super) async fn answer(arrived: Arrived) -> Response {
    // A client that does not say what it speaks may speak either.
    let version = arrived.version().unwrap_or(Version::V1);
    let (card, changed) = match arrived.asking(version, None).and_then(|asking| of(&asking)) {
        Ok(card) => card,
        Err(fault) => return A2aErrors::Http(version).refuse(&fault),
    };
    let tag = format!("\"{:.32}\"", Digest::of(card.as_bytes()).to_string());
    let known = arrived.headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let known = known.flat_map(|list| list.split(',')).map(|tag| tag.trim().trim_start_matches("W/"));
    let same = known.into_iter().any(|known| known == tag || known == "*");
    let body = if same { Body::empty() } else { Body::from(card.as_bytes().clone()) };
    let mut response = Response::new(body);
    if same {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(MAX_AGE));
    headers.insert(VARY, HeaderValue::from_static("Authorization"));
    headers.extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    headers.extend(HeaderValue::from_str(&http_date(changed)).ok().map(|date| (LAST_MODIFIED, date)));
    response
}

/// RFC 9110, section 5.6.7.
fn http_date(time: Time) -> String {
    let millis = i64::try_from(time.0).unwrap_or_default();
    let stamp = jiff::Timestamp::from_millisecond(millis).unwrap_or_default();
    jiff::fmt::rfc2822::DateTimePrinter::new().timestamp_to_rfc9110_string(&stamp).unwrap_or_default()
}

/// The peer whose card this is: of the address, or the one at the front door.
fn card_of(asking: &Asking<'_>) -> Option<PeerId> {
    let settings = asking.shared().hub.settings();
    let front = || {
        Some(match settings.front_door.as_ref()? {
            FrontDoor::Peer(peer) => peer.clone(),
            FrontDoor::Skill(skill) => skill.peer.clone(),
        })
    };
    peer_of(&asking.door).cloned().or_else(front)
}

/// The card, and when something in it changed.
pub(super) fn of(asking: &Asking<'_>) -> Result<(Json, Time), Fault> {
    let hub = &asking.shared().hub;
    let (catalogue, settings) = (hub.catalogue(), hub.settings());
    let of = card_of(asking);
    let skills = visible(hub, &asking.by, of.as_ref());
    let of = of.and_then(|peer| catalogue.peers.get(&peer));
    let (url, grpc) = (asking.arrived.url(&asking.door), asking.arrived.authority());
    let words = discover::words("hub", "Says what this hub can do, and does it, when asked in plain words");
    let mut listed: Vec<ListedSkill<'_>> = skills.iter().map(|skill| listed(skill, &asking.door)).collect();
    if of.is_none() || listed.is_empty() {
        listed.insert(0, ListedSkill { id: "ask".to_owned(), skill: &words });
    }
    let description = format!("{} and the agents, tools and sites behind it", settings.name);
    let facts = Facts {
        name: of.map_or(&*settings.name, |of| &of.card.title),
        description: of.map(|of| &*of.card.description).filter(|text| !text.is_empty()).unwrap_or(&description),
        version: of.map_or(env!("CARGO_PKG_VERSION"), |of| &of.card.version),
        provider: of.and_then(|of| of.card.provider.as_ref()),
        url: &url,
        grpc: Some(&grpc),
        tenant: peer_of(&asking.door).map(PeerId::as_str),
        skills: listed,
        capabilities: asking.settings.capabilities,
        extension_required: asking.settings.extension_required,
        credential: asking.settings.credential,
        readers: match asking.version {
            Version::V1 => Readers::New,
            Version::V03 => asking.settings.readers,
        },
    };
    let changed = match of {
        Some(of) => of.card.seen,
        None => catalogue.peers.values().map(|of| of.card.seen).max().unwrap_or(Time(0)),
    };
    let card = discover::card(&facts);
    let signing = asking.settings.signing.as_ref();
    let signed = signing.and_then(|signing| signing.sign(&card, &asking.arrived.base()));
    Ok((signed.unwrap_or(card), changed))
}

/// The key that verifies the signatures of this hub's cards.
pub(super) async fn keys(State(shared): State<Arc<Endpoint>>) -> Response {
    match &shared.own.settings.load().signing {
        Some(signing) => {
            let mut response = error_format::json(200, signing.key_set().as_bytes().clone());
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static(MAX_AGE));
            response
        }
        None => {
            let kind = FaultKind::NotFound(Noun::Resource);
            shared.default_format().refuse(&Fault::caller(kind, "this hub signs no cards"))
        }
    }
}

/// On its peer's own card a skill goes by its name.
fn listed<'a>(skill: &'a Skill, door: &Addressed) -> ListedSkill<'a> {
    let id = match door {
        Addressed::Hub => skill.id.to_string(),
        Addressed::Peer(_) => skill.id.skill.to_string(),
    };
    ListedSkill { id, skill }
}

/// What parts the agent takes.
pub(super) fn input_modes(asking: &Asking<'_>) -> Arc<[Media]> {
    let shared = asking.shared();
    shared.own.modes.taken(&shared.hub, &asking.by, card_of(asking).as_ref())
}
