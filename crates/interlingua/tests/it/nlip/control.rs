//! ECMA-430, clause 6.3: control messages.

use super::{ask, hub, text, token, tokens, with};

#[tokio::test]
async fn n_35_a_control_message_is_answered_by_a_control_message() {
    let mut message = text("hello");
    message["messagetype"] = "control".into();
    let reply = ask(&hub().await, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}

#[tokio::test]
async fn n_36_the_boolean_of_the_first_draft_is_understood() {
    let mut message = text("hello");
    message["control"] = true.into();
    let reply = ask(&hub().await, &message).await;
    assert_eq!(reply["messagetype"], "control", "{reply}");
}

/// A control message, with these tokens.
fn control(content: &str, tokens: &[serde_json::Value]) -> serde_json::Value {
    let mut message = with(text(content), tokens);
    message["messagetype"] = "control".into();
    message
}

fn authentication(reply: &serde_json::Value) -> Vec<serde_json::Value> {
    tokens(reply).into_iter().filter(|token| token["subformat"] == "authentication").collect()
}

#[tokio::test]
async fn n_70_asked_to_authenticate_the_hub_does_so_now_and_in_every_later_answer() {
    let hub = hub().await;
    let first = ask(&hub, &text("hello")).await;
    assert_eq!(authentication(&first), [] as [serde_json::Value; 0], "nobody asked yet: {first}");
    let asked = ask(&hub, &control("Please authenticate yourself.", &tokens(&first))).await;
    assert_eq!(asked["messagetype"], "control", "{asked}");
    let identity = authentication(&asked);
    assert_eq!(identity.len(), 1, "{asked}");
    // Whether the other side brings back all tokens of the hub or only that of the conversation, the answers bear it once.
    let later = ask(&hub, &with(text("hello"), &tokens(&asked))).await;
    assert_eq!(authentication(&later), identity, "{later}");
    let later = ask(&hub, &with(text("echo: hi"), &tokens(&first))).await;
    assert_eq!(authentication(&later), identity, "{later}");
    // The hub's token is of one conversation, and beside the other side's own.
    let other = ask(&hub, &control("Identify yourself", &[token("authentication", "mine")])).await;
    assert_eq!(authentication(&other).len(), 2, "{other}");
    assert!(!authentication(&other).contains(&identity[0]), "{other}");
}

#[tokio::test]
async fn n_70_an_identity_of_the_hub_is_no_credential() {
    let hub = hub().await;
    let identity = authentication(&ask(&hub, &control("Who are you? Please authenticate.", &[])).await).remove(0);
    let bearer = format!("Bearer {}", identity["content"].as_str().expect("a text"));
    let sent = interlingua_testkit::request(::http::Method::GET, "/api/tasks").header("authorization", bearer);
    let answer = hub.connect().await.send(sent.body(Default::default()).expect("a request")).await;
    assert_eq!(answer.status, 401, "{}", answer.text());
}
