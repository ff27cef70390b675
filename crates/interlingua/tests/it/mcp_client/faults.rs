//! Servers that are killed, hang, flood, send invalid data, break off or lose state, as callers see them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::*;
use crate::support::{at_most, reaches, start};

#[tokio::test]
async fn m_27_a_call_that_may_have_happened_is_not_made_again_and_one_that_reads_is() {
    let everywhere = Everywhere::start(&[("near", "stdio", "modern")]).await;
    let died = call(&everywhere.hub, "near/die", json!({})).await;
    assert_eq!(fault(&died), "outcome_unknown", "{died}");
    assert_eq!(everywhere.logs[0].count("call die"), 1);
    let again = call(&everywhere.hub, "near/die_reading", json!({})).await;
    assert_eq!(said(&again), "alive again", "{again}");
    assert_eq!(everywhere.logs[0].count("call die_reading"), 2);
}

#[tokio::test]
async fn m_26_an_expired_session_is_opened_again_once_and_the_call_made_once_more() {
    let everywhere = Everywhere::start(&[("far", "http", "legacy"), ("other", "http", "legacy")]).await;
    assert_eq!(said(&call(&everywhere.hub, "other/once", json!({})).await), "done");
    assert_eq!(said(&call(&everywhere.hub, "far/forget", json!({})).await), "forgotten");
    assert_eq!(said(&call(&everywhere.hub, "far/once", json!({})).await), "done");
    assert_eq!(everywhere.logs[0].count("session"), 2);
    assert_eq!(everywhere.logs[0].count("call once"), 1);
    assert_eq!(said(&call(&everywhere.hub, "other/once", json!({})).await), "done");
    assert_eq!(everywhere.logs[1].count("session"), 1, "the session with another server is untouched");
}

#[tokio::test]
async fn m_27_a_stream_that_breaks_off_in_the_middle_is_an_outcome_nobody_knows() {
    let everywhere = Everywhere::start(&[("modern", "http", "modern"), ("legacy", "http", "legacy")]).await;
    for name in &everywhere.names {
        let dropped = call(&everywhere.hub, &format!("{name}/drop"), json!({})).await;
        assert_eq!(fault(&dropped), "outcome_unknown", "{name}: {dropped}");
        assert_eq!(said(&call(&everywhere.hub, &format!("{name}/echo"), json!({"text": "on"})).await), "on", "{name}");
    }
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        assert_eq!(log.count("call drop"), 1, "{name}: it is not made again");
    }
}

#[tokio::test]
async fn m_41_nonsense_between_messages_is_passed_over_and_nonsense_as_an_answer_is_a_bad_reply() {
    let everywhere = Everywhere::start(&[("near", "stdio", "legacy"), ("far", "http", "modern")]).await;
    let near = call(&everywhere.hub, "near/garbage", json!({})).await;
    assert_eq!(said(&near), "and then an answer", "{near}");
    let far = call(&everywhere.hub, "far/garbage", json!({})).await;
    assert_eq!(fault(&far), "outcome_unknown", "{far}");
    assert_eq!(said(&call(&everywhere.hub, "far/echo", json!({"text": "on"})).await), "on");
}

#[tokio::test]
async fn a_flood_of_progress_drowns_nothing() {
    let everywhere = Everywhere::start(&[("near", "stdio", "legacy"), ("far", "http", "modern")]).await;
    for name in &everywhere.names {
        let (flood, echo) = (format!("{name}/flood"), format!("{name}/echo"));
        let flood = call(&everywhere.hub, &flood, json!({}));
        let echo = call(&everywhere.hub, &echo, json!({"text": "heard"}));
        let (flooded, echoed) = futures_util::future::join(flood, echo).await;
        assert_eq!((said(&flooded), said(&echoed)), ("5000".to_owned(), "heard".to_owned()), "{name}");
    }
}

#[tokio::test]
async fn a_hub_that_stops_closes_the_input_of_its_programs_which_end_by_themselves() {
    let mut everywhere = Everywhere::start(&[("near", "stdio", "legacy")]).await;
    assert_eq!(said(&call(&everywhere.hub, "near/echo", json!({"text": "on"})).await), "on");
    assert_eq!(everywhere.hub.stop().await.code(), Some(0));
    assert_eq!(everywhere.logs[0].count("input closed"), 1);
    assert!(!everywhere.hub.log().contains("exchanges_not_ended"), "{}", everywhere.hub.log());
}

