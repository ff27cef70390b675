//! `/api/audit`: the audit log, as lines for people, and as the original records for verification.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use http::{StatusCode, Uri};

use super::page::{self, Paged};
use super::{Answered, Asker, answer, decode};
use crate::Endpoint;
use crate::view::{
    AuditForgetRequest, AuditForgottenView, AuditKeyView, AuditPagesView, AuditRecordView, AuditView, PageView,
};
use interlingua_net::body;

/// A request is a name.
const LONGEST: u64 = 64 * 1024;

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let before = query.after.as_deref().map(|after| after.parse().map_err(|_| page::bad_cursor())).transpose()?;
    let lines = shared.hub.audit_lines(&asker.by, before, query.limit()).await?;
    // The first line has the number 1.
    let next = lines.last().filter(|(seq, _)| *seq > 1).map(|(seq, _)| seq.to_string());
    let items = lines.iter().map(|(seq, line)| AuditView::new(*seq, line)).collect();
    answer(StatusCode::OK, &PageView::<AuditView> { items, next })
}

/// The first page comes with a checkpoint over all there is by then.
pub(super) async fn pages(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let hub = &shared.hub;
    let after = query.after.as_deref().map(|after| after.parse().map_err(|_| page::bad_cursor())).transpose()?;
    let (checkpoint, keys) = match after {
        None => (hub.audit_checkpoint(&asker.by).await?, hub.audit().keys()),
        Some(_) => (None, Vec::new()),
    };
    let found = hub.audit_pages(&asker.by, after.unwrap_or(0), query.limit()).await?;
    let next = found.last().map(|(record, _)| record.to_string());
    let items = found.into_iter().map(|(record, page)| AuditRecordView { record, page }).collect();
    let mut keys = keys.iter().map(|half| AuditKeyView { id: half.id().to_string(), public: half.public.to_string() });
    let (key, older) = (keys.next(), keys.collect());
    answer(StatusCode::OK, &AuditPagesView { key, older, checkpoint, items, next })
}

pub(super) async fn forget(State(shared): State<Arc<Endpoint>>, asker: Asker, body: Body) -> Answered {
    let bytes = body::read(body, shared.bounds().body.min(LONGEST)).await?;
    let request: AuditForgetRequest = decode::body(bytes, shared.bounds().depth).await?;
    let forgotten = shared.hub.forget_in_audit(&asker.by, &request.who).await?;
    answer(StatusCode::OK, &AuditForgottenView { forgotten })
}
