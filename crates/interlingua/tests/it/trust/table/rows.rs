//! Operations of a hub, one row each.

use http::Method;
use interlingua_a2a::grpc::service;
use interlingua_a2a::method::Method as Operation;
use interlingua_a2a::{Version, proto};
use serde_json::{Value, json};

use crate::trust::{WORD, call};

/// An id that nothing has.
const NONE: &str = "0123456789abcdef0123456789abcdef";

/// How a row is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Http,
    Grpc,
    Socket,
}

/// Who comes in where strangers are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Door {
    /// Whoever shows a credential that counts.
    Closed,
    /// Everybody: it says nothing that is somebody's.
    Open,
    /// A socket whose messages bring credentials of their own; a wrong one of the connection is refused all the same.
    PerMessage,
    /// As another protocol's servers refuse: without a key, and with a wrong one.
    Keyed { none: u16, wrong: u16 },
}

#[derive(Debug, Clone)]
pub(super) struct Row {
    /// As the router has it.
    pub(super) route: String,
    pub(super) way: Way,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<Value>,
    /// The message of gRPC.
    pub(super) bytes: Vec<u8>,
    pub(super) door: Door,
    /// Stands in the answer to whoever may, and in no other.
    pub(super) shows: Option<&'static str>,
    /// Who is let in hears for as long as it likes: there is no end to wait for.
    pub(super) endless: bool,
}

impl Row {
    fn new(route: &str, method: Method, path: &str, body: Option<Value>) -> Row {
        let (route, path) = (route.to_owned(), path.to_owned());
        let (way, door, headers) = (Way::Http, Door::Closed, Vec::new());
        Row { route, way, method, path, headers, body, bytes: Vec::new(), door, shows: None, endless: false }
    }

    fn get(path: &str) -> Row {
        Row::new(path, Method::GET, path, None)
    }

    fn post(path: &str, body: Value) -> Row {
        Row::new(path, Method::POST, path, Some(body))
    }

    fn at(self, path: &str) -> Row {
        Row { path: path.to_owned(), ..self }
    }

    fn open(self) -> Row {
        Row { door: Door::Open, ..self }
    }

    fn keyed(self, none: u16, wrong: u16) -> Row {
        Row { door: Door::Keyed { none, wrong }, ..self }
    }

    fn shows(self, text: &'static str) -> Row {
        Row { shows: Some(text), ..self }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Row {
        self.headers.push((name, value.into()));
        self
    }

    /// What is said for want of a credential that counts.
    pub(super) fn unauthenticated(&self) -> u16 {
        if self.way == Way::Grpc { 16 } else { 401 }
    }
}

pub(super) fn all(described: &Value) -> Vec<Row> {
    [open(), nlip(), mcp(), a2a(), aip(), nlweb(), api(described)].concat()
}

fn said(part: &Value) -> Value {
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [part]})
}

