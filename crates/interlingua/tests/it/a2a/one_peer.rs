//! Words to one peer that match none of its skills: refused in the form of each protocol, and only that peer's skills are named. The hub's
//! own help would be mistaken for the peer's answer.

use http::Method;
use serde_json::json;

use crate::mcp::Modern;
use crate::support::{hub, send};

const WORDS: &str = "zebra quartz jukebox";

/// It says whose skills there are, and nothing of the hub's other peers.
fn names_only_its_own(text: &str) {
    assert!(text.contains("'local' has no skill for these words") && text.contains("steps"), "{text}");
    for other in ["find_skills", "graph", "hub/"] {
        assert!(!text.contains(other), "{other}: {text}");
    }
}

#[tokio::test]
async fn words_that_fit_nothing_of_one_peer_are_refused_over_a2a() {
    let hub = hub("").await;
    let message = json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": WORDS}]});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}});
    let answer = send(&hub, Method::POST, "/agents/local/a2a", &[("a2a-version", "1.0")], Some(body)).await.json();
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer.get("result"), None, "{answer}");
    names_only_its_own(&answer["error"].to_string());
}

#[tokio::test]
async fn words_that_fit_nothing_of_one_peer_are_refused_over_nlip() {
    let hub = hub("").await;
    let message = json!({"format": "text", "subformat": "english", "content": WORDS});
    let answer = hub.post_json("/agents/local/nlip", &message).await;
    assert_eq!((answer.status, &answer.json()["messagetype"]), (404, &json!("error")), "{}", answer.text());
    names_only_its_own(&answer.text());
}

#[tokio::test]
async fn words_that_fit_nothing_of_one_peer_are_refused_over_nlweb() {
    let hub = hub("").await;
    let query = json!({"query": {"text": WORDS}, "prefer": {"streaming": false}});
    let answer = hub.post_json("/agents/local/ask", &query).await.json();
    assert!(answer["_meta"]["response_type"] == "Failure" || answer["error"].is_object(), "{answer}");
    names_only_its_own(&answer.to_string());
}

#[tokio::test]
async fn words_that_fit_nothing_of_one_peer_are_refused_over_mcp() {
    let hub = hub("").await;
    let call = json!({"name": "hub__ask", "arguments": {"query": WORDS, "site": "local"}});
    let answer = Modern::new(&hub).ask("tools/call", call).await.text();
    assert!(answer.contains("-32602") && !answer.contains("\"result\""), "{answer}");
    names_only_its_own(&answer);
}

#[tokio::test]
async fn words_to_the_whole_hub_that_fit_nothing_are_still_answered_with_help() {
    let hub = hub("").await;
    let message = json!({"format": "text", "subformat": "english", "content": WORDS});
    let answer = hub.post_json("/nlip", &message).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(answer.text().contains("last_resort"), "{}", answer.text());
}
