//! `/api/sites/sessions`: stored logins of driven websites, for their owners. `/api/sites/pages`: the pages that calls use now, to be
//! watched.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::IntoResponse;
use http::{StatusCode, Uri, header};

use super::page::{self, Paged};
use super::{Answered, Asker, answer, nothing};
use crate::Endpoint;
use crate::view::{PageView, SitePageView, SitePagesView, SiteSessionView};

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

pub(super) async fn pages(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    let items = shared.own.sites.pages(&asker.by).into_iter().map(SitePageView::from).collect();
    answer(StatusCode::OK, &SitePagesView { items })
}

/// The picture as it is now. A page is drawn by a website: its picture is nothing but a picture, and nobody stores it.
pub(super) async fn picture(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let picture = shared.own.sites.picture(&asker.by, &id).await?;
    let headers = [
        (header::CONTENT_TYPE, "image/jpeg"),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, picture).into_response())
}
