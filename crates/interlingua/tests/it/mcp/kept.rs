//! What outlives its request: large content behind a link, and calls that continue by the id of a receipt.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_testkit::{Hub, Say, Scripted};
use serde_json::{Value, json};

use super::{Modern, Session, error};
use crate::support::{builder, hub, until};

const ANN: (&str, &str) = ("authorization", "Bearer ilg_ann-token-of-some-length");
const TOKENS: &str = "access: { tokens: [{ name: ann, token: ilg_ann-token-of-some-length, skills: ['*'] }] }\n";

/// A hub with an agent of another protocol that answers with this, and the name of its tool.
async fn asking(media: &'static str, bytes: Vec<u8>) -> (Hub, Scripted, String) {
    let agent = Scripted::http(move |_, _| {
        let content = STANDARD.encode(&bytes);
        let large = json!({"format": "binary", "subformat": media, "content": content});
        Say::Json(json!({"format": "text", "subformat": "english", "content": "look", "submessages": [large]}))
    })
    .await;
    let peer = format!("peers: {{ desk: {{ nlip: {{ url: 'http://{}/nlip' }} }} }}\n", agent.address());
    let hub = builder().config(&format!("{TOKENS}{peer}")).start().await;
    let listed = Modern::new(&hub).result("tools/list", json!({})).await;
    let mut names = listed["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str());
    let tool = names.find(|name| name.starts_with("desk__")).expect("the agent's tool").to_owned();
    (hub, agent, tool)
}

fn link(result: &Value) -> Value {
    let blocks = result["content"].as_array().expect("content");
    blocks.iter().find(|block| block["type"] == "resource_link").unwrap_or_else(|| panic!("no link: {result}")).clone()
}

#[tokio::test]
async fn large_content_is_a_link_that_its_caller_alone_can_read() {
    let picture: Vec<u8> = (0..300_000_u32).map(|n| u8::try_from(n * 7 % 251).expect("a byte")).collect();
    let (hub, _agent, tool) = asking("image/png", picture.clone()).await;
    let owner = Modern::new(&hub);
    let linked = link(&owner.call(&tool, json!({"message": "a picture, please"})).await);
    assert_eq!((&linked["mimeType"], &linked["size"]), (&json!("image/png"), &json!(300_000)), "{linked}");
    let uri = linked["uri"].as_str().expect("an address");
    let read = owner.result("resources/read", json!({"uri": uri})).await;
    assert_eq!((&read["contents"][0]["uri"], &read["contents"][0]["mimeType"]), (&json!(uri), &json!("image/png")));
    let bytes = STANDARD.decode(read["contents"][0]["blob"].as_str().expect("bytes")).expect("base64");
    assert!(bytes == picture, "as it was");
    assert_eq!(read["cacheScope"], "private", "{}", read["cacheScope"]);
    let session = Session::begin(&hub, "2025-11-25", json!({})).await;
    let again = session.result("resources/read", json!({"uri": uri})).await;
    assert_eq!(again["contents"][0]["blob"], read["contents"][0]["blob"], "in either era");

    let mut ann = Modern::new(&hub);
    ann.headers = vec![ANN];
    let refused = ann.ask("resources/read", json!({"uri": uri})).await;
    assert_eq!(error(&refused), (200, -32602), "{}", refused.text());
    let (kept, last) = uri.split_at(uri.len() - 1);
    let altered = format!("{kept}{}", if last == "A" { "Q" } else { "A" });
    for bad in [altered.as_str(), "interlingua://artifacts/", "interlingua://artifacts/a1"] {
        let refused = owner.ask("resources/read", json!({"uri": bad})).await;
        assert_eq!(error(&refused), (200, -32602), "{bad}: {}", refused.text());
    }
}

#[tokio::test]
async fn a_link_is_good_after_a_restart_and_an_older_version_gets_it_as_text() {
    let (mut hub, _agent, tool) = asking("image/tiff", vec![9; 300_000]).await;
    let uri = link(&Modern::new(&hub).call(&tool, json!({"message": "please"})).await)["uri"].clone();
    let session = Session::begin(&hub, "2025-03-26", json!({})).await;
    let old = session.result("tools/call", json!({"name": tool, "arguments": {"message": "please"}})).await;
    let text = old["content"].to_string();
    assert!(text.contains("interlingua://artifacts/") && !text.contains("resource_link"), "{text}");
    hub.restart().await;
    let read = Modern::new(&hub).result("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"][0]["mimeType"], "image/tiff");
}

/// Takes longer than a receipt needs; begun again, it ends at once.
const PATIENT: &str = r#"
name: patient
description: Takes its time once.
effects: { reads: true, idempotent: true }
command: [sh, -c, 'if [ -e begun ]; then echo "{\"done\":true}"; else touch begun; exec sleep 60; fi']
timeout: 2m
"#;

#[tokio::test]
async fn what_a_receipt_was_given_for_goes_on_after_its_client_and_its_hub_are_gone() {
    let mut hub = hub("").await;
    hub.write("tools/patient.yaml", PATIENT);
    let tasks = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let listed = async || Modern::new(&hub).result("tools/list", json!({})).await.to_string();
    until("the tool is there", async || listed().await.contains("local__patient")).await;
    let mut modern = Modern::new(&hub);
    modern.capabilities = tasks.clone();
    let receipt = modern.call("local__patient", json!({})).await;
    assert_eq!((&receipt["resultType"], &receipt["ttlMs"]), (&json!("task"), &json!(null)), "{receipt}");
    hub.kill_9();
    hub.restart().await;
    let mut modern = Modern::new(&hub);
    modern.capabilities = tasks;
    let mut last = json!(null);
    until("it is done", async || {
        last = modern.result("tasks/get", json!({"taskId": receipt["taskId"]})).await;
        last["status"] != "working"
    })
    .await;
    assert_eq!(last["status"], "completed", "{last}");
    assert_eq!(last["result"]["structuredContent"], json!({"done": true}), "{last}");
    let month = 30 * 24 * 3_600_000_u64;
    assert!(last["ttlMs"].as_u64().is_some_and(|ttl| ttl >= month), "kept from its end on: {last}");
}
