//! `/api/session`: sessions of browsers, and the tickets that begin them.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::header::{CONTENT_TYPE, ORIGIN, SET_COOKIE};
use http::request::Parts;
use http::{HeaderValue, Method, StatusCode};
use interlingua_model::{Fault, FaultKind, Feature, Principal, Subject};

use super::{Answered, Asker, Refusal, Visitor, answer, decode, nothing};
use crate::Endpoint;
use crate::view::{HubView, RightsView, SessionView, SignInRequest, SignInView, TicketView};
use interlingua_access::Shown;
use interlingua_access::sessions::{Cookie, Credential, SessionEnds, SignIn, is_session, named};
use interlingua_endpoint::Shared;
use interlingua_hub::audit::AuditLine;
use interlingua_net::body;
use interlingua_net::connection::From;

/// No token is longer.
const LONGEST: u64 = 16 * 1024;
/// The path whose own method ends a session, also where a session changes nothing else.
pub(super) const PATH: &str = "/api/session";

/// What a session must show beyond itself to change something. A page of another origin cannot: the guard refuses a foreign
/// `Origin`, and a browser sends one of these headers with every such request of the page itself.
pub(super) fn check_change(shared: &Shared, parts: &Parts) -> Result<(), Fault> {
    if parts.method.is_safe() {
        return Ok(());
    }
    let own = parts.headers.get("sec-fetch-site").is_some_and(|site| site == "same-origin");
    if !own && !parts.headers.contains_key(ORIGIN) {
        return Err(Fault::caller(FaultKind::Denied, "a session changes something only from the console's own page"));
    }
    let json = |media: &HeaderValue| media.to_str().is_ok_and(|media| media.starts_with("application/json"));
    if !parts.headers.get(CONTENT_TYPE).is_none_or(json) {
        let kind = FaultKind::Unsupported(Feature::Media);
        return Err(Fault::caller(kind, "a session sends application/json"));
    }
    let ends = parts.method == Method::DELETE && parts.uri.path() == PATH;
    if shared.access.session_rules().read_only && !ends {
        return Err(Fault::caller(FaultKind::Denied, "the console of this hub is read-only"));
    }
    Ok(())
}

pub(super) async fn ticket(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    let known = asker.shown.known_by();
    let made = shared.access.ticket(known, &asker.by, shared.hub.now());
    let line = AuditLine::new("ticket", asker.by.owner().to_string()).on("console");
    shared.hub.write_audit(match &made {
        Ok(_) => line,
        Err(fault) => line.refused(fault.kind),
    });
    let (ticket, expires) = made?;
    let url = format!(
        "{}/console/",
        shared.hub.reached().map_or_else(String::new, |url| url.trim_end_matches('/').to_owned())
    );
    answer(StatusCode::CREATED, &TicketView { ticket, expires: expires.to_string(), url }).map(unstored)
}

pub(super) async fn begin(State(shared): State<Arc<Endpoint>>, visitor: Visitor, body: Body) -> Answered {
    let bytes = body::read(body, LONGEST).await?;
    let request: SignInRequest = decode::body(bytes, shared.bounds().depth).await?;
    let credential = match (&request.ticket, &request.token) {
        (Some(ticket), None) => Credential::Ticket(ticket),
        (None, Some(token)) => Credential::Token(token),
        (None, None) | (Some(_), Some(_)) => {
            return Err(Fault::caller(FaultKind::InvalidInput, "sign in with either `ticket` or `token`").into());
        }
    };
    let from = match visitor.connection.from {
        From::LocalSocket => None,
        From::Elsewhere(address) => Some(address.ip()),
    };
    let signed = shared.access.sign_in(&shared.hub, credential, request.subject.as_deref(), from).await;
    match signed {
        Ok(SignIn::Confirm(subject)) => {
            answer(StatusCode::OK, &SignInView { confirm: Some(subject.to_string()), key: None }).map(unstored)
        }
        Ok(SignIn::Done(signed, by)) => {
            shared.hub.write_audit(AuditLine::new("sign_in", by.owner().to_string()).on("console"));
            let view = SignInView { confirm: None, key: Some(signed.key) };
            let mut response = unstored(answer(StatusCode::CREATED, &view)?);
            set_cookie(&mut response, &cookie(&shared, &visitor.base).set(&signed.cookie))?;
            Ok(response)
        }
        Err(fault) => {
            let line = AuditLine::new("sign_in", Subject::Anonymous).on("console");
            shared.hub.write_audit(line.refused(fault.kind));
            Err(fault.into())
        }
    }
}

/// A request without a session or a credential has nothing to read or to end here.
fn check_signed_in(asker: &Asker) -> Result<(), Fault> {
    if asker.by.is_anonymous() {
        return Err(Fault::caller(FaultKind::Unauthenticated, "nobody is signed in here"));
    }
    Ok(())
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    check_signed_in(&asker)?;
    let ends = asker.shown.session().and_then(|session| shared.access.used(session, shared.hub.now()));
    answer(StatusCode::OK, &view(&shared, &asker, ends)).map(unstored)
}

pub(super) async fn end(State(shared): State<Arc<Endpoint>>, asker: Asker) -> Answered {
    check_signed_in(&asker)?;
    if let Some(session) = asker.shown.session() {
        shared.access.sign_out(&shared.hub, session).await?;
        shared.hub.write_audit(AuditLine::new("sign_out", asker.by.owner().to_string()).on("console"));
    }
    let mut response = unstored(nothing());
    set_cookie(&mut response, &cookie(&shared, &asker.base).removed())?;
    Ok(response)
}

fn view(shared: &Endpoint, asker: &Asker, ends: Option<SessionEnds>) -> SessionView {
    let (hub, by) = (&shared.hub, &asker.by);
    let owner = by.is_hub_owner();
    SessionView {
        subject: by.links().first().map(|link| link.subject.to_string()).unwrap_or_default(),
        chain: by.links().iter().map(|link| link.subject.to_string()).collect(),
        proof: if is_session(by) { "console" } else { "credential" }.to_owned(),
        until: ends.map(|ends| ends.until.to_string()),
        idle_until: ends.map(|ends| ends.idle_until.to_string()),
        may: RightsView {
            owner,
            approve: hub.may_approve(by),
            register: hub.may_register(by),
            observe: owner,
            operate: owner,
        },
        read_only: shared.access.session_rules().read_only,
        hub: HubView {
            id: hub.id().to_string(),
            name: hub.settings().name.to_string(),
            url: asker.base.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            build: shared.own.build.clone(),
            started: shared.own.started.to_string(),
            now: hub.now().to_string(),
        },
    }
}

fn cookie(shared: &Shared, base: &str) -> Cookie {
    named(&shared.hub.id().to_string(), base)
}

fn set_cookie(response: &mut Response, cookie: &str) -> Result<(), Refusal> {
    let value = HeaderValue::from_str(cookie).map_err(Fault::internal)?;
    response.headers_mut().insert(SET_COOKIE, value);
    Ok(())
}

/// Nobody keeps this answer, a page that comes back from a cache neither.
pub(super) fn unstored(mut response: Response) -> Response {
    let value = HeaderValue::from_static("no-store");
    response.headers_mut().insert(http::header::CACHE_CONTROL, value);
    response
}

/// Who this is by a session counts as used with this request.
pub(super) fn note_use(shared: &Shared, shown: &Shown, by: &Principal) {
    if let (true, Some(session)) = (is_session(by), shown.session()) {
        shared.access.used(session, shared.hub.now());
    }
}
