//! `/api/openapi.json`: OpenAPI 3.1, from the types of [`super::view`] and one table of operations.

mod driven;
#[cfg(test)]
mod tests;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::view::{
    AgentView, AuditForgetRequest, AuditForgottenView, AuditPagesView, AuditView, ConfirmationRequest,
    ConversationView, ErrorBody, ExchangeRequest, ExchangeView, ExplainRequest, ExplainView, KeysView, MessageView,
    NewAgentView, NumberedEvent, NumberedMessage, PageView, PeerView, QuestionView, RelistRequest, RotateRequest,
    RoutedSessionView, SessionView, SettledView, ShareRequest, SharedArtifactView, SignInRequest, SignInView,
    SignalRequest, SkillView, StepView, TaskView, TicketView, TokenMadeView, TokenRequest, TokensView,
};

type SchemaOf = fn(&mut SchemaGenerator) -> Value;

/// One operation: what it takes and gives.
struct Operation {
    method: &'static str,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    takes: Option<SchemaOf>,
    status: &'static str,
    gives: Option<SchemaOf>,
    streams: bool,
}

const PAGE: &[(&str, &str)] =
    &[("after", "The cursor `next` of the page before"), ("limit", "How many items at most, up to 200; 50 without it")];
const SEARCH: &[(&str, &str)] = &[
    ("query", "Words to rank skills by"),
    ("after", "The cursor `next` of the page before"),
    ("limit", "How many items at most, up to 200; 50 without it"),
];
const AGENTS: &[(&str, &str)] = &[
    ("skill", "Only agents that offer exactly this skill"),
    ("tag", "Only agents with a skill that has this tag"),
    ("provider", "Only agents of this organisation"),
    ("q", "Only agents whose description contains all these words"),
    ("registered", "`true`: only those that were registered here"),
    ("after", "The cursor `next` of the page before"),
    ("limit", "How many items at most, up to 200; 50 without it"),
];
const MESSAGES: &[(&str, &str)] = &[
    ("agent", "Pending messages of this agent, the most urgent first"),
    ("topic", "Events published on these topics: `*` matches one segment, `**` all that follow"),
    (
        "after",
        "For topics: the number of the last event that you have seen. Without it: new events, or the first page of stored ones",
    ),
    ("limit", "How many items at most, up to 200; 50 without it"),
];
const ARTIFACTS: &[(&str, &str)] = &[
    ("task", "Only artifacts of this task"),
    ("after", "The cursor `next` of the page before"),
    ("limit", "How many items at most, up to 200; 50 without it"),
];
const TASKS: &[(&str, &str)] = &[
    ("state", "Only tasks in this state"),
    ("conversation", "Only tasks of this conversation"),
    ("after", "The cursor `next` of the page before"),
    ("limit", "How many items at most, up to 200; 50 without it"),
];

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

const fn get(path: &'static str, id: &'static str, summary: &'static str, gives: SchemaOf) -> Operation {
    Operation {
        method: "get",
        path,
        id,
        summary,
        query: &[],
        takes: None,
        status: "200",
        gives: Some(gives),
        streams: false,
    }
}

const fn page(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    query: &'static [(&'static str, &'static str)],
    gives: SchemaOf,
) -> Operation {
    Operation { query, ..get(path, id, summary, gives) }
}

const fn delete(path: &'static str, id: &'static str, summary: &'static str) -> Operation {
    Operation { method: "delete", gives: None, status: "204", ..get(path, id, summary, schema::<()>) }
}

const fn post(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    takes: SchemaOf,
    gives: SchemaOf,
) -> Operation {
    Operation { method: "post", takes: Some(takes), ..get(path, id, summary, gives) }
}

const fn streamed(operation: Operation) -> Operation {
    Operation { streams: true, ..operation }
}

const fn answering(operation: Operation, status: &'static str) -> Operation {
    Operation { status, ..operation }
}

/// Agents, and what they write to one another.
fn agents() -> Vec<Operation> {
    vec![
        page(
            "/api/agents",
            "find_agents",
            "List the agents that can receive messages",
            AGENTS,
            schema::<PageView<AgentView>>,
        ),
        answering(
            post(
                "/api/agents",
                "register_agent",
                "Register an agent, or replace its registration",
                schema::<NewAgentView>,
                schema::<AgentView>,
            ),
            "201",
        ),
        get("/api/agents/{id}", "read_agent", "Read an agent", schema::<AgentView>),
        delete("/api/agents/{id}", "unregister_agent", "Unregister an agent"),
        streamed(page(
            "/api/messages",
            "read_messages",
            "Read the pending messages of an agent, or the events on topics after `Last-Event-ID`: as a stream, or as a page",
            MESSAGES,
            schema::<PageView<NumberedMessage>>,
        )),
        streamed(post(
            "/api/messages",
            "send_message",
            "Send a message or an array of messages; the response is a message or an array of messages",
            schema::<MessageView>,
            schema::<MessageView>,
        )),
        Operation {
            query: &[("agent", "The agent that the message is for")],
            ..delete("/api/messages/{id}", "put_message_aside", "Mark a message that needs no answer as read")
        },
    ]
}

