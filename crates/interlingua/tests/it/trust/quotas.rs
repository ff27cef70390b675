//! Quotas of one caller in the store: a task or a conversation too many is refused in the form of its protocol, others have quotas of their
//! own, and removal frees quota.

use http::Method;
use interlingua_a2a::grpc::service;
use interlingua_a2a::method::Method as Operation;
use interlingua_a2a::{Version, proto};
use interlingua_testkit::grpc::call as grpc_call;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use super::{as_, call};
use crate::mcp::Modern;
use crate::support::{builder, send, until};

const CONFIG: &str = "
tools: { directory: ./tools }
retention: { tasks_per_caller: 2, conversations_per_caller: 1 }
access:
  tokens:
    - { name: ann, token: ann-token }
    - { name: bob, token: bob-token }
";
const ANN: (&str, &str) = ("authorization", "Bearer ann-token");
const V1: (&str, &str) = ("a2a-version", "1.0");

async fn begin(hub: &Hub, who: &str) -> Answer {
    as_(hub, who, Method::POST, "/api/tasks", Some(json!({"skill": "local/slow"}))).await
}

/// A hub where `ann` has as many tasks as she may: their ids.
async fn crowded() -> (Hub, Vec<String>) {
    let hub = builder().config(CONFIG).start().await;
    let mut tasks = Vec::new();
    for _ in 0..2 {
        let begun = begin(&hub, "ann").await;
        assert_eq!(begun.status, 202, "{}", begun.text());
        tasks.push(begun.json()["id"].as_str().expect("an id").to_owned());
    }
    (hub, tasks)
}

fn envelope(id: &str, session: Option<&str>) -> Value {
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": id, "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": session, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {"messages": [{"role": "user", "content": "echo x"}]},
        "tool_calls": null, "tool_results": null, "metadata": {},
    })
}

#[tokio::test]
async fn one_task_too_many_is_refused_in_each_protocols_own_form() {
    let (hub, _) = crowded().await;
    let api = begin(&hub, "ann").await;
    assert_eq!((api.status, &api.json()["error"]["kind"]), (413, &json!("too_large")), "{}", api.text());
    // A skill that destroys is kept while it waits for a yes, whoever asks for it and how.
    let (skill, arguments) = ("local/erase", json!({"what": "x"}));
    let nlip = send(&hub, Method::POST, "/nlip", &[ANN], Some(call(skill, &arguments))).await;
    assert_eq!((nlip.status, &nlip.json()["messagetype"]), (413, &json!("error")), "{}", nlip.text());
    let mut modern = Modern::new(&hub);
    modern.headers = vec![ANN];
    modern.capabilities = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let mcp = modern.ask("tools/call", json!({"name": "local__slow", "arguments": {}})).await;
    assert!(mcp.text().contains("as many tasks as one caller may keep"), "{} {}", mcp.status, mcp.text());
    assert!(!mcp.text().contains("taskId"), "{}", mcp.text());
    let data = json!({"skill": skill, "what": "x"});
    let message = json!({"messageId": "m1", "role": "ROLE_USER", "parts": [{"data": data}]});
    let rpc = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": {"message": message}});
    let rpc = send(&hub, Method::POST, "/a2a", &[ANN, V1], Some(rpc)).await;
    assert!(rpc.json()["error"].is_object() && rpc.text().contains("TOO_LARGE"), "{}", rpc.text());
    let rest = send(&hub, Method::POST, "/a2a/message:send", &[ANN, V1], Some(json!({"message": message}))).await;
    assert_eq!(rest.status, 413, "{}", rest.text());
    let asked = json!({"message": message}).to_string();
    let bytes = proto::request_from_json(Operation::Send, Version::V1, asked.as_bytes()).expect("a request");
    let path = format!("/{}/{}", service(Version::V1), Operation::Send.grpc(Version::V1).expect("a name"));
    let mut connection = hub.connect_h2c().await;
    let mut grpc = connection.messages(grpc_call(&path, &[ANN, V1], &bytes)).await;
    assert!(grpc.next().await.is_none());
    assert_eq!(grpc.code(), Some("8"), "{:?}", grpc.text("grpc-message"));
}

#[tokio::test]
async fn others_have_room_of_their_own_and_what_has_finished_makes_room() {
    let (hub, tasks) = crowded().await;
    assert_eq!(begin(&hub, "ann").await.status, 413);
    assert_eq!(begin(&hub, "bob").await.status, 202);
    for _ in 0..3 {
        let of_owner = hub.post_json("/api/tasks", &json!({"skill": "local/slow"})).await;
        assert_eq!(of_owner.status, 202, "the Owner has no such bound: {}", of_owner.text());
    }
    let path = format!("/api/tasks/{}", tasks[0]);
    let cancel = Some(json!({"cancel": true}));
    assert!(as_(&hub, "ann", Method::POST, &format!("{path}/signals"), cancel).await.status < 300);
    until("it ends", async || as_(&hub, "ann", Method::GET, &path, None).await.json()["state"] == "cancelled").await;
    assert_eq!(begin(&hub, "ann").await.status, 202);
    assert_eq!(as_(&hub, "ann", Method::GET, &path, None).await.status, 404, "its oldest has made room");
    assert_eq!(begin(&hub, "ann").await.status, 413);
}

#[tokio::test]
async fn one_conversation_too_many_is_refused_until_another_is_forgotten() {
    let hub = builder().config(CONFIG).start().await;
    let talk = async |who: &str, conversation: Option<&str>| {
        let mut body = json!({"words": "echo hello"});
        if let Some(conversation) = conversation {
            body["conversation"] = json!(conversation);
        }
        as_(&hub, who, Method::POST, "/api/exchanges", Some(body)).await
    };
    let begun = async |who: &str| talk(who, None).await.json()["conversation"].as_str().expect("its name").to_owned();
    let (first, second) = (begun("ann").await, begun("ann").await);
    assert_eq!(talk("ann", Some(&first)).await.status, 200);
    let refused = talk("ann", Some(&second)).await;
    assert_eq!((refused.status, &refused.json()["error"]["kind"]), (413, &json!("too_large")), "{}", refused.text());
    assert_eq!(talk("ann", Some(&first)).await.status, 200, "the one there is goes on");
    let session = send(&hub, Method::POST, "/nlip/route", &[ANN], Some(envelope("m1", Some("s1")))).await;
    assert_eq!(session.status, 413, "sessions count with them: {}", session.text());
    let his = begun("bob").await;
    assert_eq!(talk("bob", Some(&his)).await.status, 200);
    let path = format!("/api/conversations/{first}");
    assert!(as_(&hub, "ann", Method::DELETE, &path, None).await.status < 300);
    assert_eq!(talk("ann", Some(&second)).await.status, 200);
}
