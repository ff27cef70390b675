//! gRPC on the hub's one port, over HTTP/2 with prior knowledge and over TLS (section 10). Messages are written here as JSON; the codec's
//! tests compare the bytes with those of other implementations.

use std::sync::Arc;

use interlingua_a2a::grpc::{reason, service, unescape};
use interlingua_a2a::method::Method;
use interlingua_a2a::{Version, proto};
use interlingua_testkit::grpc::{Messages, call};
use interlingua_testkit::{Connection, Hub};
use serde_json::{Value, json};

use super::{builder, hub, result, state, task, text, to};

/// A refusal: code, reason, message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: u8,
    pub(super) reason: String,
    pub(super) message: String,
}

/// A client of one generation on a connection of its own.
pub(super) struct Caller {
    pub(super) connection: Connection,
    version: Version,
}

impl Caller {
    pub(super) async fn new(hub: &Hub, version: Version) -> Caller {
        Caller { connection: hub.connect_h2c().await, version }
    }

    pub(super) fn path(&self, method: Method) -> String {
        format!("/{}/{}", service(self.version), method.grpc(self.version).expect("it is there"))
    }

    /// Begins a call.
    pub(super) async fn open(&mut self, method: Method, headers: &[(&str, &str)], request: &Value) -> Messages {
        let bytes = proto::request_from_json(method, self.version, request.to_string().as_bytes()).expect("a request");
        let mut all = vec![("a2a-version", self.version.as_str())];
        all.retain(|(name, _)| headers.iter().all(|(given, _)| given != name));
        all.extend_from_slice(headers);
        self.connection.messages(call(&self.path(method), &all, &bytes)).await
    }

    pub(super) fn read(&self, method: Method, message: &[u8]) -> Value {
        let json = proto::answer_to_json(method, self.version, message, 128).expect("an answer");
        serde_json::from_slice(&json).expect("JSON")
    }

    /// The one answer of a call.
    pub(super) async fn call(
        &mut self,
        method: Method,
        headers: &[(&str, &str)],
        request: &Value,
    ) -> Result<Value, Refused> {
        let mut all = self.all(method, headers, request).await?;
        assert_eq!(all.len(), 1, "{method:?} is answered once: {all:?}");
        Ok(all.remove(0))
    }

    /// Every message of a call, to its end.
    pub(super) async fn all(
        &mut self,
        method: Method,
        headers: &[(&str, &str)],
        request: &Value,
    ) -> Result<Vec<Value>, Refused> {
        let mut messages = self.open(method, headers, request).await;
        self.rest(method, &mut messages).await
    }

    pub(super) async fn rest(&self, method: Method, messages: &mut Messages) -> Result<Vec<Value>, Refused> {
        let mut all = Vec::new();
        while let Some(message) = messages.next().await {
            all.push(self.read(method, &message));
        }
        ended(messages).map(|()| all)
    }
}

/// How a call ended.
pub(super) fn ended(messages: &Messages) -> Result<(), Refused> {
    assert_eq!(messages.text("content-type"), Some("application/grpc"));
    match messages.code() {
        Some("0") => Ok(()),
        code => Err(Refused {
            code: code.and_then(|code| code.parse().ok()).expect("a code"),
            reason: messages.text("grpc-status-details-bin").and_then(reason).unwrap_or_default(),
            message: messages.text("grpc-message").map(unescape).unwrap_or_default(),
        }),
    }
}

/// What differs from run to run.
fn masked(mut task: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter_mut() {
                    match name.as_str() {
                        "id" | "contextId" | "taskId" | "messageId" | "timestamp" => *value = "…".into(),
                        _ => walk(value),
                    }
                }
            }
            Value::Array(all) => all.iter_mut().for_each(walk),
            // The proto's numbers are doubles.
            Value::Number(number) => *value = json!(number.as_f64()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    walk(&mut task);
    task
}

#[tokio::test]
async fn a_36_the_same_scenario_is_the_same_task_on_every_binding() {
    let hub = hub().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    for scene in
        ["complete-task", "artifact-text", "artifact-file", "artifact-file-url", "artifact-data", "reject-task"]
    {
        let request = |binding: &str| json!({"message": text(&format!("tck-{scene}-{binding}"), "hi")});
        let rpc = result(&hub, "SendMessage", request("rpc")).await;
        let http = super::send(&hub, super::post("/a2a/message:send", &[super::V1], &request("http"))).await.json();
        let grpc = caller.call(Method::Send, &[], &request("grpc")).await.expect("an answer");
        assert!(grpc["task"].is_object(), "{grpc}");
        assert_eq!(masked(rpc.clone()), masked(http), "{scene}");
        assert_eq!(masked(rpc), masked(grpc), "{scene}");
    }
    let message = json!({"message": text("tck-message-response-1", "hi")});
    let told = caller.call(Method::Send, &[], &message).await.expect("an answer");
    assert_eq!(told["message"]["parts"][0]["text"], "Direct message response");
}