/// Things by name, of which there are none, or none for just anybody.
pub(super) fn named() -> Vec<Row> {
    let erase = || call("local/erase", &json!({}));
    let mut envelope = envelope();
    envelope["tool_calls"][0]["tool_name"] = json!("mcp__local__erase");
    let answer = json!({"format": "structured", "subformat": "json", "label": "interlingua-answer",
        "content": {"question": format!("{NONE}.1"), "answer": true}});
    let one = |route: &str, path: &str, body: Value| Row::post(route, body).at(path);
    let letters = |path: &str| Row::get("/api/messages").at(&format!("/api/messages?{path}"));
    let get_task = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": NONE}});
    vec![
        Row::post("/nlip", erase()),
        Row::post("/nlip", said(&answer)),
        one("/agents/{peer}/nlip", "/agents/local/nlip", erase()),
        one("/agents/{peer}/nlip", "/agents/none/nlip", erase()),
        Row::post("/nlip/route", envelope.clone()),
        one("/agents/{peer}/nlip/route", "/agents/local/nlip/route", envelope.clone()),
        one("/agents/{peer}/nlip/route", "/agents/none/nlip/route", envelope),
        Row::post("/ask", json!({"query": "erase", "site": "none", "streaming": false})),
        Row::post("/ask", json!({"query": "erase", "site": "none", "streaming": true})),
        Row::post("/ask", json!({"query": "erase", "site": ["none", "local"], "streaming": false})),
        one("/agents/{peer}/ask", "/agents/local/ask", json!({"query": "erase", "streaming": false})),
        Row::get("/agents/{peer}/.well-known/agent-card.json").at("/agents/local/.well-known/agent-card.json"),
        one("/agents/{peer}/a2a", "/agents/none/a2a", get_task).with("a2a-version", "1.0"),
        modern("/mcp/{view}", "/mcp/none", ("tools/list", None)),
        modern("/agents/{peer}/mcp", "/agents/local/mcp", ("tools/call", Some("name"))),
        with_tasks("tasks/get"),
        with_tasks("tasks/update"),
        with_tasks("tasks/cancel"),
        letters("agent=none"),
        letters("topic=none"),
        Row::post("/api/messages", json!({"message_type": "request", "to": "none", "content": {"text": WORD}})),
        Row::new("/api/messages/{id}", Method::DELETE, &format!("/api/messages/{NONE}?agent=none"), None),
        Row::post("/api/exchanges", json!({"skill": "local/erase", "arguments": {}})),
        Row::post("/api/exchanges", json!({"peer": "none", "words": "erase"})),
        Row::post("/api/tasks", json!({"skill": "local/erase", "arguments": {}})),
        one("/api/tasks/{id}/signals", &format!("/api/tasks/{NONE}/signals"), json!({"cancel": true})),
        Row::post("/api/audit/forget", json!({"who": "user:ann"})),
        Row::post("/api/explain", json!({"skill": "local/erase"})),
        Row::new(
            "/api/artifacts/{id}/access",
            Method::PUT,
            &format!("/api/artifacts/{NONE}/access"),
            Some(json!({"access_control": []})),
        ),
    ]
}

/// A method of tasks, of a client that knows tasks.
fn with_tasks(method: &'static str) -> Row {
    let mut row = modern("/mcp", "/mcp", (method, Some("taskId")));
    if let Some(body) = &mut row.body {
        body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    }
    row
}

fn open() -> Vec<Row> {
    let oauth = "/.well-known/oauth-protected-resource";
    vec![
        Row::get("/").open(),
        Row::get("/console").open(),
        Row::get("/console/").open(),
        Row::get("/console/{file}").at("/console/none").open(),
        Row::get("/healthz").open(),
        Row::get("/readyz").open(),
        Row::get("/llms.txt").open(),
        Row::get("/.well-known/jwks.json").open(),
        Row::get(oauth).open(),
        Row::get("/.well-known/oauth-protected-resource/{*path}").at(&format!("{oauth}/mcp")).open(),
        Row::get("/oauth/start/{ticket}").at("/oauth/start/none").open(),
        Row::get("/oauth/callback").open(),
        Row::get("/oauth/callback/{mark}").at("/oauth/callback/none").open(),
        Row::get("/oauth/client.json").open(),
        Row::get("/oauth/clients/{mark}").at("/oauth/clients/00000000000000000000000000000000").open(),
        Row::get("/metrics"),
    ]
}

fn echo() -> Value {
    call("hub/echo", &json!({ "text": WORD }))
}

fn envelope() -> Value {
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": "m-1", "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_results": null, "metadata": {},
        "tool_calls": [{"tool_id": "t", "tool_name": "mcp__hub__echo", "parameters": {"text": WORD},
            "require_confirmation": false}],
    })
}