#[tokio::test]
async fn m_32_a_cancel_reaches_the_server() {
    let everywhere = Everywhere::start(&[("near", "stdio", "modern"), ("far", "http", "legacy")]).await;
    for (name, log) in everywhere.names.iter().zip(&everywhere.logs) {
        let task = start(&everywhere.hub, json!({"skill": format!("{name}/hang"), "arguments": {}})).await;
        until("the call to arrive", async || log.count("call hang") == 1).await;
        let path = format!("/api/tasks/{task}/signals");
        everywhere.hub.post_json(&path, &json!({"cancel": true})).await;
        reaches(&everywhere.hub, &task, "cancelled").await;
        until("the server to be told", async || log.count("cancelled") == 1).await;
        assert_eq!(said(&call(&everywhere.hub, &format!("{name}/echo"), json!({"text": "on"})).await), "on", "{name}");
    }
}

#[tokio::test]
async fn m_32_a_cancel_reaches_a_server_that_has_not_begun_to_answer() {
    let everywhere = Everywhere::start(&[("silent", "http", "legacy")]).await;
    let (hub, log) = (&everywhere.hub, &everywhere.logs[0]);
    let task = start(hub, json!({"skill": "silent/hang", "arguments": {"silent": true}})).await;
    until("the call to arrive", async || log.count("call hang") == 1).await;
    hub.post_json(&format!("/api/tasks/{task}/signals"), &json!({"cancel": true})).await;
    reaches(hub, &task, "cancelled").await;
    until("the server to be told", async || log.count("cancelled") == 1).await;
}

