//! Rotation of keys other than the store's while the hub runs; those have tests in [`super::keys`].

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use crate::support::{builder, until};

const KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const NEW: &str = "ffeeddccbbaa99887766554433221100ffeeddccbbaa99887766554433221100";

/// Another configuration, once it is in force.
pub(super) async fn reloaded(hub: &mut Hub, yaml: &str) {
    let applied = |hub: &Hub| hub.log().matches("configuration applied").count();
    let before = applied(hub);
    hub.write("interlingua.yaml", yaml);
    hub.reload();
    until("it is in force", async || applied(hub) > before).await;
}

/// A message of a session of the routing envelope; what the last answer to it says of the context.
pub(super) async fn context(hub: &Hub, id: &str, context: Value) -> Value {
    let message = json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0"},
        "control": {"message_type": "request", "message_id": id, "timestamp": "2026-01-01T00:00:00Z"},
        "token": {"session_id": "s1"},
        "content": {},
        "tool_calls": [{"tool_id": "t1", "tool_name": "mcp__hub__echo", "parameters": {"text": "hello"}}],
        "metadata": {"context": context},
    });
    let answer = hub.post_json("/nlip/route", &message).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.json();
    let last = told.as_array().and_then(|list| list.last()).unwrap_or(&told);
    last["metadata"]["context"].clone()
}

#[tokio::test]
async fn r_33_keys_of_sessions_change_without_a_restart_and_contexts_outlive_them() {
    let mut hub = builder().config(&format!("nlip: {{ tokens: {{ key: {KEY} }} }}\n")).start().await;
    let kept = json!({"city": "Lisbon"});
    context(&hub, "m1", kept.clone()).await;
    assert_eq!(context(&hub, "m2", json!(true)).await, kept);
    reloaded(&mut hub, &format!("nlip: {{ tokens: {{ key: {NEW}, old_keys: [{KEY}] }} }}\n")).await;
    assert_eq!(context(&hub, "m3", json!(true)).await, kept, "the old key still opens");
    reloaded(&mut hub, &format!("nlip: {{ tokens: {{ key: {NEW} }} }}\n")).await;
    assert_eq!(context(&hub, "m4", json!(true)).await, kept, "it was sealed anew");
    reloaded(&mut hub, "limits: { depth: 100 }\n").await;
    assert_eq!(context(&hub, "m5", json!(true)).await, Value::Null, "without its key it cannot be read");
}