#[tokio::test]
async fn a_04_every_operation_is_there() {
    let hub = builder("a2a: { push_private_addresses: true }\n").start().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let waiting = task(&hub, "tck-input-required-1").await;
    let id = &waiting["id"];
    let got = caller.call(Method::Get, &[], &json!({"id": id, "historyLength": 0})).await.expect("a task");
    assert_eq!((state(&got), got.get("history")), ("TASK_STATE_INPUT_REQUIRED", None));
    let listed = caller.call(Method::List, &[], &json!({"pageSize": 1})).await.expect("a list");
    assert_eq!((&listed["totalSize"], &listed["tasks"][0]["id"]), (&json!(1), id));
    let config = json!({"taskId": id, "id": "c", "url": "http://127.0.0.1:9/hook"});
    let made = caller.call(Method::PushCreate, &[], &config).await.expect("a webhook");
    assert_eq!((&made["taskId"], &made["id"]), (id, &json!("c")));
    let named = json!({"taskId": id, "id": "c"});
    assert_eq!(caller.call(Method::PushGet, &[], &named).await.expect("a webhook")["url"], config["url"]);
    let all = caller.call(Method::PushList, &[], &json!({ "taskId": id })).await.expect("webhooks");
    assert_eq!(all["configs"].as_array().map(Vec::len), Some(1));
    assert_eq!(caller.call(Method::PushDelete, &[], &named).await, Ok(json!({})));
    assert_eq!(caller.call(Method::PushGet, &[], &named).await.expect_err("it is gone").reason, "TASK_NOT_FOUND");
    let canceled = caller.call(Method::Cancel, &[], &json!({ "id": id })).await.expect("a task");
    assert_eq!(state(&canceled), "TASK_STATE_CANCELED");
    let card = caller.call(Method::ExtendedCard, &[], &json!({})).await.expect("a card");
    let shown = super::send(&hub, super::get("/a2a/extendedAgentCard", &[])).await.json();
    assert_eq!(card["skills"], shown["skills"]);
    assert_eq!(card["capabilities"]["streaming"], true);
}

