//! `/api/sessions`: sessions of the routing envelope, for their owners.

use std::sync::Arc;

use axum::extract::{Path, State};
use http::{StatusCode, Uri};
use interlingua_model::{Fault, FaultKind, Noun};

use super::page::{self, Paged};
use super::{Answered, Asker, answer};
use crate::Endpoint;
use crate::view::{PageView, RoutedSessionView};

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let found = shared.own.routed.list(&asker.by, query.after.as_deref(), query.limit()).await?;
    let items = found.items.into_iter().map(RoutedSessionView::from).collect();
    answer(StatusCode::OK, &PageView { items, next: found.next })
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let found = shared.own.routed.read(&asker.by, &id).await?;
    let none = || Fault::caller(FaultKind::NotFound(Noun::Resource), "no such session");
    answer(StatusCode::OK, &RoutedSessionView::from(found.ok_or_else(none)?))
}
