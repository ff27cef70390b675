//! List of sites: the peers of the hub that the caller may call.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::Asked;
use crate::discover::{self, Site};
use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use interlingua_model::{Fault, Principal, Text};

use crate::refusal::NlwebErrors;
use interlingua_endpoint::Shared;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_net::connection::Connection;

/// How many skills a search looks at, and how many sites it names.
const RANKED: usize = 200;
const NAMED: usize = 10;

/// Peers with at least one skill that this principal may see, by name.
fn visible(shared: &Shared, by: &Principal) -> BTreeMap<String, Site> {
    let site =
        |(name, description): (String, Text)| (name.clone(), Site { name, description: description.to_string() });
    shared.hub.peers_seen_by(by).into_iter().map(site).collect()
}

pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
) -> Response {
    match shared.authenticate(&connection, &headers, &[]) {
        Ok(by) => {
            let sites: Vec<Site> = visible(&shared, &by).into_values().collect();
            error_format::json(200, discover::sites(&sites).to_string().into())
        }
        Err(fault) => NlwebErrors.refuse(&fault),
    }
}

/// Where the doors are. Says nothing of peers: anyone may read it.
pub(super) async fn about(State(shared): State<Arc<Shared>>) -> impl IntoResponse {
    let text = discover::about(&shared.hub.settings().name);
    ([(CONTENT_TYPE, "text/plain; charset=utf-8")], text)
}

/// Which sites fit a question, by what their skills say of themselves.
pub(super) async fn who(shared: &Shared, connection: &Connection, headers: &HeaderMap, asked: &Asked) -> Response {
    let found = async {
        let by = shared.authenticate(connection, headers, &[])?;
        ranked(shared, &by, &asked.text).await
    };
    match found.await {
        Ok(found) => {
            let id = asked.query_id.as_deref().unwrap_or_default();
            error_format::json(200, discover::who(id, &found).to_string().into())
        }
        Err(fault) => NlwebErrors.refuse(&fault),
    }
}

async fn ranked(shared: &Shared, by: &Principal, words: &str) -> Result<Vec<(Site, f64)>, Fault> {
    let mut sites = visible(shared, by);
    let hits = shared.hub.search_skills(words, RANKED).await?;
    let mut found = Vec::new();
    for hit in hits {
        let peer = hit.skill.split_once('/').map_or(&*hit.skill, |(peer, _)| peer);
        // The best skill of a site is its place.
        if let Some(site) = sites.remove(peer) {
            let down = f64::from(u32::try_from(found.len()).unwrap_or(u32::MAX));
            found.push((site, 100.0 - 5.0 * down));
        }
        if found.len() == NAMED {
            break;
        }
    }
    Ok(found)
}