fn nlip() -> Vec<Row> {
    let upload = |method| Row::new("/nlip/uploads/{id}", method, &format!("/nlip/uploads/{NONE}"), None);
    let socket = |path| Row { way: Way::Socket, door: Door::PerMessage, ..Row::get(path) };
    vec![
        Row::post("/nlip", echo()).shows(WORD),
        Row::post("/nlip/", echo()).shows(WORD),
        Row::post("/agents/{peer}/nlip", echo()).at("/agents/hub/nlip").shows(WORD),
        Row::post("/nlip/route", envelope()).shows(WORD),
        Row::post("/agents/{peer}/nlip/route", envelope()).at("/agents/hub/nlip/route").shows(WORD),
        upload(Method::PUT),
        upload(Method::POST),
        upload(Method::GET),
        Row::get("/content/{sealed}").at(&format!("/content/{NONE}")),
        socket("/nlip/ws"),
        socket("/nlip/ws/text"),
    ]
}

/// Methods of the era of dated requests, and what each must name in a header.
pub(super) const MODERN: &[(&str, Option<&str>)] = &[
    ("server/discover", None),
    ("tools/list", None),
    ("prompts/list", None),
    ("resources/list", None),
    ("resources/templates/list", None),
    ("tools/call", Some("name")),
    ("prompts/get", Some("name")),
    ("resources/read", Some("uri")),
    ("completion/complete", None),
    ("subscriptions/listen", None),
    ("tasks/get", Some("taskId")),
    ("tasks/update", Some("taskId")),
    ("tasks/cancel", Some("taskId")),
];

/// Those that only sessions have.
pub(super) const LEGACY: &[(&str, Option<&str>)] = &[
    ("initialize", None),
    ("ping", None),
    ("resources/subscribe", None),
    ("resources/unsubscribe", None),
    ("logging/setLevel", None),
];

fn params() -> Value {
    json!({
        "name": "hub__echo", "arguments": {"text": WORD}, "uri": "interlingua://artifacts/none", "taskId": NONE,
        "ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "a", "value": ""}, "level": "info",
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        "notifications": {},
    })
}

fn modern(route: &str, path: &str, (method, named): (&'static str, Option<&str>)) -> Row {
    let mut params = params();
    if method == "prompts/get" {
        params["name"] = json!("none");
    }
    let name = named.map(|named| params[named].as_str().expect("a name").to_owned());
    params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let row = Row::new(route, Method::POST, path, Some(body)).with("accept", "application/json, text/event-stream");
    let row = row.with("mcp-protocol-version", "2026-07-28").with("mcp-method", method);
    let row = match name {
        Some(name) => row.with("mcp-name", name),
        None => row,
    };
    let row = Row { endless: method == "subscriptions/listen", ..row };
    if method == "tools/call" { row.shows(WORD) } else { row }
}

fn mcp() -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(MODERN.iter().map(|method| modern("/mcp", "/mcp", *method)));
    for (route, path, method) in [
        ("/mcp/", "/mcp/", "tools/call"),
        ("/agents/{peer}/mcp", "/agents/hub/mcp", "tools/call"),
        ("/mcp/{view}", "/mcp/few", "tools/list"),
    ] {
        let named = (method == "tools/call").then_some("name");
        rows.push(modern(route, path, (method, named)));
    }
    let within = |row: Row| row.with("mcp-session-id", "made-up").with("accept", "application/json, text/event-stream");
    for (method, _) in LEGACY.iter().chain(MODERN) {
        let row = Row::post("/mcp", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params()}));
        rows.push(if *method == "initialize" { row } else { within(row) });
    }
    rows.push(within(Row::get("/mcp")));
    rows.push(within(Row::new("/mcp", Method::DELETE, "/mcp", None)));
    rows
}

/// Whatever an operation may want to be told.
fn wanted(version: Version) -> Value {
    let message = match version {
        Version::V1 => json!({"messageId": "m", "role": "ROLE_USER",
            "parts": [{"data": {"skill": "hub/echo", "arguments": {"text": WORD}}}]}),
        Version::V03 => json!({"kind": "message", "messageId": "m", "role": "user",
            "parts": [{"kind": "data", "data": {"skill": "hub/echo", "arguments": {"text": WORD}}}]}),
    };
    json!({"id": NONE, "taskId": NONE, "message": message, "url": "https://example.com/hook",
        "pushNotificationConfigId": "c", "pushNotificationConfig": {"url": "https://example.com/hook"}})
}

