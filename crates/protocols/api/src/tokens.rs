//! `/api/tokens`: lists, creates and revokes access tokens that the hub stores. Only for its Owner.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use http::StatusCode;
use interlingua_model::{Digest, Fault, FaultKind};
use tokio::sync::oneshot;

use super::{Answered, Asker, Refusal, answer, decode, nothing};
use crate::Endpoint;
use crate::view::{TokenMadeView, TokenRequest, TokenView, TokensView};
use interlingua_access::tokens::{self, Kept};
use interlingua_hub::audit::AuditLine;
use interlingua_net::body;

const LONGEST: u64 = 64 * 1024;

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    owner_only(&asker)?;
    let items = tokens::list(&shared.hub).await?.into_iter().map(TokenView::from).collect();
    answer(StatusCode::OK, &TokensView { items })
}

pub(super) async fn create(State(shared): State<Arc<Endpoint>>, asker: Asker, body: Body) -> Answered {
    owner_only(&asker)?;
    let bytes = body::read(body, LONGEST).await?;
    let request: TokenRequest = decode::body(bytes, shared.bounds().depth).await?;
    let wanted = wanted(request)?;
    let line = AuditLine::new("create", asker.by.owner().to_string()).on(format!("token of {}", wanted.name));
    let (told, done) = oneshot::channel();
    let all = shared.clone();
    // On its own: whoever hangs up half way leaves no token that is kept and does not count.
    shared.hub.spawn(async move {
        drop(told.send(tokens::create(&all.hub, &all.access, wanted).await));
    });
    let made = done.await.map_err(Fault::internal)?;
    shared.hub.write_audit(match &made {
        Ok(_) => line,
        Err(fault) => line.refused(fault.kind),
    });
    let (kept, token) = made?;
    let expires = kept.expires.map(|expires| expires.to_string());
    answer(StatusCode::CREATED, &TokenMadeView { name: kept.name, token, expires })
}

pub(super) async fn revoke(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(name): Path<String>) -> Answered {
    owner_only(&asker)?;
    let line = AuditLine::new("revoke", asker.by.owner().to_string()).on(format!("token of {name}"));
    let (told, done) = oneshot::channel();
    let all = shared.clone();
    shared.hub.spawn(async move {
        drop(told.send(tokens::revoke(&all.hub, &all.access, &name).await));
    });
    let gone = done.await.map_err(Fault::internal)?;
    shared.hub.write_audit(match &gone {
        Ok(()) => line,
        Err(fault) => line.refused(fault.kind),
    });
    gone?;
    Ok(nothing())
}

fn wanted(request: TokenRequest) -> Result<Kept, Fault> {
    let wrong = |problem: &'static str| Fault::caller(FaultKind::InvalidInput, problem).field("/expires", problem);
    let expires = request.expires.as_deref().map(interlingua_access::settings::expiry).transpose().map_err(wrong)?;
    let TokenRequest { name, skills, roles, approve, register, .. } = request;
    let skills = if skills.is_empty() { vec!["*".to_owned()] } else { skills };
    Ok(Kept { name, sha256: Digest::of(b""), skills, roles, approve, register, expires })
}

fn owner_only(asker: &Asker) -> Result<(), Refusal> {
    if asker.by.is_hub_owner() {
        return Ok(());
    }
    Err(Fault::caller(FaultKind::Denied, "only the hub's Owner asks this").into())
}