/// What agents share, and what tasks made.
fn artifacts() -> Vec<Operation> {
    vec![
        page(
            "/api/artifacts",
            "list_artifacts",
            "List the artifacts that you may read, newest first",
            ARTIFACTS,
            schema::<PageView<SharedArtifactView>>,
        ),
        answering(
            post(
                "/api/artifacts",
                "share_artifact",
                "Share an artifact: text or JSON, or bytes that you upload afterwards",
                schema::<ShareRequest>,
                schema::<SharedArtifactView>,
            ),
            "201",
        ),
        get("/api/artifacts/{id}", "read_artifact", "Read an artifact", schema::<SharedArtifactView>),
        delete("/api/artifacts/{id}", "forget_artifact", "Delete one of your artifacts"),
        get(
            "/api/artifacts/{id}/content",
            "fetch_artifact",
            "Download the bytes of an artifact, whole or a range",
            bytes,
        ),
        Operation {
            method: "put",
            ..get(
                "/api/artifacts/{id}/content",
                "fill_artifact",
                "Upload the bytes of an artifact that was announced",
                schema::<SharedArtifactView>,
            )
        },
        Operation {
            method: "put",
            takes: Some(schema::<RelistRequest>),
            ..get(
                "/api/artifacts/{id}/access",
                "relist_artifact",
                "Replace the list of readers of an artifact",
                schema::<SharedArtifactView>,
            )
        },
    ]
}

/// Of any kind.
fn bytes(_: &mut SchemaGenerator) -> Value {
    json!({ "type": "string", "format": "binary" })
}

fn exchanges() -> Vec<Operation> {
    vec![
        page("/api/peers", "list_peers", "List the peers that you may call", PAGE, schema::<PageView<PeerView>>),
        page("/api/skills", "list_skills", "List or search skills", SEARCH, schema::<PageView<SkillView>>),
        streamed(post(
            "/api/exchanges",
            "call",
            "Call a skill, a peer in plain words, or the hub in plain words; closing the connection cancels the call",
            schema::<ExchangeRequest>,
            schema::<ExchangeView>,
        )),
        delete("/api/exchanges/{id}", "cancel_exchange", "Cancel an exchange"),
        page("/api/tasks", "list_tasks", "List tasks, newest first", TASKS, schema::<PageView<TaskView>>),
        answering(
            post(
                "/api/tasks",
                "start_task",
                "Start a task without waiting for it; the response has its id",
                schema::<ExchangeRequest>,
                schema::<TaskView>,
            ),
            "202",
        ),
        get("/api/tasks/{id}", "read_task", "Read the current state of a task", schema::<TaskView>),
        delete("/api/tasks/{id}", "cancel_task", "Cancel a task"),
        streamed(page(
            "/api/tasks/{id}/events",
            "watch_task",
            "Read the events of a task after `Last-Event-ID`: as a stream until it has finished, or as a page",
            PAGE,
            schema::<PageView<NumberedEvent>>,
        )),
        streamed(page(
            "/api/tasks/{id}/timeline",
            "read_timeline",
            "Read the steps of an agent or a team: as a stream until the run has ended, or as a page",
            PAGE,
            schema::<PageView<StepView>>,
        )),
        answering(
            post(
                "/api/tasks/{id}/signals",
                "signal_task",
                "Answer a question, send more input, or cancel",
                schema::<SignalRequest>,
                schema::<TaskView>,
            ),
            "202",
        ),
    ]
}

/// What waits for an approval or an answer.
fn questions() -> Vec<Operation> {
    vec![
        page(
            "/api/confirmations",
            "list_confirmations",
            "List the pending approvals that you may decide",
            PAGE,
            schema::<PageView<QuestionView>>,
        ),
        get("/api/confirmations/{id}", "read_confirmation", "Read a pending approval", schema::<QuestionView>),
        post(
            "/api/confirmations/{id}",
            "decide_confirmation",
            "Approve or deny a call",
            schema::<ConfirmationRequest>,
            schema::<TaskView>,
        ),
        page(
            "/api/questions",
            "list_questions",
            "List the open questions of every kind that you may answer, without arguments, parts and forms",
            PAGE,
            schema::<PageView<QuestionView>>,
        ),
        get("/api/questions/{id}", "read_question", "Read an open question", schema::<QuestionView>),
        get(
            "/api/questions/{id}/settled",
            "read_settled_question",
            "Read how a question ended, and who decided it",
            schema::<SettledView>,
        ),
    ]
}

fn conversations() -> Vec<Operation> {
    vec![
        page(
            "/api/conversations",
            "list_conversations",
            "List conversations",
            PAGE,
            schema::<PageView<ConversationView>>,
        ),
        delete("/api/conversations/{id}", "forget_conversation", "Delete a conversation and its content"),
        page(
            "/api/sessions",
            "list_routed_sessions",
            "List your sessions at `/nlip/route`",
            PAGE,
            schema::<PageView<RoutedSessionView>>,
        ),
        get(
            "/api/sessions/{id}",
            "read_routed_session",
            "Read a session: its last messages, the keys of its context, its notifications",
            schema::<RoutedSessionView>,
        ),
    ]
}