fn a2a() -> Vec<Row> {
    let card = "/agents/{peer}/.well-known/agent-card.json";
    let mut rows =
        vec![Row::get("/.well-known/agent-card.json"), Row::get(card).at("/agents/hub/.well-known/agent-card.json")];
    for version in [Version::V1, Version::V03] {
        let said = |row: Row| row.with("a2a-version", version.as_str());
        for operation in Operation::ALL {
            if let Some(name) = operation.name(version) {
                let body = json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": wanted(version)});
                rows.push(said(Row::post("/a2a", body)));
            }
            if let Some(name) = operation.grpc(version) {
                let service = service(version);
                let asked = called(operation, version).to_string();
                let bytes = proto::request_from_json(operation, version, asked.as_bytes()).expect("a request").to_vec();
                let row = Row::post(&format!("/{service}/{{below}}"), Value::Null).at(&format!("/{service}/{name}"));
                rows.push(said(Row { way: Way::Grpc, bytes, ..row }));
            }
        }
        let body =
            json!({"jsonrpc": "2.0", "id": 1, "method": Operation::Send.name(version), "params": wanted(version)});
        for (route, path) in
            [("/a2a/", "/a2a/"), ("/agents/{peer}/a2a", "/agents/hub/a2a"), ("/agents/{peer}/a2a/", "/agents/hub/a2a/")]
        {
            rows.push(said(Row::post(route, body.clone()).at(path)));
        }
        let (base, card) = match version {
            Version::V1 => ("", "extendedAgentCard"),
            Version::V03 => ("v1/", "card"),
        };
        for (route, door) in [("/a2a/{*below}", "/a2a"), ("/agents/{peer}/a2a/{*below}", "/agents/hub/a2a")] {
            rows.extend(
                rest(version, card)
                    .map(|(method, path, body)| said(Row::new(route, method, &format!("{door}/{base}{path}"), body))),
            );
        }
    }
    rows
}

/// What an operation of gRPC takes.
fn called(operation: Operation, version: Version) -> Value {
    let hook = json!({"url": "https://example.com/hook"});
    match (operation, version) {
        (Operation::Send | Operation::Stream, Version::V1) => json!({"message": wanted(version)["message"]}),
        (Operation::Send | Operation::Stream, Version::V03) => {
            json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}})
        }
        (Operation::Get | Operation::Cancel | Operation::Subscribe, Version::V1) => json!({ "id": NONE }),
        (Operation::Get | Operation::Cancel | Operation::Subscribe, Version::V03) => {
            json!({"name": format!("tasks/{NONE}")})
        }
        (Operation::PushCreate, Version::V1) => json!({"taskId": NONE, "id": "c", "url": hook["url"]}),
        (Operation::PushCreate, Version::V03) => json!({"parent": format!("tasks/{NONE}"), "configId": "c",
            "config": {"pushNotificationConfig": hook}}),
        (Operation::PushGet | Operation::PushDelete, Version::V1) => json!({"taskId": NONE, "id": "c"}),
        (Operation::PushGet | Operation::PushDelete, Version::V03) => {
            json!({"name": format!("tasks/{NONE}/pushNotificationConfigs/c")})
        }
        (Operation::PushList, Version::V1) => json!({ "taskId": NONE }),
        (Operation::PushList, Version::V03) => json!({"parent": format!("tasks/{NONE}")}),
        (Operation::List | Operation::ExtendedCard, _) => json!({}),
    }
}

