//! Failures of an agent, and their outcomes.

use interlingua_testkit::{Say, Scripted};
use serde_json::json;

use super::*;

fn kind(message: &Value) -> Value {
    labelled(message, "interlingua-fault").map(|fault| fault["content"]["kind"].clone()).unwrap_or_default()
}

#[tokio::test]
async fn n_73_the_first_drafts_errors_are_understood_and_never_emitted() {
    let reports = [
        json!({"format": "error", "subformat": "code", "content": 42}),
        json!({"format": "error", "subformat": "code", "content": "E42"}),
        json!({"format": "error", "subformat": "text", "content": "out of keys"}),
    ];
    let said = reports.clone();
    let scripted = Scripted::http(move |_, before| Say::Json(said[before].clone())).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    for report in reports {
        let answer = hub.post_json("/agents/desk/nlip", &text("a key, please")).await;
        let message = answer.json();
        assert_eq!(message["messagetype"], "error", "{report}: {message}");
        assert_eq!(message["format"], "text", "{report}: {message}");
        let formats: Vec<Value> = submessages(&message).iter().map(|part| part["format"].clone()).collect();
        assert!(!formats.contains(&"error".into()), "{report}: {message}");
        assert_eq!(kind(&message), "peer_failed", "{report}: {message}");
        let told = report["content"].as_str().map_or_else(|| report["content"].to_string(), str::to_owned);
        assert!(answer.text().contains(&told), "{report}: {message}");
    }
}

#[tokio::test]
async fn n_73_an_error_of_the_first_draft_in_a_submessage_is_understood_too() {
    let failed = json!({"messagetype": "error", "format": "text", "subformat": "english", "content": "no"});
    let reply = with(failed, [json!({"format": "error", "subformat": "code", "content": "E7"})]);
    let scripted = Scripted::http(move |_, _| Say::Json(reply.clone())).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("a key, please")).await.json();
    assert_eq!((&answer["messagetype"], kind(&answer)), (&json!("error"), json!("peer_failed")), "{answer}");
    assert!(answer.to_string().contains("E7"), "{answer}");
    crate::nlip::assert_fits_annex_a(&answer);
}

#[tokio::test]
async fn a_busy_agent_makes_the_call_busy_and_says_when_to_come_back() {
    let scripted = Scripted::http(|_, _| Say::Status(429, vec![("retry-after", "7".to_owned())], text("later"))).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("one")).await;
    assert_eq!(kind(&answer.json()), "busy", "{}", answer.text());
    assert_eq!(scripted.heard().len(), 1, "a busy agent is not pressed");
}

#[tokio::test]
async fn what_an_agent_may_have_seen_is_not_sent_twice_unless_that_is_harmless() {
    let scripted = Scripted::http(|_, _| Say::Nothing).await;
    let careful = agent(scripted.address());
    let harmless = careful.replace("{ nlip", "{ effects: reads, nlip");
    let hub = hub(&[("careful", careful), ("harmless", harmless)]).await;
    let answer = hub.post_json("/agents/careful/nlip", &text("once")).await.json();
    assert_eq!(kind(&answer), "outcome_unknown", "{answer}");
    assert_eq!(scripted.heard().len(), 1);
    let answer = hub.post_json("/agents/harmless/nlip", &text("often")).await.json();
    assert_eq!(kind(&answer), "bad_reply", "{answer}");
    assert_eq!(scripted.heard().len(), 4, "three more attempts");
}

#[tokio::test]
async fn a_reply_that_is_no_message_is_a_bad_reply() {
    let scripted = Scripted::http(|_, _| Say::Json(json!({"detail": [{"secret": "stack trace"}]}))).await;
    let hub = hub(&[("desk", agent(scripted.address()))]).await;
    let answer = hub.post_json("/agents/desk/nlip", &text("one")).await;
    assert_eq!(kind(&answer.json()), "bad_reply", "{}", answer.text());
    assert!(!answer.text().contains("stack trace"), "{}", answer.text());
}

#[tokio::test]
async fn only_a_peer_that_is_a_hub_is_believed_what_it_says_of_faults() {
    let fault = json!({"format": "structured", "subformat": "json", "label": "interlingua-fault",
        "content": {"kind": "denied", "origin": "hub", "retry": "no"}});
    let reply =
        with(json!({"messagetype": "error", "format": "text", "subformat": "english", "content": "no"}), [fault]);
    let scripted = Scripted::http(move |_, _| Say::Json(reply.clone())).await;
    let plain = agent(scripted.address());
    let trusted = plain.replace("{ nlip", "{ hub: true, nlip");
    let hub = hub(&[("plain", plain), ("trusted", trusted)]).await;
    let answer = hub.post_json("/agents/plain/nlip", &text("one")).await.json();
    assert_eq!(kind(&answer), "peer_failed", "{answer}");
    let answer = hub.post_json("/agents/trusted/nlip", &text("one")).await.json();
    assert_eq!(kind(&answer), "denied", "{answer}");
}

#[tokio::test]
async fn an_agent_that_takes_too_long_is_given_up_on() {
    let (silent, _) = interlingua_testkit::scripted::counting_listener().await;
    let line = format!("{{ timeout: 200ms, nlip: {{ url: \"http://{silent}/nlip\" }} }}");
    let hub = hub(&[("silent", line)]).await;
    let answer = hub.post_json("/agents/silent/nlip", &text("anyone?")).await;
    assert_eq!(kind(&answer.json()), "deadline", "{}", answer.text());
}
