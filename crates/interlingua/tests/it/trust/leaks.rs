//! More places where a secret could leak: a website that is driven with one, a peer that echoes what it was sent, and the last output of a
//! hub that is killed.

use interlingua_testkit::pages::{Pages, html};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::canaries::{Seen, read_everything, read_files};
use crate::support::{builder, until};

const CARD: &str = "canary-card-4111-77";
const TOKEN: &str = "canary-echoed-token-19";
const OUTER: &str = "c0ffee10c0ffee11c0ffee12c0ffee13c0ffee14c0ffee15c0ffee16c0ffee17";
const LOUD: &str = "telemetry: { log: { level: trace } }\nstore: { encryption: { key: \"file:outer.key\" } }\n";
/// More than a hub says in a test, however loud it is.
const LINES: usize = 2_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_website_is_driven_with_is_in_nothing_the_hub_says_or_writes() {
    let pages = Pages::start([("/", html("<p id='out'>taken</p>"))]).await;
    let order = json!({"interface_id": "shop", "name": "Shop", "base_url": pages.base(), "description": "d", "actions": {
        "pay": {"effects": "reads", "parameters": {"card": {"secret": true}}, "steps": [
            {"action_type": "navigate", "value": "/?{card}"},
            {"action_type": "extract", "selector": "#out", "extract_schema": {"said": "."}}]},
        "fail": {"effects": "reads", "parameters": {"card": {"secret": true}}, "steps": [
            {"action_type": "navigate", "value": "/?{card}"},
            {"action_type": "click", "selector": "#not-there", "timeout": "1s"}]}}});
    let config = format!("{LOUD}peers: {{ shop: {{ site: ./shop.json }} }}\n");
    let builder = builder().file("outer.key", OUTER).file("shop.json", order.to_string()).config(&config);
    let mut hub = builder.keeping_lines(LINES).start().await;
    let mut seen = Seen::default();
    for skill in ["shop/pay", "shop/fail"] {
        let call = json!({"skill": skill, "arguments": {"card": CARD}});
        seen.answer(skill, &hub.post_json("/api/exchanges", &call).await);
        seen.answer(skill, &hub.post_json("/api/tasks", &call).await);
    }
    until("the page saw it", async || pages.asked().iter().any(|line| line.contains(CARD))).await;
    read_everything(&hub, &mut seen).await;
    hub.stop().await;
    read_files(&hub.data(), &mut seen);
    seen.add("log", hub.log());
    assert!(hub.log().contains("INFO"), "the log was read");
    assert_eq!(seen.places(CARD), Vec::<&str>::new());
}

/// A server that says back all it was sent, as a success under `/nlip` and as a failure elsewhere.
async fn echoes(listener: TcpListener) {
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        connections.spawn(async move {
            let mut piece = vec![0; 16 * 1024];
            let read = stream.read(&mut piece).await.unwrap_or(0);
            let heard = String::from_utf8_lossy(&piece[..read]).into_owned();
            let status = if heard.starts_with("POST /nlip") { "200 OK" } else { "400 Bad Request" };
            let body = json!({"format": "text", "subformat": "english", "content": heard, "error": heard}).to_string();
            let head = format!("content-type: application/json\r\ncontent-length: {}\r\nx-echo: {TOKEN}", body.len());
            let answer = format!("HTTP/1.1 {status}\r\n{head}\r\nconnection: close\r\n\r\n{body}");
            // Whoever asked may have left.
            let _left = stream.write_all(answer.as_bytes()).await;
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_peer_says_back_is_its_callers_alone_and_a_hub_that_is_struck_down_tells_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let mut serving = JoinSet::new();
    serving.spawn(echoes(listener));
    let config = format!(
        "{LOUD}peers:\n  good: {{ nlip: {{ url: \"http://127.0.0.1:{port}/nlip\", token: {TOKEN} }} }}\n  \
         bad: {{ nlip: {{ url: \"http://127.0.0.1:{port}/other\", token: {TOKEN} }} }}\n  \
         server: {{ mcp: {{ url: \"http://127.0.0.1:{port}/mcp\", token: {TOKEN} }} }}\n  \
         agent: {{ a2a: {{ url: \"http://127.0.0.1:{port}\", token: {TOKEN} }} }}\n"
    );
    let mut hub = builder().file("outer.key", OUTER).config(&config).keeping_lines(LINES).start().await;
    let mut seen = Seen::default();
    until("what a peer says reaches its caller", async || {
        let talk = json!({"peer": "good", "text": "hello", "deadline": "5s"});
        hub.post_json("/api/exchanges", &talk).await.text().contains("hello")
    })
    .await;
    for peer in ["bad", "server", "agent"] {
        let talk = json!({"peer": peer, "text": "hello", "deadline": "5s"});
        seen.answer(peer, &hub.post_json("/api/exchanges", &talk).await);
    }
    read_everything(&hub, &mut seen).await;
    let struck = std::process::Command::new("kill").args(["-ABRT", &hub.id().to_string()]).status();
    assert!(struck.expect("it runs").success());
    until("it is gone", async || !hub.is_running()).await;
    read_files(&hub.data(), &mut seen);
    seen.add("log", hub.log());
    assert_eq!(seen.places(TOKEN), Vec::<&str>::new());
}