/// The operations as paths.
fn rest(version: Version, card: &str) -> impl Iterator<Item = (Method, String, Option<Value>)> {
    let (task, hooks) = (format!("tasks/{NONE}"), format!("tasks/{NONE}/pushNotificationConfigs"));
    let message = match version {
        Version::V1 => wanted(version),
        Version::V03 => json!({"message": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}}),
    };
    let hook = json!({"url": "https://example.com/hook", "config": {"pushNotificationConfig": {"url": "https://example.com/hook"}}});
    let all = [
        (Method::POST, "message:send".to_owned(), Some(message.clone())),
        (Method::POST, "message:stream".to_owned(), Some(message)),
        (Method::GET, task.clone(), None),
        (Method::GET, "tasks".to_owned(), None),
        (Method::POST, format!("{task}:cancel"), Some(json!({}))),
        (Method::GET, format!("{task}:subscribe"), None),
        (Method::POST, hooks.clone(), Some(hook)),
        (Method::GET, hooks.clone(), None),
        (Method::GET, format!("{hooks}/c"), None),
        (Method::DELETE, format!("{hooks}/c"), None),
        (Method::GET, card.to_owned(), None),
    ];
    all.into_iter()
}

/// Keys are of this protocol's own: no key is 422, a wrong one 401, a socket 403.
fn aip() -> Vec<Row> {
    let socket = |path| Row { way: Way::Socket, ..Row::get(path).keyed(403, 403) };
    let task = json!({"client_id": "nobody", "request": WORD});
    vec![
        socket("/ws"),
        socket("/aip/ws"),
        Row::get("/api/clients").keyed(422, 401),
        Row::get("/api/health").keyed(422, 401),
        Row::post("/api/dispatch", task).keyed(422, 401),
        Row::get("/api/task_result/{name}").at("/api/task_result/none").keyed(422, 401),
    ]
}

fn nlweb() -> Vec<Row> {
    let ask = || json!({"query": format!("echo {WORD}"), "streaming": false});
    let asked = format!("?query=echo%20{WORD}&streaming=false");
    vec![
        Row::post("/ask", ask()).shows(WORD),
        Row::get("/ask").at(&format!("/ask{asked}")).shows(WORD),
        Row::post("/ask/", ask()).shows(WORD),
        Row::get("/ask/").at(&format!("/ask/{asked}")).shows(WORD),
        Row::post("/agents/{peer}/ask", ask()).at("/agents/hub/ask").shows(WORD),
        Row::get("/agents/{peer}/ask").at(&format!("/agents/hub/ask{asked}")).shows(WORD),
        Row::post("/await", json!({"promise_token": "none", "action": "checkin"})),
        Row::get("/sites").shows("\"local\""),
        Row::get("/who").at("/who?query=erases%20something").shows("\"local\""),
    ]
}

/// Every operation that the description of the interface has, with an id that nothing has.
fn api(described: &Value) -> Vec<Row> {
    let mut rows = Vec::new();
    for (route, operations) in described["paths"].as_object().expect("paths") {
        for method in operations.as_object().expect("operations").keys() {
            let method: Method = method.to_ascii_uppercase().parse().expect("a method");
            let path = route.replace("{id}", NONE);
            let row = match (route.as_str(), &method) {
                ("/api/exchanges", &Method::POST) => {
                    let body = json!({"skill": "hub/echo", "arguments": {"text": WORD}});
                    Row::new(route, method, &path, Some(body)).shows(WORD)
                }
                // Whoever signs in has shown nothing yet: what it signs in with is in the body.
                ("/api/session", &Method::POST) => Row::new(route, method, &path, Some(json!({}))).open(),
                ("/api/skills", _) => Row::get(route).shows("hub/echo"),
                (_, &Method::POST | &Method::PUT) => Row::new(route, method, &path, Some(json!({}))),
                _ => Row::new(route, method, &path, None),
            };
            rows.push(row);
        }
    }
    let described = |row: &Row| row.route == "/api/openapi.json";
    if !rows.iter().any(described) {
        rows.push(Row::get("/api/openapi.json"));
    }
    rows
}
