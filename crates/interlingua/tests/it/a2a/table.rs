//! The table of errors (section 5.4), row by row as far as a client can cause it: on every binding, in both generations, with the code and
//! the name by which clients distinguish them. A refused request creates nothing.

use http::Method as Verb;
use http_body_util::Full;
use interlingua_a2a::Version;
use interlingua_a2a::method::Method;
use interlingua_testkit::{Hub, request};
use serde_json::{Value, json};

use super::grpc::Caller;
use super::{builder, hub, result, send, task};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Binding {
    Rpc,
    Http,
    Grpc,
}

const WAYS: [(Binding, Version); 6] = [
    (Binding::Rpc, Version::V1),
    (Binding::Http, Version::V1),
    (Binding::Grpc, Version::V1),
    (Binding::Rpc, Version::V03),
    (Binding::Http, Version::V03),
    (Binding::Grpc, Version::V03),
];

/// What a client does, in the words of no binding.
#[derive(Debug, Clone, Copy)]
enum Act<'a> {
    Get(&'a str),
    Cancel(&'a str),
    Subscribe(&'a str),
    Webhooks(&'a str),
    ExtendedCard,
    /// A message with this content, to this task.
    Send(Content, Option<&'a str>),
}

#[derive(Debug, Clone, Copy)]
enum Content {
    Text,
    /// A file of a media type that nobody takes.
    Strange,
    Nothing,
    Two,
}

/// A row of the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    rpc: i64,
    http: u16,
    grpc: u8,
    reason: &'static str,
    /// What 0.3 calls it where it has no code.
    name: &'static str,
}

const fn row(rpc: i64, http: u16, grpc: u8, reason: &'static str, name: &'static str) -> Row {
    Row { rpc, http, grpc, reason, name }
}

const TASK_NOT_FOUND: Row = row(-32001, 404, 5, "TASK_NOT_FOUND", "TaskNotFoundError");
const NOT_CANCELABLE: Row = row(-32002, 400, 9, "TASK_NOT_CANCELABLE", "TaskNotCancelableError");
const NO_PUSH: Row = row(-32003, 400, 9, "PUSH_NOTIFICATION_NOT_SUPPORTED", "PushNotificationNotSupportedError");
const UNSUPPORTED: Row = row(-32004, 400, 9, "UNSUPPORTED_OPERATION", "UnsupportedOperationError");
const MEDIA: Row = row(-32005, 400, 3, "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");
const NO_CARD: Row = row(-32007, 400, 9, "EXTENDED_AGENT_CARD_NOT_CONFIGURED", "ExtendedAgentCardNotConfiguredError");
const EXTENSION: Row = row(-32008, 400, 9, "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError");
const VERSION: Row = row(-32009, 400, 9, "VERSION_NOT_SUPPORTED", "VersionNotSupportedError");
const PARAMS: Row = row(-32602, 400, 3, "INVALID_INPUT", "InvalidParamsError");

/// The code of a refusal, and what names it.
type Told = (i64, String);

impl Row {
    fn told(self, (binding, version): (Binding, Version)) -> Told {
        let name = match (binding, version) {
            (Binding::Rpc, _) | (_, Version::V1) => self.reason,
            (Binding::Http | Binding::Grpc, Version::V03) => self.name,
        };
        let code = match binding {
            Binding::Rpc => self.rpc,
            Binding::Http => self.http.into(),
            Binding::Grpc => self.grpc.into(),
        };
        (code, name.to_owned())
    }
}

/// A message as each dialect spells it.
fn message(content: Content, task: Option<&str>, (binding, version): (Binding, Version)) -> Value {
    let kinds = version == Version::V03 && binding == Binding::Rpc;
    let part = match (content, kinds) {
        (Content::Text, true) => json!({"kind": "text", "text": "hi"}),
        (Content::Text, false) => json!({"text": "hi"}),
        (Content::Strange, true) => {
            json!({"kind": "file", "file": {"bytes": "aGk=", "mimeType": "application/x-strange"}})
        }
        (Content::Strange, false) if version == Version::V03 => {
            json!({"file": {"fileWithBytes": "aGk=", "mimeType": "application/x-strange"}})
        }
        (Content::Strange, false) => json!({"raw": "aGk=", "mediaType": "application/x-strange"}),
        (Content::Nothing, true) => json!({"kind": "text"}),
        (Content::Nothing, false) => json!({}),
        (Content::Two, true) => json!({"kind": "file", "file": {"bytes": "aGk=", "uri": "http://example.com/"}}),
        (Content::Two, false) if version == Version::V03 => json!({"text": "a", "data": {"data": {"b": 1}}}),
        (Content::Two, false) => json!({"text": "a", "url": "http://example.com/"}),
    };
    let (role, parts) = match (version, kinds) {
        (_, true) => ("user", "parts"),
        (Version::V03, false) => ("ROLE_USER", "content"),
        (Version::V1, false) => ("ROLE_USER", "parts"),
    };
    let mut message = json!({"messageId": "m-refused", "role": role, parts: [part]});
    if kinds {
        message["kind"] = "message".into();
    }
    if let Some(task) = task {
        message["taskId"] = task.into();
    }
    message
}

impl Act<'_> {
    fn method(self) -> Method {
        match self {
            Act::Get(_) => Method::Get,
            Act::Cancel(_) => Method::Cancel,
            Act::Subscribe(_) => Method::Subscribe,
            Act::Webhooks(_) => Method::PushList,
            Act::ExtendedCard => Method::ExtendedCard,
            Act::Send(..) => Method::Send,
        }
    }

    /// Parameters of JSON-RPC, or the message of gRPC.
    fn params(self, way: (Binding, Version)) -> Value {
        let named = way == (Binding::Grpc, Version::V03);
        match self {
            Act::Get(id) | Act::Cancel(id) | Act::Subscribe(id) if named => json!({"name": format!("tasks/{id}")}),
            Act::Webhooks(id) if named => json!({"parent": format!("tasks/{id}")}),
            Act::Get(id) | Act::Cancel(id) | Act::Subscribe(id) => json!({ "id": id }),
            Act::Webhooks(id) if way.1 == Version::V03 => json!({ "id": id }),
            Act::Webhooks(id) => json!({ "taskId": id }),
            Act::ExtendedCard => json!({}),
            Act::Send(content, task) => json!({"message": message(content, task, way)}),
        }
    }

    fn http(self, version: Version) -> (Verb, String, Value) {
        let base = match version {
            Version::V1 => "/a2a",
            Version::V03 => "/a2a/v1",
        };
        let card = match version {
            Version::V1 => "extendedAgentCard",
            Version::V03 => "card",
        };
        match self {
            Act::Get(id) => (Verb::GET, format!("{base}/tasks/{id}"), Value::Null),
            Act::Cancel(id) => (Verb::POST, format!("{base}/tasks/{id}:cancel"), json!({})),
            Act::Subscribe(id) => (Verb::GET, format!("{base}/tasks/{id}:subscribe"), Value::Null),
            Act::Webhooks(id) => (Verb::GET, format!("{base}/tasks/{id}/pushNotificationConfigs"), Value::Null),
            Act::ExtendedCard => (Verb::GET, format!("{base}/{card}"), Value::Null),
            Act::Send(..) => (Verb::POST, format!("{base}/message:send"), self.params((Binding::Http, version))),
        }
    }

    /// What the hub says to it on one binding in one version. `said`: the version that the client says it speaks.
    async fn refused(self, hub: &Hub, way: (Binding, Version), said: &str) -> Told {
        let headers = [("a2a-version", said)];
        match way {
            (Binding::Rpc, version) => {
                let method = self.method().name(version).expect("a method");
                let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": self.params(way)});
                let answer = send(hub, super::post("/a2a", &headers, &body)).await;
                // A stream of 0.3 is refused in an event of it.
                let text = answer.text();
                let json: Value =
                    serde_json::from_str(text.trim().trim_start_matches("data: ")).expect("a JSON-RPC response");
                let error = &json["error"];
                let reason = error["data"]["reason"].as_str().or(error["data"][0]["reason"].as_str());
                (error["code"].as_i64().unwrap_or_default(), reason.unwrap_or_default().to_owned())
            }
            (Binding::Http, version) => {
                let (verb, path, body) = self.http(version);
                let body = if body.is_null() { Full::default() } else { Full::new(body.to_string().into()) };
                let request = request(verb, &path).header("content-type", "application/json");
                let answer = send(hub, request.header("a2a-version", said).body(body).expect("a request")).await;
                let json = answer.json();
                let name = match version {
                    Version::V1 => &json["error"]["details"][0]["reason"],
                    Version::V03 => &json["type"],
                };
                assert_eq!(json["error"]["code"], answer.status, "{json}");
                (answer.status.into(), name.as_str().unwrap_or_default().to_owned())
            }
            (Binding::Grpc, version) => {
                let mut caller = Caller::new(hub, version).await;
                let refused = caller.all(self.method(), &headers, &self.params(way)).await.expect_err("a refusal");
                let name = match version {
                    Version::V1 => refused.reason,
                    Version::V03 => refused.message.split(": ").next().unwrap_or_default().to_owned(),
                };
                (refused.code.into(), name)
            }
        }
    }
}

async fn check(hub: &Hub, rows: &[(Act<'_>, Row)]) {
    for way in WAYS {
        for (act, row) in rows {
            let told = act.refused(hub, way, way.1.as_str()).await;
            assert_eq!(told, row.told(way), "{act:?} by {way:?}");
        }
    }
}

#[tokio::test]
async fn a_06_a_08_a_16_a_31_the_same_refusal_has_its_code_and_name_on_every_binding_of_both_generations() {
    let hub = hub().await;
    let done = task(&hub, "tck-complete-task-1").await;
    let done = done["id"].as_str().expect("an id");
    check(
        &hub,
        &[
            (Act::Get("nobody"), TASK_NOT_FOUND),
            (Act::Cancel("nobody"), TASK_NOT_FOUND),
            (Act::Subscribe("nobody"), TASK_NOT_FOUND),
            (Act::Webhooks("nobody"), TASK_NOT_FOUND),
            (Act::Send(Content::Text, Some("nobody")), TASK_NOT_FOUND),
            (Act::Cancel(done), NOT_CANCELABLE),
            (Act::Send(Content::Text, Some(done)), UNSUPPORTED),
            (Act::Subscribe(done), UNSUPPORTED),
            (Act::Send(Content::Strange, None), MEDIA),
            (Act::Send(Content::Nothing, None), PARAMS),
            (Act::Send(Content::Two, None), PARAMS),
        ],
    )
    .await;
    for way in WAYS {
        let told = Act::Send(Content::Text, None).refused(&hub, way, "9.9").await;
        assert_eq!(told, VERSION.told(way), "{way:?}");
    }
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 1, "nothing was begun");
}

#[tokio::test]
async fn a_23_a_24_a_31_what_is_off_or_required_is_refused_by_its_name_on_every_binding_of_both_generations() {
    let off = "a2a: { streaming: false, push: false, extended_card: false, extension_required: true }\n";
    let hub = builder(off).start().await;
    check(
        &hub,
        &[
            (Act::Subscribe("nobody"), UNSUPPORTED),
            (Act::Webhooks("nobody"), NO_PUSH),
            (Act::Send(Content::Text, None), EXTENSION),
        ],
    )
    .await;
    for way in WAYS {
        let row = match way.1 {
            Version::V1 => UNSUPPORTED,
            Version::V03 => NO_CARD,
        };
        assert_eq!(Act::ExtendedCard.refused(&hub, way, way.1.as_str()).await, row.told(way), "{way:?}");
    }
    assert_eq!(result(&hub, "ListTasks", json!({})).await["totalSize"], 0, "nothing was begun");
}
