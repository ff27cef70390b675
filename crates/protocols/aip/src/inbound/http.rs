//! The small HTTP interface of the Python server, with the same answers: connected clients, a task for a device, the result of a task.
//!
//! A task may also name any peer of the hub: it is then opened here, and its result is found by its name all the same.

use std::sync::Arc;

use crate::link::Tongue;
use crate::safe_task_name;
use crate::server::Asked;
use crate::wire::{ClientKind, ClientMessage, ClientType, Status};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Extension, Router};
use http::HeaderMap;
use interlingua_model::json::object;
use interlingua_model::{FaultKind, Json, PeerId, Principal, SkillId, Subject, Text, uuid_v4};
use interlingua_wire::members::Members;
use serde_json::{Value, json};

use super::entry::{self, Pass};
use crate::Endpoint;
use crate::discover::DO;
use crate::server_runtime::task;
use crate::settings::KeyOf;
use crate::{PROTOCOL, visibility};
use interlingua_endpoint::error_format;
use interlingua_hub::audit::AuditLine;
use interlingua_hub::entropy;
use interlingua_hub::policy::Action;
use interlingua_net::connection::Connection;
use interlingua_net::{body, large};

const KEY: &str = "x-api-key";
/// No task told here is longer.
const LONGEST: u64 = 2 * 1024 * 1024;

pub fn routes() -> Router<Arc<Endpoint>> {
    Router::new()
        .route("/api/clients", get(clients))
        .route("/api/health", get(health))
        .route("/api/dispatch", post(dispatch))
        .route("/api/task_result/{name}", get(task_result))
}

fn answer(status: u16, body: &Value) -> Response {
    error_format::json(status, body.to_string().into())
}

fn detail(status: u16, text: &str) -> Response {
    answer(status, &json!({"detail": text}))
}

/// As the Python server: no key is 422, a wrong one 401. Without a configured key the hub's own user needs none.
fn admit(shared: &Endpoint, connection: &Connection, headers: &HeaderMap) -> Result<Principal, Box<Response>> {
    let settings = shared.own.settings();
    let wrong = || Box::new(detail(401, "Invalid API key"));
    if let Some(key) = headers.get(KEY) {
        return match entry::by_token(shared, &settings, key.as_bytes()) {
            Ok(Pass::Known(by)) => Ok(by),
            Ok(Pass::Key(KeyOf::Everybody)) => Ok(entry::keyed(Subject::Orchestrator(PROTOCOL.into()), "*")),
            Ok(Pass::Key(KeyOf::Device(_))) | Err(_) => Err(wrong()),
        };
    }
    let by = shared.access.transport(connection, headers, shared.hub.now()).map_err(|_| wrong())?;
    let named = headers.contains_key(http::header::AUTHORIZATION);
    if by.is_anonymous() || (settings.has_key() && !named) {
        let missing =
            json!({"type": "missing", "loc": ["header", "X-API-Key"], "msg": "Field required", "input": null});
        return Err(Box::new(answer(422, &json!({"detail": [missing]}))));
    }
    Ok(by)
}

/// Those that may be known to whoever asks.
fn online(shared: &Endpoint, by: &Principal) -> Vec<String> {
    shared.own.clients(&shared.hub, by).iter().map(ToString::to_string).collect()
}

async fn clients(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
) -> Response {
    match admit(&shared, &connection, &headers) {
        Ok(by) => answer(200, &json!({"online_clients": online(&shared, &by)})),
        Err(refusal) => *refusal,
    }
}

async fn health(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
) -> Response {
    match admit(&shared, &connection, &headers) {
        Ok(by) => answer(200, &json!({"status": "healthy", "online_clients": online(&shared, &by)})),
        Err(refusal) => *refusal,
    }
}

async fn task_result(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    Path(name): Path<String>,
) -> Response {
    let by = match admit(&shared, &connection, &headers) {
        Ok(by) => by,
        Err(refusal) => return *refusal,
    };
    match shared.own.result(&by, &name) {
        None => answer(200, &json!({"status": "pending"})),
        Some(result) => answer(200, &object([("status", "done".into()), ("result", result.tree().clone())])),
    }
}