/// Browsers that are signed in to the console.
fn sessions() -> Vec<Operation> {
    vec![
        get(
            "/api/session",
            "read_session",
            "Read who you are, your rights, and which hub this is",
            schema::<SessionView>,
        ),
        answering(
            post(
                "/api/session",
                "sign_in",
                "Sign a browser in with a ticket or an access token",
                schema::<SignInRequest>,
                schema::<SignInView>,
            ),
            "201",
        ),
        delete("/api/session", "sign_out", "Sign the browser out"),
        Operation {
            method: "post",
            status: "201",
            ..get(
                "/api/session/tickets",
                "create_ticket",
                "Create a ticket, which signs a browser in as you, once and within a minute",
                schema::<TicketView>,
            )
        },
    ]
}

/// What was decided, and why.
fn decisions() -> Vec<Operation> {
    vec![
        page("/api/audit", "list_audit", "Read the audit log, newest first", PAGE, schema::<PageView<AuditView>>),
        post(
            "/api/audit/forget",
            "forget_in_audit",
            "Redact the lines of one caller; the hash chain stays valid",
            schema::<AuditForgetRequest>,
            schema::<AuditForgottenView>,
        ),
        page(
            "/api/audit/pages",
            "read_audit",
            "Export the records of the audit log as they were written, oldest first, for verification",
            PAGE,
            schema::<AuditPagesView>,
        ),
        post(
            "/api/explain",
            "explain",
            "Explain why a caller may or may not do something; only for the hub's Owner",
            schema::<ExplainRequest>,
            schema::<ExplainView>,
        ),
        get(
            "/api/tokens",
            "list_tokens",
            "List the access tokens that the hub stores; only for its Owner",
            schema::<TokensView>,
        ),
        Operation {
            status: "201",
            ..post(
                "/api/tokens",
                "create_token",
                "Create an access token, which is shown only once; only for the hub's Owner",
                schema::<TokenRequest>,
                schema::<TokenMadeView>,
            )
        },
        delete("/api/tokens/{id}", "revoke_token", "Revoke an access token, by name; only for the hub's Owner"),
        get(
            "/api/keys",
            "list_keys",
            "List the hub's keys by id, never the keys themselves; only for its Owner",
            schema::<KeysView>,
        ),
        post(
            "/api/keys/rotate",
            "rotate_keys",
            "Rotate a key: the encryption key, the Owner's token, or the signing key of the audit log; only for the hub's Owner",
            schema::<RotateRequest>,
            schema::<KeysView>,
        ),
        Operation {
            method: "delete",
            status: "202",
            ..get(
                "/api/keys/old",
                "retire_keys",
                "Re-encrypt in the background what old keys encrypted, then remove them; only for the hub's Owner",
                schema::<KeysView>,
            )
        },
    ]
}

/// The document. It does not change while a hub runs.
pub fn document() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
        })
        .for_serialize();
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in exchanges()
        .into_iter()
        .chain(questions())
        .chain(conversations())
        .chain(driven::sites())
        .chain(sessions())
        .chain(decisions())
        .chain(agents())
        .chain(artifacts())
        .chain(driven::devices())
    {
        let described = describe(&operation, &mut generator);
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Interlingua",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The hub's own API. Lists are paginated by cursor. Events are server-sent if `Accept` is \
                            `text/event-stream`. The same `Idempotency-Key` with the same body returns the first result again; with another body it is a conflict.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
        "security": [{}, { "token": [] }],
    })
}

fn describe(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "parameters": parameters(operation),
        "responses": {
            "default": {
                "description": "The request was refused: the reason",
                "content": { "application/json": { "schema": schema::<ErrorBody>(generator) } },
            },
        },
    });
    if let Some(takes) = operation.takes {
        let body = json!({ "application/json": { "schema": takes(generator) } });
        described["requestBody"] = json!({ "required": true, "content": body });
    }
    let mut content = json!({});
    if let Some(gives) = operation.gives {
        content["application/json"] = json!({ "schema": gives(generator) });
    }
    if operation.streams {
        content["text/event-stream"] = json!({
            "schema": { "type": "string" },
            "x-event-schema": schema::<NumberedEvent>(generator),
        });
    }
    described["responses"][operation.status] = json!({ "description": operation.summary });
    if operation.gives.is_some() {
        described["responses"][operation.status]["content"] = content;
    }
    described
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let text = json!({ "type": "string" });
    let mut parameters = Vec::new();
    if operation.path.contains("{id}") {
        parameters.push(json!({ "name": "id", "in": "path", "required": true, "schema": text }));
    }
    for (name, description) in operation.query {
        parameters.push(json!({ "name": name, "in": "query", "description": description, "schema": text }));
    }
    if operation.takes.is_some() && !operation.path.contains("{id}") {
        parameters.push(json!({ "name": "Idempotency-Key", "in": "header", "schema": text }));
    }
    if operation.streams && operation.takes.is_none() {
        parameters.push(json!({ "name": "Last-Event-ID", "in": "header", "schema": text }));
    }
    parameters
}
