//! `/api/keys`: lists and rotates the keys of the hub. Only for its Owner.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use interlingua_model::ports::Counts;
use interlingua_model::{Fault, FaultKind};
use tokio::sync::oneshot;

use super::{Answered, Asker, Refusal, answer, decode};
use crate::Endpoint;
use crate::view::{KeyView, KeysView, RotateRequest, Rotated};
use interlingua_endpoint::ports::{HeldKeys, Renewed};
use interlingua_hub::audit::AuditLine;
use interlingua_net::body;

const LONGEST: u64 = 1024;

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    owner_only(&asker)?;
    let counts = shared.own.keys.counts().await?;
    shown(StatusCode::OK, &shared, shared.own.keys.held(), &counts)
}

/// It is done when the keys are not listed any more.
pub(super) async fn take_out(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    owner_only(&asker)?;
    let begun = shared.own.keys.retire().await;
    let line = AuditLine::new("retire", asker.by.owner().to_string()).on("old keys");
    shared.hub.write_audit(match &begun {
        Ok(_) => line,
        Err(fault) => line.refused(fault.kind),
    });
    shown(StatusCode::ACCEPTED, &shared, begun?, &Counts::new())
}

pub(super) async fn rotate(State(shared): State<Arc<Endpoint>>, asker: Asker, body: Body) -> Answered {
    owner_only(&asker)?;
    let bytes = body::read(body, LONGEST).await?;
    let request: RotateRequest = decode::body(bytes, shared.bounds().depth).await?;
    let (told, done) = oneshot::channel();
    let (all, by) = (shared.clone(), asker.by.owner().to_string());
    // On its own: whoever hangs up half way leaves no key half changed.
    shared.hub.spawn(async move { drop(told.send(changed(&all, request.what, by).await)) });
    let held = done.await.map_err(Fault::internal)??;
    shown(StatusCode::OK, &shared, held, &Counts::new())
}

async fn changed(shared: &Endpoint, what: Rotated, by: String) -> Result<HeldKeys, Fault> {
    let (what, object) = match what {
        Rotated::Key => (Renewed::Key, "key"),
        Rotated::OwnerToken => (Renewed::OwnerToken, "owner token"),
        Rotated::AuditKey => (Renewed::AuditKey, "audit key"),
    };
    let done = shared.own.keys.rotate(what).await;
    let line = AuditLine::new("rotate", by).on(object);
    shared.hub.write_audit(match &done {
        Ok(_) => line,
        Err(fault) => line.refused(fault.kind),
    });
    done
}

fn owner_only(asker: &Asker) -> Result<(), Refusal> {
    if asker.by.is_hub_owner() {
        return Ok(());
    }
    Err(Fault::caller(FaultKind::Denied, "only the hub's Owner asks this").into())
}

/// `counts`: what each seals, where that was counted.
fn shown(status: StatusCode, shared: &Endpoint, held: HeldKeys, counts: &Counts) -> Result<Response, Refusal> {
    let view = KeysView {
        encrypted: held.outer.is_some(),
        keys: held.ring.into_iter().map(|key| KeyView::from(key).sealing(counts)).collect(),
        retiring: held.retiring,
        outer: held.outer.unwrap_or_default().into_iter().map(KeyView::from).collect(),
        audit: shared.hub.audit().keys().into_iter().map(KeyView::from).collect(),
    };
    answer(status, &view)
}
