//! A failing server as callers of every protocol see it: the same fault, each in its own form.

use super::*;
use crate::mcp::Session;

/// The word of our own for the fault, as a caller of each protocol finds it.
async fn seen(hub: &Hub, peer: &str, tool: &str) -> Vec<(&'static str, String)> {
    let (name, skill) = (format!("{peer}__{tool}"), format!("{peer}/{tool}"));
    let kind = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let mut seen = Vec::new();

    let api = call(hub, &skill, json!({})).await;
    let refused = api["error"]["kind"].as_str().map(str::to_owned);
    seen.push(("api", refused.unwrap_or_else(|| kind(fault(&api)))));

    let modern = Modern::new(hub).call(&name, json!({})).await;
    assert_eq!(modern["isError"], true, "{modern}");
    seen.push(("mcp modern", kind(&modern["_meta"]["interlingua/fault"]["kind"])));

    // Three failures in a row, and it would be taken for down.
    call(hub, &format!("{peer}/echo"), json!({"text": "well"})).await;
    let session = Session::begin(hub, "2025-11-25", json!({})).await;
    let legacy = session.result("tools/call", json!({"name": name, "arguments": {}})).await;
    assert_eq!(legacy["isError"], true, "{legacy}");
    seen.push(("mcp legacy", kind(&legacy["_meta"]["interlingua/fault"]["kind"])));

    let envelope = hub.post_json("/nlip/route", &enveloped(&name)).await.json();
    let result = &envelope[0]["tool_results"][0];
    assert_eq!(result["status"], "error", "{envelope}");
    seen.push(("envelope", result.to_string()));
    seen
}

fn assert_seen(seen: &[(&'static str, String)], expected: &[&str], what: &str) {
    for (caller, kind) in seen {
        let fits = match *caller {
            "envelope" => expected.iter().any(|word| kind.contains(*word)),
            _ => expected.contains(&kind.as_str()),
        };
        assert!(fits, "{what}: {caller} sees {kind}");
    }
}

#[tokio::test]
async fn a_server_that_dies_breaks_off_or_talks_nonsense_leaves_an_outcome_nobody_knows() {
    let everywhere = Everywhere::start(&[("near", "stdio", "modern"), ("far", "http", "legacy")]).await;
    for (peer, tool) in [("near", "die"), ("far", "drop"), ("far", "garbage")] {
        let seen = seen(&everywhere.hub, peer, tool).await;
        assert_seen(&seen, &["outcome_unknown"], &format!("{peer}/{tool}"));
        let well = call(&everywhere.hub, &format!("{peer}/echo"), json!({"text": "well"})).await;
        assert_eq!(said(&well), "well", "the next call of {peer}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_on_when_its_time_is_over() {
    let log = Log::new();
    let line = program("modern", &log).replace("{ trust_hints", "{ timeout: 300ms, trust_hints");
    let hub = hub(&[("near", line)]).await;
    let seen = seen(&hub, "near", "hang").await;
    assert_seen(&seen, &["deadline", "timeout"], "hang");
    until("the server to be told each time", async || log.count("cancelled") == 4).await;
}

#[tokio::test]
async fn a_server_that_is_slow_is_waited_for_as_long_as_it_is_allowed() {
    let log = Log::new();
    let line = |timeout: &str| {
        program("legacy", &log).replace("{ trust_hints", &format!("{{ timeout: {timeout}, trust_hints"))
    };
    let hub = hub(&[("patient", line("30s")), ("hasty", line("500ms"))]).await;
    let slow = call(&hub, "patient/slow", json!({"seconds": 2}));
    let echo = call(&hub, "patient/echo", json!({"text": "quick"}));
    let (slow, echo) = futures_util::future::join(slow, echo).await;
    assert_eq!((said(&slow).as_str(), said(&echo).as_str()), ("at last", "quick"));
    let late = call(&hub, "hasty/slow", json!({"seconds": 5})).await;
    assert_eq!(fault(&late), "deadline", "{late}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_unreachable_and_back_when_it_is_back() {
    let log = Log::new();
    let mut first = server("modern", &log).await;
    let address = first.address();
    let hub = hub(&[("far", url(&first))]).await;
    first.process().kill_9();
    let gone = seen(&hub, "far", "echo").await;
    assert_seen(&gone, &["unreachable"], "killed");
    let _second = interlingua_testkit::Process::start(at(address, "modern", &log));
    until("the server to be back", async || {
        let answer = call(&hub, "far/echo", json!({"text": "back"})).await;
        answer["finished"]["parts"][0]["text"] == "back"
    })
    .await;
}