async fn dispatch(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let by = match admit(&shared, &connection, &headers) {
        Ok(by) => by,
        Err(refusal) => return *refusal,
    };
    let body = match body::read(body, shared.bounds().body.min(LONGEST)).await {
        Ok(body) => body,
        Err(fault) => return shared.default_format().refuse(&fault),
    };
    let said = match large::worked(body.len(), || Json::parse_within(body, shared.bounds().depth)).await {
        Ok(json) if json.is_object() => Members::of(&json),
        Ok(_) | Err(_) => return detail(422, "Input should be a valid dictionary"),
    };
    let text = |key: &str| said.text(key).filter(|text| !text.is_empty()).map(|text| Text::from(&*text));
    let Some(request) = text("request") else { return detail(400, "Empty task content") };
    let Some(client) = text("client_id") else { return detail(400, "Empty client ID") };
    let task_name = match said.has("task_name") {
        false => uuid_v4(entropy::bits()).into(),
        true => match text("task_name").filter(|name| safe_task_name(Some(name), 0) == *name) {
            Some(name) => name,
            None => {
                let rule = "must be a non-empty string of characters [A-Za-z0-9._-] and must not start with '.'";
                return detail(400, &format!("Invalid task_name: {rule}"));
            }
        },
    };
    let session: Text = uuid_v4(entropy::bits()).into();
    let told = json!({
        "status": "dispatched", "task_name": &*task_name, "client_id": &*client, "session_id": &*session,
    });
    if shared.own.has_device(&client) && may_tell(&shared, &by, &client, &request) {
        shared.own.announce(&by, client, session, task_name, request);
    } else if is_peer(&shared, &by, &client) {
        open(&shared, by, connection.id, Task { session, target: client, task_name, request });
    } else {
        return detail(404, "Client not online");
    }
    answer(200, &told)
}

/// A peer that is no device and may be known to whoever asks.
fn is_peer(shared: &Endpoint, by: &Principal, name: &str) -> bool {
    let peer = PeerId::from(name);
    let known = shared.hub.catalogue().peers.contains_key(&peer) && !shared.own.registrar.is_device(name);
    known && visibility::sees(&shared.hub, by, &peer)
}

/// What a device is told it does in its own name, so whoever has it told must be one who may tell it. One that may not be told
/// is not there.
fn may_tell(shared: &Endpoint, by: &Principal, device: &str, request: &str) -> bool {
    let hub = &shared.hub;
    let Some(peer) = shared.own.registrar.name(device) else { return by.is_hub_owner() };
    let (id, catalogue) = (SkillId::new(peer.as_str(), DO), hub.catalogue());
    let Some(skill) = catalogue.skill(&id, None) else { return by.is_hub_owner() };
    let args = Json::from_tree(json!({ "request": request }));
    let decision = hub.explain(by, Action::Call, skill, Some(PROTOCOL), Some(&args));
    let line = AuditLine::new("authorize", by.owner()).on(&id);
    hub.write_audit(if decision.allows() { line } else { line.refused(FaultKind::Denied) });
    decision.allows()
}

struct Task {
    session: Text,
    target: Text,
    task_name: Text,
    request: Text,
}

/// A task for a peer that is no device: nobody is connected who would ask for it.
fn open(shared: &Arc<Endpoint>, by: Principal, connection: u64, task: Task) {
    let mut message = ClientMessage::new(ClientKind::Task, Status::Continue, ClientType::Constellation);
    message.request = Some(task.request);
    let asked = Asked {
        session: task.session,
        asker: "".into(),
        asker_role: ClientType::Constellation,
        tongue: Tongue::Plain,
        target: task.target,
        task_name: task.task_name,
        message,
    };
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let following = task::follow(shared.own.clone(), shared.hub.clone(), asked, by, connection, stopped);
    shared.hub.spawn(async move {
        following.await;
        drop(stop);
    });
}
