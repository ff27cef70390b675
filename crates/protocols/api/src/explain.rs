//! `/api/explain`: explains an authorization decision. Only for the hub's Owner: an answer reveals skills and rules that others are not
//! shown.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use http::StatusCode;
use interlingua_model::policy::Action;
use interlingua_model::{Fault, FaultKind, Link, Noun, Owner, Principal, Proof, SkillId, Subject, Text};

use super::{Answered, Asker, answer, decode};
use crate::Endpoint;
use crate::view::{ExplainRequest, ExplainView};
use interlingua_endpoint::Shared;
use interlingua_net::body;

/// A question is short, but for its arguments.
const LONGEST: u64 = 1024 * 1024;

pub(super) async fn explain(State(shared): State<Arc<Endpoint>>, asker: Asker, body: Body) -> Answered {
    if !asker.by.is_hub_owner() {
        return Err(Fault::caller(FaultKind::Denied, "only the hub's Owner asks this").into());
    }
    let bytes = body::read(body, shared.bounds().body.min(LONGEST)).await?;
    let request: ExplainRequest = decode::body(bytes, shared.bounds().depth).await?;
    let by = principal(&shared, &request.principal)?;
    let action = Action::parse(&request.action)
        .filter(|action| !matches!(action, Action::Write | Action::Register))
        .ok_or_else(|| invalid("/action", "one of list, call, read, approve"))?;
    let id: SkillId = request.resource.parse().map_err(|_| invalid("/resource", "a skill, as peer/skill"))?;
    let (hub, catalogue) = (&shared.hub, shared.hub.catalogue());
    let none = || Fault::caller(FaultKind::NotFound(Noun::Skill), format!("no skill '{id}'"));
    let skill = catalogue.skill(&id, None).ok_or_else(none)?;
    let (wire, args) = (request.protocol.as_deref(), request.arguments.as_ref());
    let decide = |by: &Principal| hub.explain(by, action, skill, wire, args);
    let decision = decide(&by);
    let refused = by.links().iter().find(|link| !decide(&Principal::new((*link).clone())).allows());
    let view = ExplainView {
        allowed: decision.allows(),
        because: decision.because.iter().map(ToString::to_string).collect(),
        refused_by: refused.map(|link| link.subject.to_string()),
    };
    answer(StatusCode::OK, &view)
}

fn invalid(field: &'static str, expected: &'static str) -> Fault {
    Fault::caller(FaultKind::InvalidInput, format!("'{}' must be {expected}", &field[1..])).field(field, expected)
}

/// A chain as the audit writes it, with what is known of its links: a caller's scopes are those of its token.
fn principal(shared: &Shared, text: &str) -> Result<Principal, Fault> {
    let expected = "user:NAME, agent:NAME, device:ID, orchestrator:ID, hub:ID, anonymous or owner, joined by '>'";
    let unknown = || invalid("/principal", expected);
    let owner: Owner = text.trim().parse().map_err(|_| unknown())?;
    let mut links = owner.0.iter().map(|subject| link(shared, subject.clone()));
    let first = links.next().ok_or_else(unknown)?;
    Ok(links.fold(Principal::new(first), |chain, link| chain.through(link)))
}

fn link(shared: &Shared, subject: Subject) -> Link {
    if let Some(grant) = shared.access.granted(&subject) {
        return Link { subject, proof: Proof::Token, scopes: grant.scopes, until: grant.until };
    }
    // Who is known by other means reaches everything: rules decide.
    let scopes: Vec<Text> = if subject == Subject::Anonymous { Vec::new() } else { vec!["*".into()] };
    Link { subject, proof: Proof::None, scopes, until: None }
}
