//! `/api/sites/sessions`: stored logins of driven websites, for their owners.

use std::sync::Arc;

use axum::extract::{Path, State};
use http::{StatusCode, Uri};

use super::page::{self, Paged};
use super::{Answered, Asker, answer, nothing};
use crate::Endpoint;
use crate::view::{PageView, SiteSessionView};

pub(super) async fn sessions(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let mut views: Vec<_> = shared.own.sites.list(&asker.by).await.into_iter().map(SiteSessionView::from).collect();
    views.sort_by(|a, b| a.id.cmp(&b.id));
    let after = query.after.as_deref().unwrap_or_default();
    let rest = views.into_iter().filter(|view| view.id.as_str() > after);
    let (items, next) = page::cut(rest, query.limit(), |view| view.id.clone());
    answer(StatusCode::OK, &PageView { items, next })
}

pub(super) async fn end(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    shared.own.sites.end(&asker.by, &id).await?;
    Ok(nothing())
}