#[tokio::test]
async fn a_14_a_stream_begins_with_the_task_and_ends_with_it() {
    let hub = hub().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let request = json!({"message": text("tck-stream-artifact-chunked-1", "hi")});
    let events = caller.all(Method::Stream, &[], &request).await.expect("a stream");
    let kinds: Vec<_> = events.iter().flat_map(|event| event.as_object().expect("an event").keys()).collect();
    assert_eq!(kinds, ["task", "statusUpdate", "statusUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"]);
    assert_eq!(state(&events[5]["statusUpdate"]), "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_16_a_subscription_begins_with_the_task_and_one_that_leaves_disturbs_nobody() {
    let hub = hub().await;
    let waiting = task(&hub, "tck-input-required-1").await;
    let named = json!({"id": waiting["id"]});
    let (mut one, mut two) = (Caller::new(&hub, Version::V1).await, Caller::new(&hub, Version::V1).await);
    let (mut first, mut second) =
        (one.open(Method::Subscribe, &[], &named).await, two.open(Method::Subscribe, &[], &named).await);
    for (caller, messages) in [(&one, &mut first), (&two, &mut second)] {
        let snapshot = caller.read(Method::Subscribe, &messages.next().await.expect("a snapshot"));
        assert_eq!(state(&snapshot["task"]), "TASK_STATE_INPUT_REQUIRED");
    }
    drop((first, one));
    result(&hub, "SendMessage", json!({"message": to(&waiting, text("tck-complete-task-2", "x"))})).await;
    let rest = two.rest(Method::Subscribe, &mut second).await.expect("a stream");
    assert_eq!(state(&rest.last().expect("an end")["statusUpdate"]), "TASK_STATE_COMPLETED");
    let over = two.call(Method::Subscribe, &[], &named).await.expect_err("it is over");
    assert_eq!((over.code, over.reason.as_str()), (9, "UNSUPPORTED_OPERATION"));
}

#[tokio::test]
async fn a_40_the_tenant_says_which_agent_is_meant() {
    let hub = interlingua_testkit::Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .file("agent.yaml", std::fs::read(interlingua_testkit::root().join("conformance/a2a/agent.yaml")).expect("it"))
        .config("scripts: { agent: ./agent.yaml }\n")
        .start()
        .await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let request =
        |tenant: &str| json!({"tenant": tenant, "message": text(&format!("tck-artifact-text-{tenant}"), "hi")});
    let told = caller.call(Method::Send, &[], &request("agent")).await.expect("an answer");
    assert_eq!(told["task"]["artifacts"][0]["artifactId"], "artifact-text");
    let wrong = caller.call(Method::Send, &[], &request("nobody")).await.expect_err("no such agent");
    assert_eq!((wrong.code, wrong.reason.as_str()), (5, "TASK_NOT_FOUND"));
    let other = json!({"tenant": "hub", "id": told["task"]["id"]});
    assert_eq!(caller.call(Method::Get, &[], &other).await.expect_err("another agent's").code, 5);
    let card = hub.get("/agents/agent/.well-known/agent-card.json").await.json();
    let interfaces = card["supportedInterfaces"].as_array().expect("interfaces");
    let grpc = interfaces.iter().find(|interface| interface["protocolBinding"] == "GRPC").expect("gRPC");
    assert_eq!((&grpc["tenant"], &grpc["url"]), (&json!("agent"), &json!(hub.address().to_string())));
}

#[tokio::test]
async fn a_28_the_package_of_0_3_is_served_beside_that_of_1_0() {
    let hub = hub().await;
    let mut caller = Caller::new(&hub, Version::V03).await;
    let message = |id: &str| json!({"messageId": id, "role": "ROLE_USER", "content": [{"text": "hi"}]});
    let request = json!({"message": message("tck-artifact-data-1"), "configuration": {"blocking": true}});
    // Most of its clients say no version.
    let told = caller.call(Method::Send, &[("a2a-version", "")], &request).await.expect("an answer");
    assert_eq!(told["task"]["artifacts"][0]["parts"][0]["data"]["data"]["count"], 42.0);
    let name = format!("tasks/{}", told["task"]["id"].as_str().expect("an id"));
    let got = caller.call(Method::Get, &[], &json!({ "name": name })).await.expect("a task");
    assert_eq!(state(&got), "TASK_STATE_COMPLETED");
    let again = caller.call(Method::Cancel, &[], &json!({ "name": name })).await.expect_err("it is over");
    assert_eq!((again.code, again.reason.as_str()), (9, "TASK_NOT_CANCELABLE"));
    let events = caller.all(Method::Stream, &[], &json!({"message": message("tck-stream-001-1")})).await;
    let events = events.expect("a stream");
    assert_eq!(events.last().expect("an end")["statusUpdate"]["final"], true);
    let card = caller.call(Method::ExtendedCard, &[], &json!({})).await.expect("a card");
    assert_eq!((&card["preferredTransport"], &card["protocolVersion"]), (&json!("JSONRPC"), &json!("0.3.0")));
    let waiting = caller.call(Method::Send, &[], &json!({"message": message("tck-input-required-1")})).await;
    let waiting = waiting.expect("an answer");
    assert_eq!(state(&waiting["task"]), "TASK_STATE_INPUT_REQUIRED");
}

#[tokio::test]
async fn a_24_an_extension_that_is_activated_is_echoed() {
    let hub = hub().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let request = json!({"message": text("tck-complete-task-1", "hi")});
    let uri = "urn:interlingua:hub:1";
    let headers = [("a2a-extensions", "urn:unknown, urn:interlingua:hub:1")];
    let messages = caller.open(Method::Send, &headers, &request).await;
    assert_eq!(messages.text("a2a-extensions"), Some(uri), "{messages:?}");
}

#[tokio::test]
async fn a_05_a_deadline_ends_the_answer_and_not_the_task() {
    let hub = hub().await;
    let mut caller = Caller::new(&hub, Version::V1).await;
    let request = json!({"message": text("test-resubscribe-message-id-1", "hi")});
    let late = caller.call(Method::Send, &[("grpc-timeout", "200m")], &request).await.expect_err("too early");
    assert_eq!(late.code, 4, "{late:?}");
    let late = caller.all(Method::Stream, &[("grpc-timeout", "300m")], &request).await.expect_err("too early");
    assert_eq!(late.code, 4, "{late:?}");
    let listed = caller.call(Method::List, &[], &json!({})).await.expect("a list");
    assert_eq!(state(&listed["tasks"][0]), "TASK_STATE_WORKING", "{listed}");
    let bad = caller.call(Method::List, &[("grpc-timeout", "soon")], &json!({})).await.expect_err("no time");
    assert_eq!(bad.code, 3);
}

#[tokio::test]
async fn a_02_grpc_is_spoken_over_tls() {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let hub = builder("tls: { cert: ./cert.pem, key: ./key.pem }\n")
        .file("cert.pem", certified.cert.pem())
        .file("key.pem", certified.signing_key.serialize_pem())
        .tls()
        .start()
        .await;
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certified.cert.der().clone()).expect("a certificate");
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connection =
        Connection::tls(hub.address(), "localhost", config).await.expect("a handshake").showing(hub.token());
    assert!(connection.is_http2());
    let mut caller = Caller { connection, version: Version::V1 };
    let told = caller.call(Method::Send, &[], &json!({"message": text("tck-complete-task-1", "hi")})).await;
    assert_eq!(state(&told.expect("an answer")["task"]), "TASK_STATE_COMPLETED");
}
