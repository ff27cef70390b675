//! Sign-in pages: one names the peer and leads to its authorization server, one shows the result; and the document that describes the hub
//! as a client.
//!
//! A person who opens a link is shown for whom it was made before anything happens: a link from an attacker would connect the visitor's
//! account to the attacker.

use std::sync::Arc;

use axum::extract::{Extension, Path, RawQuery, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Router, response};
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, REFERRER_POLICY, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use interlingua_model::Subject;
use interlingua_wire::oauth::callback::Callback;
use interlingua_wire::oauth::client;

use crate::Shared;
use crate::html::escaped;
use interlingua_hub::audit::AuditLine;
use interlingua_net::client::oauth::ReturnAddress;
use interlingua_net::connection::Connection;

const NAME: &str = "interlingua-sign-in";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .route("/oauth/start/{ticket}", get(start))
        .route("/oauth/callback", get(common_callback))
        .route("/oauth/callback/{mark}", get(callback))
        .route("/oauth/client.json", get(common_document))
        .route("/oauth/clients/{mark}", get(document))
}

/// Shows the purpose, and links to the authorization server.
async fn start(
    State(shared): State<Arc<Shared>>,
    Extension(connection): Extension<Connection>,
    Path(ticket): Path<String>,
) -> Response {
    let Some(start) = shared.sign_ins.start(&ticket) else { return over() };
    let peer = escaped(start.sign_in.peer.as_str());
    let whom = match &start.sign_in.owner {
        Some(owner) => format!("<b>{}</b> only", escaped(&owner.to_string())),
        None => "<b>everybody</b> who may call it through this hub".to_owned(),
    };
    let text = format!(
        "<p>The hub {} will use your account at <b>{peer}</b>, for {whom}.</p>\
         <p>Go on only if you asked for this yourself. If somebody sent you this link, close this page.</p>\
         <p><a rel=\"noreferrer\" href=\"{}\">Go on and sign in</a></p>",
        escaped(&shared.hub.settings().name),
        escaped(&start.authorize),
    );
    let secure = if connection.encrypted { "; Secure" } else { "" };
    let cookie = format!("{NAME}={}; Path=/oauth; HttpOnly; SameSite=Lax; Max-Age=600{secure}", start.cookie);
    let mut response = page(StatusCode::OK, &format!("Sign in to {peer}"), &text);
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

async fn common_callback(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery, headers: HeaderMap) -> Response {
    finish(&shared, ReturnAddress::Common, query.as_deref(), &headers).await
}

async fn callback(
    State(shared): State<Arc<Shared>>,
    Path(mark): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let Some(returns_by) = ReturnAddress::parse(&mark) else { return over() };
    finish(&shared, returns_by, query.as_deref(), &headers).await
}

/// Receives the answer of the authorization server.
async fn finish(shared: &Shared, came_by: ReturnAddress, query: Option<&str>, headers: &HeaderMap) -> Response {
    let Ok(callback) = Callback::decode(query.unwrap_or_default()) else { return over() };
    let arrived = (callback, came_by);
    let Some(finished) = shared.sign_ins.finish(arrived, cookie(headers)).await else { return over() };
    let line = AuditLine::new("sign-in", Subject::Anonymous);
    match finished {
        Ok(peer) => {
            shared.hub.write_audit(line.on(peer.as_str()));
            let text =
                format!("<p>The hub may now use <b>{}</b>. You can close this page.</p>", escaped(peer.as_str()));
            page(StatusCode::OK, "Signed in", &text)
        }
        Err(problem) => {
            shared.hub.write_audit(line.outcome("refused"));
            let text = format!("<p>{}.</p><p>You can close this page.</p>", escaped(&problem.to_string()));
            page(StatusCode::BAD_REQUEST, "Not signed in", &text)
        }
    }
}

fn over() -> Response {
    let text = "<p>This link is not known, was used already, belongs to another browser or has expired. Ask for a new one.</p>";
    page(StatusCode::NOT_FOUND, "Not signed in", text)
}

async fn common_document(State(shared): State<Arc<Shared>>) -> Response {
    describe(&shared, &ReturnAddress::Common)
}

async fn document(State(shared): State<Arc<Shared>>, Path(mark): Path<String>) -> Response {
    match ReturnAddress::parse(&mark) {
        Some(returns_by) => describe(&shared, &returns_by),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// The hub as a client, for authorization servers that fetch its description (client id metadata documents).
fn describe(shared: &Shared, returns_by: &ReturnAddress) -> Response {
    let Some((at, redirect)) = shared.sign_ins.described(returns_by) else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let described = client::describe(&shared.hub.settings().name, &redirect, Some(&at));
    ([(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "max-age=3600")], described).into_response()
}

fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|list| list.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == NAME).map(|(_, value)| value)
}

/// No script, nothing from elsewhere, in no frame, in no cache; the next site does not learn the link.
fn page(status: StatusCode, title: &str, text: &str) -> Response {
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{title}</title><style>body{{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}}</style>\
         <h1>{title}</h1>{text}</html>"
    );
    let headers = response::AppendHeaders([
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    ]);
    (status, headers, Html(html)).into_response()
}
