//! A configuration that changes while the hub runs: by the file or by SIGHUP, whole or not at all.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::json;

use crate::support::{builder, logged, send, until};

async fn hub(yaml: &str) -> Hub {
    builder().config(yaml).start().await
}

/// Sends SIGHUP after the file was written, and waits for the word about it.
async fn reload(hub: &mut Hub, yaml: &str, word: &str) {
    let before = hub.log().matches(word).count();
    hub.write("interlingua.yaml", yaml);
    hub.reload();
    until(word, async || hub.log().matches(word).count() > before).await;
}

const APPLIED: &str = "configuration applied";
const REFUSED: &str = "configuration not applied";

async fn metric(hub: &Hub, name: &str) -> String {
    let text = hub.get("/metrics").await.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap_or_else(|| panic!("no {name} in\n{text}")).trim().to_owned()
}

#[tokio::test]
async fn a_changed_file_takes_effect_without_a_signal() {
    let hub = hub("limits: { body: 64KiB }\n").await;
    let call = json!({"skill": "hub/echo", "arguments": {"text": "x".repeat(4_000)}});
    assert_eq!(hub.post_json("/api/exchanges", &call).await.status, 200);
    hub.write("interlingua.yaml", "limits: { body: 1KiB }\n");
    until("the new limit", async || hub.post_json("/api/exchanges", &call).await.status == 413).await;
}

#[tokio::test]
async fn peers_tokens_and_tools_come_and_go() {
    let mut hub = hub("hub: { name: Alpha & Co }\n").await;
    assert!(hub.get("/").await.text().contains("Alpha &amp; Co"));
    let more = "hub: { name: Alpha & Co }\ntools: { directory: ./tools }\npeers:\n  concierge: { nlip: { url: \"http://127.0.0.1:9/nlip\" } }\naccess:\n  tokens: [{ name: ana, token: ana-token }]\n";
    reload(&mut hub, more, APPLIED).await;
    let names = |answer: interlingua_testkit::Answer| -> Vec<String> {
        let peers = answer.json();
        peers["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|peer| peer["name"].as_str().unwrap_or("").into())
            .collect()
    };
    assert!(names(hub.get("/api/peers").await).contains(&"concierge".to_owned()));
    assert_eq!(hub.post_json("/api/exchanges", &json!({"skill": "local/steps"})).await.status, 200);
    let ana = [("authorization", "Bearer ana-token")];
    assert_eq!(send(&hub, Method::GET, "/api/peers", &ana, None).await.status, 200);

    reload(&mut hub, "hub: { name: Alpha & Co }\n", APPLIED).await;
    assert!(!names(hub.get("/api/peers").await).contains(&"concierge".to_owned()));
    assert_eq!(hub.post_json("/api/exchanges", &json!({"skill": "local/steps"})).await.status, 404);
    assert_eq!(send(&hub, Method::GET, "/api/peers", &ana, None).await.status, 401, "the token was revoked");
}

#[tokio::test]
async fn a_wrong_file_changes_nothing_and_shows() {
    let mut hub = hub("limits: { rate: 100000/s }\n").await;
    reload(&mut hub, "limits: { body: 1KiB, dpeth: 3 }\n", REFUSED).await;
    logged(&hub, &["unknown key `dpeth`; did you mean `depth`?"]).await;
    let call = json!({"skill": "hub/echo", "arguments": {"text": "x".repeat(4_000)}});
    assert_eq!(hub.post_json("/api/exchanges", &call).await.status, 200, "the old one stays, whole");
    assert_ne!(metric(&hub, "interlingua_config_reloads_total{result=\"failed\"}").await, "0");
    reload(&mut hub, "limits: { body: 1KiB }\n", APPLIED).await;
    assert_eq!(hub.post_json("/api/exchanges", &call).await.status, 413);
    assert_ne!(metric(&hub, "interlingua_config_reloads_total{result=\"applied\"}").await, "0");
}

#[tokio::test]
async fn what_a_running_hub_cannot_change_refuses_the_whole_change() {
    let mut hub = hub("hub: { id: alpha }\n").await;
    reload(&mut hub, "hub: { id: beta }\nlimits: { body: 1KiB }\n", REFUSED).await;
    logged(&hub, &["a running hub cannot change hub: restart it"]).await;
    let call = json!({"skill": "hub/echo", "arguments": {"text": "x".repeat(4_000)}});
    assert_eq!(hub.post_json("/api/exchanges", &call).await.status, 200);
    assert_eq!(hub.stop().await.code(), Some(0));
}
