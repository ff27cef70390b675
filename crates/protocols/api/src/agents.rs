//! `/api/agents`: the agents that can receive messages, search by what they offer, and registration.
//!
//! Every visible peer is an agent here, whatever protocol it speaks. A registered agent belongs to the caller that registered it: only this
//! caller reads its messages, answers for it and unregisters it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use http::header::LOCATION;
use http::{HeaderValue, StatusCode, Uri};
use interlingua_machines::bus::{Search, shorthand};
use interlingua_model::{
    Card, CardFrom, CardSource, Effects, Fault, FaultKind, Health, Json, Meta, Noun, PeerId, Principal, Provider,
    RouteClass, Schema, Skill, SkillId, SkillKind, Time,
};

use super::decode::{self, wrong};
use super::page::{self, AgentsPaged};
use super::{Answered, Asker, answer, nothing};
use crate::Endpoint;
use crate::view::{AgentCardView, AgentView, CapabilityView, NewAgentView, PageView};
use interlingua_hub::bus::{Agent, Reach, Registration, Shown};
use interlingua_hub::names::name_problem;
use interlingua_hub::registry::Registered;
use interlingua_hub::visible::Visible;
use interlingua_net::body;

/// No card is longer.
const MAX_CARD: usize = 256 * 1024;
const MAX_CAPABILITIES: usize = 200;
/// Of the name of a capability.
const MAX_NAME: usize = 64;

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: AgentsPaged = page::query(&uri)?;
    let limit = query.limit();
    let search = Search { skill: query.skill, tag: query.tag, provider: query.provider, words: query.q };
    let visible = shared.hub.visible(&asker.by);
    let after = query.after.as_deref().unwrap_or_default();
    let peers = visible.peers().filter(|peer| peer.card.peer.as_str() > after);
    let found = peers.filter_map(|peer| {
        let skills = seen(&shared, &asker.by, &visible, peer)?;
        let view = view(&shared, &asker.by, peer, &skills);
        let wanted = query.registered.is_none_or(|registered| view.registered == registered);
        (wanted && search.fits(&peer.card, skills.iter().map(|skill| &**skill))).then_some(view)
    });
    let (items, next) = page::cut(found, limit, |view: &AgentView| view.agent_id.clone());
    answer(StatusCode::OK, &PageView { items, next })
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    answer(StatusCode::OK, &found(&shared, &asker.by, &PeerId::from(id)).ok_or_else(no_such_agent)?)
}

fn found(shared: &Endpoint, by: &Principal, id: &PeerId) -> Option<AgentView> {
    let visible = shared.hub.visible(by);
    let peer = visible.peers().find(|peer| peer.card.peer == *id)?;
    let skills = seen(shared, by, &visible, peer)?;
    Some(view(shared, by, peer, &skills))
}

/// The skills of a peer that this principal may see. Of its own agent it sees all; a peer with none to see is not there.
fn seen(shared: &Endpoint, by: &Principal, visible: &Visible<'_>, peer: &Registered) -> Option<Vec<Arc<Skill>>> {
    let own = shared.hub.bus().speaks_for(by, peer.card.peer.as_str());
    let skills = visible.offered_by(peer, own);
    (own || by.is_hub_owner() || !skills.is_empty()).then_some(skills)
}

fn view(shared: &Endpoint, by: &Principal, peer: &Registered, skills: &[Arc<Skill>]) -> AgentView {
    let agent = shared.hub.bus().agent(peer.card.peer.as_str());
    let own = agent.as_ref().filter(|agent| agent.is_of(by));
    let waiting = own.and_then(|agent| agent.inbox.as_ref()).map(|inbox| inbox.waiting());
    let url = own.and_then(|agent| match &agent.registration.reach {
        Reach::Inbox => None,
        Reach::Url(url) | Reach::Card(url) => Some(url.to_string()),
    });
    let mends = by.is_hub_owner() || own.is_some();
    let problems = peer.problems.iter().filter(|_| mends).map(ToString::to_string).collect();
    let standing = peer.peer.standing().into();
    let view = AgentView::new(&peer.card, skills.iter().map(|skill| &**skill), agent.as_deref());
    AgentView { waiting, url, problems, standing, ..view }
}

