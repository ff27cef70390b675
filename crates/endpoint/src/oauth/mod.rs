//! OAuth over HTTP, in both roles: [`sign_in`] has the pages for people who sign in for a peer; [`resource`] tells clients of the hub which
//! tokens it requires.
//!
//! Deliberately absent: issuing tokens. The hub's own tokens come from its configuration.

pub mod resource;
mod sign_in;

use std::sync::Arc;

use axum::Router;

use super::Shared;

pub fn routes(shared: Arc<Shared>) -> Router {
    Router::new().merge(sign_in::routes()).merge(resource::routes()).with_state(shared)
}

/// May a person come from another site's link? Only here, and only as navigation: a page that is shown, never data that is read.
pub fn is_visited(path: &str) -> bool {
    path == "/oauth/callback" || path.starts_with("/oauth/callback/") || path.starts_with("/oauth/start/")
}