#[tokio::test]
async fn m_24_a_server_that_hangs_holds_up_neither_its_other_calls_nor_other_servers() {
    let log = Log::new();
    let hung = program("legacy", &log).replace("{ trust_hints", "{ timeout: 300ms, trust_hints");
    let silent = "{ mcp: { command: sleep, args: [\"1000\"] } }".to_owned();
    let dead = "{ mcp: { url: \"http://127.0.0.1:1/mcp\" } }".to_owned();
    let patient = program("legacy", &log).replace("{ trust_hints", "{ timeout: 1m, trust_hints");
    let (never, listing) = super::scripted::lists_never().await;
    let never = format!("{{ timeout: 300ms, mcp: {{ url: \"http://{}/mcp\" }} }}", never.address());
    let peers = [("silent", silent), ("dead", dead), ("never", never), ("hung", hung), ("patient", patient)];
    let hub = builder(&peers).start().await;
    // What a list waits for at most is what each server is given to start.
    at_most("the list of the one that works", Duration::from_secs(5), listed(&hub, "hung")).await;
    listed(&hub, "patient").await;
    until("the one that never lists to be asked", async || listing.load(Ordering::SeqCst) > 0).await;
    let client = Modern::new(&hub);
    let lists = async || {
        let began = std::time::Instant::now();
        let names = client.result("tools/list", json!({})).await["tools"].to_string();
        (began.elapsed(), names.contains("hung__echo"))
    };
    let hangs = start(&hub, json!({"skill": "hung/hang", "arguments": {}})).await;
    for _ in 0..3 {
        let (took, there) = lists().await;
        assert!(there, "the list is not emptied by those that hang");
        assert!(took < Duration::from_secs(1), "nor held up: {took:?}");
    }
    reaches(&hub, &hangs, "failed").await;
    assert!(lists().await.1);
    let late = at_most("its own timeout", Duration::from_secs(1), call(&hub, "hung/hang", json!({}))).await;
    assert_eq!(fault(&late), "deadline", "{late}");
    assert_eq!(said(&call(&hub, "hung/echo", json!({"text": "well"})).await), "well");
    // Each has its own timeout: the same call ends at one and is answered at the other.
    let (slow, seconds) = (|name: &str| format!("{name}/slow"), json!({"seconds": 2}));
    assert_eq!(fault(&call(&hub, &slow("hung"), seconds.clone()).await), "deadline");
    assert_eq!(said(&call(&hub, &slow("patient"), seconds).await), "at last");
    until("the dead one to be seen", async || peer(&hub, "dead").await["health"] == "down").await;
    assert_eq!(hub.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_server_that_is_restarted_is_found_again() {
    let log = Log::new();
    let mut first = server("legacy", &log).await;
    let address = first.address();
    let hub = hub(&[("far", url(&first))]).await;
    assert_eq!(said(&call(&hub, "far/echo", json!({"text": "one"})).await), "one");
    first.process().kill_9();
    let gone = call(&hub, "far/echo", json!({"text": "two"})).await;
    assert!(gone["error"]["kind"] == "unreachable" || fault(&gone) == "unreachable", "{gone}");
    let mut second = interlingua_testkit::Process::start(at(address, "legacy", &log));
    until("the server to be back", async || {
        let back = call(&hub, "far/echo", json!({"text": "three"})).await;
        back["finished"]["parts"][0]["text"] == "three"
    })
    .await;
    assert_eq!(log.count("session"), 2);
    second.kill_9();
}

/// As `conformance/deviations.md` says of R-09: where a server is gone its call has failed, and the calls beside it are answered.
#[tokio::test]
async fn r_09_a_call_whose_server_is_gone_is_a_response_with_an_error_beside_the_others() {
    let (gone, here) = (Log::new(), Log::new());
    let mut server = server("modern", &gone).await;
    let hub = hub(&[("gone", url(&server)), ("here", program("modern", &here))]).await;
    server.process().kill_9();
    let mut asked = enveloped("gone__once");
    let parameters = json!({"text": "still here"});
    let beside = json!({"tool_id": "u", "tool_name": "mcp__here__echo", "parameters": parameters});
    asked["tool_calls"].as_array_mut().expect("calls").push(beside);
    let answer = hub.post_json("/nlip/route", &asked).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let responses = answer.json();
    let of = |at: usize| (&responses[at]["control"]["message_type"], &responses[at]["tool_results"][0]);
    let (kind, failed) = of(0);
    assert_eq!((kind, &failed["status"], &failed["result"]), (&json!("response"), &json!("error"), &Value::Null));
    assert!(failed["error"].as_str().is_some_and(|text| text.starts_with("unreachable: ")), "{failed}");
    assert_eq!(failed["metadata"]["code"], "unreachable", "{failed}");
    let (kind, done) = of(1);
    assert_eq!((kind, &done["status"], &done["error"]), (&json!("response"), &json!("success"), &Value::Null));
    assert_eq!(here.count("call echo"), 1);
}

#[tokio::test]
async fn m_26_a_server_that_forgets_every_session_is_greeted_once_more_and_the_call_not_made_a_third_time() {
    let forgetful = super::scripted::forgetful().await;
    let other = Log::new();
    let hub = hub(&[("far", super::scripted::line(&forgetful)), ("other", program("legacy", &other))]).await;
    let asked = |method: &str| {
        let of = |heard: &interlingua_testkit::Heard| heard.header("mcp-session-id").map(str::to_owned);
        let heard = forgetful.heard().into_iter().filter(|heard| heard.method == http::Method::POST);
        let heard = heard.filter(|heard| heard.json()["method"] == method);
        heard.map(|heard| of(&heard)).collect::<Vec<_>>()
    };
    let greeted = asked("initialize").len();
    let refused = call(&hub, "far/look", json!({})).await;
    let kind = if refused["error"].is_null() { fault(&refused) } else { &refused["error"]["kind"] };
    assert_eq!(kind, "unreachable", "{refused}");
    let calls = asked("tools/call");
    assert!(calls.len() == 2 && calls[0].is_some() && calls[1].is_some() && calls[0] != calls[1], "{calls:?}");
    assert_eq!(asked("initialize").len(), greeted + 1, "one more session was opened");
    assert_eq!(said(&call(&hub, "other/echo", json!({"text": "on"})).await), "on");
    assert_eq!(other.count("start"), 1, "the other server is untouched");
}