pub(super) async fn register(State(shared): State<Arc<Endpoint>>, asker: Asker, body: Body) -> Answered {
    let (hub, by) = (&shared.hub, &asker.by);
    if by.is_anonymous() {
        let text = "agents are registered by callers who say who they are";
        return Err(Fault::caller(FaultKind::Unauthenticated, text).into());
    }
    hub.check_registrar(by)?;
    let bytes = body::read(body, shared.bounds().body.min(MAX_CARD as u64)).await?;
    let view: NewAgentView = decode::body(bytes, shared.bounds().depth).await?;
    let name = match wanted(view)? {
        Wanted::Fetching(card) => {
            let registration = registration(card, by, hub.now())?;
            let name = registration.card.peer.clone();
            let before = hub.bus().agent(name.as_str());
            hub.register_agent(by, registration, None).await?;
            forget_another(&shared, before, &Reach::Inbox).await?;
            name
        }
        Wanted::Called(called) => called.register(&shared, by).await?,
    };
    let mut response = answer(StatusCode::CREATED, &found(&shared, by, &name).ok_or_else(no_such_agent)?)?;
    if let Ok(place) = HeaderValue::from_str(&format!("/api/agents/{name}")) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

pub(super) async fn unregister(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let agent = shared.hub.bus().agent(&id);
    shared.hub.unregister_agent(&asker.by, &PeerId::from(id)).await?;
    if let Some(agent) = agent {
        shared.own.agents.forget(&shared.hub, &agent.registration).await?;
    }
    Ok(nothing())
}

/// How an agent wants to get its messages.
enum Wanted {
    Fetching(AgentCardView),
    Called(Called),
}

/// An agent that is called where it is.
struct Called {
    name: Option<String>,
    place: Place,
    contact: Option<String>,
    meta: Meta,
}

enum Place {
    At(String),
    By(Json),
}

/// Exactly one of address, card and capabilities says how.
fn wanted(view: NewAgentView) -> Result<Wanted, Fault> {
    if view.metadata.as_ref().is_some_and(|metadata| !metadata.is_object()) {
        return Err(wrong("/metadata", "is not an object"));
    }
    let place = match (view.url, view.card, &view.capabilities) {
        (Some(url), None, None) => Place::At(url),
        (None, Some(card), None) => Place::By(card),
        (None, None, Some(_)) => {
            return Ok(Wanted::Fetching(AgentCardView {
                agent_id: view.agent_id.ok_or_else(|| wrong("/agent_id", "is needed"))?,
                name: view.name.ok_or_else(|| wrong("/name", "is needed"))?,
                description: view.description,
                capabilities: view.capabilities.unwrap_or_default(),
                version: view.version,
                owner: view.owner,
                contact: view.contact,
                metadata: view.metadata,
            }));
        }
        _ => return Err(wrong("/url", "or card, or capabilities: exactly one of them is needed")),
    };
    let contact = view.contact.filter(|contact| !contact.is_empty());
    Ok(Wanted::Called(Called { name: view.agent_id, place, contact, meta: Meta(view.metadata) }))
}

impl Called {
    async fn register(self, shared: &Endpoint, by: &Principal) -> Result<PeerId, Fault> {
        let hub = &shared.hub;
        let shown = match &self.place {
            Place::At(url) => Shown::At(url),
            Place::By(card) => Shown::By(card),
        };
        let applied = shared.own.agents.look(hub, by, self.name.as_deref(), shown).await?;
        let (card, reach) = (applied.card().clone(), applied.reach().clone());
        let contact = self.contact.map(Into::into);
        let before = hub.bus().agent(card.peer.as_str());
        let registration =
            Registration { owner: by.owner(), card, reach: reach.clone(), contact, meta: self.meta, at: hub.now() };
        let name = applied.register(hub, by, registration).await?;
        forget_another(shared, before, &reach).await?;
        Ok(name)
    }
}

/// What is kept of how an agent was called before, unless that is as it is now.
async fn forget_another(shared: &Endpoint, before: Option<Arc<Agent>>, now: &Reach) -> Result<(), Fault> {
    let url = |reach: &Reach| match reach {
        Reach::Inbox => None,
        Reach::Url(url) | Reach::Card(url) => Some(url.clone()),
    };
    match before {
        Some(before) if url(&before.registration.reach) != url(now) => {
            shared.own.agents.forget(&shared.hub, &before.registration).await
        }
        Some(_) | None => Ok(()),
    }
}

fn registration(view: AgentCardView, by: &Principal, now: Time) -> Result<Registration, Fault> {
    if let Some(problem) = name_problem(&view.agent_id) {
        return Err(Fault::caller(FaultKind::InvalidInput, problem).field("/agent_id", "is not a name"));
    }
    if view.capabilities.len() > MAX_CAPABILITIES {
        return Err(wrong("/capabilities", "are too many"));
    }
    let peer = PeerId::from(view.agent_id);
    let mut skills: Vec<Skill> = Vec::with_capacity(view.capabilities.len());
    for capability in &view.capabilities {
        let skill = skill(&peer, capability, &view.version)?;
        if skills.iter().any(|known| known.id == skill.id) {
            return Err(wrong("/capabilities", "has a name twice"));
        }
        skills.push(skill);
    }
    let contact = view.contact.filter(|contact| !contact.is_empty());
    let url = contact.clone().filter(|contact| contact.contains("://"));
    let provider = view.owner.filter(|owner| !owner.is_empty()).map(|name| Provider {
        name: name.into(),
        url: url.as_deref().map(Into::into),
        contact: contact.as_deref().filter(|_| url.is_none()).map(Into::into),
    });
    let digests: Vec<&[u8]> = skills.iter().map(|skill| skill.digest.0.as_slice()).collect();
    let source = CardSource { from: CardFrom::Manifest, digest: interlingua_model::Digest::of_fields(digests) };
    let card = Card {
        peer,
        title: view.name.into(),
        description: view.description.into(),
        version: view.version.into(),
        class: RouteClass::Agent,
        provider,
        skills,
        resources: Vec::new(),
        sources: vec![source],
        health: Health::Starting,
        telemetry: None,
        seen: now,
        raw: None,
    };
    let contact = contact.map(Into::into);
    Ok(Registration { owner: by.owner(), card, reach: Reach::Inbox, contact, meta: Meta(view.metadata), at: now })
}

/// What an agent claims of its effects is not known, so it may do anything.
fn skill(peer: &PeerId, capability: &CapabilityView, version: &str) -> Result<Skill, Fault> {
    let name = &capability.name;
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(letter) {
        return Err(wrong("/capabilities", "have names of 1 to 64 letters, digits, '-', '_' and '.'"));
    }
    let schema =
        |given| shorthand::schema(given).ok_or_else(|| wrong("/capabilities", "have schemas that are objects"));
    let input: Schema = schema(&capability.input_schema)?;
    let id = SkillId::new(peer.clone(), name.as_str());
    let mut skill = Skill::new(id, SkillKind::Tool, capability.description.as_str(), input, Effects::unknown());
    skill.output = capability.output_schema.as_ref().map(schema).transpose()?;
    skill.version = version.into();
    skill.tags = match capability.tags.as_slice() {
        [] => vec![name.as_str().into()],
        tags => tags.iter().map(|tag| tag.as_str().into()).collect(),
    };
    Ok(skill.sealed())
}

fn no_such_agent() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "no such agent")
}
