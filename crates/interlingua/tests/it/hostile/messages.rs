//! Invalid bodies over HTTP.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use interlingua_testkit::{
    Hub,
    hostile::{Case, Shape, json, nlip_complaint},
    request,
};

use super::{assert_well, hub, settle, under_watch};

#[tokio::test]
async fn n_45_n_46_no_body_causes_a_5xx() {
    let hub = hub().await;
    let complaints = under_watch(&hub, complaints(&hub, "/nlip", Shape::Nlip, json::cases())).await;
    settle(&complaints);
    assert_well(&hub).await;
}

#[tokio::test]
async fn n_45_a_refusal_is_an_nlip_message_on_both_spellings_of_the_path() {
    let hub = hub().await;
    let few = || {
        let cases = json::cases().into_iter().enumerate();
        cases.filter(|(at, case)| *at < 8 || case.name.contains("UTF-8")).map(|(_, case)| case).collect::<Vec<_>>()
    };
    assert!(few().iter().any(|case| case.name.contains("UTF-8")), "what is no UTF-8 is among them");
    settle(&complaints(&hub, "/nlip", Shape::Nlip, few()).await);
    settle(&complaints(&hub, "/nlip/", Shape::Nlip, few()).await);
}

#[tokio::test]
async fn r_38_the_envelope_refuses_the_same_bodies_in_its_own_shape() {
    let hub = hub().await;
    let refused =
        json::cases().into_iter().filter(|case| !case.name.contains("submessage") && !case.name.contains("label"));
    let complaints = under_watch(&hub, complaints(&hub, "/nlip/route", Shape::Envelope, refused.collect())).await;
    settle(&complaints);
    assert_well(&hub).await;
}

#[tokio::test]
async fn n_48_twenty_thousand_tokens_are_answered_and_stall_nobody() {
    let hub = hub().await;
    let cases = vec![json::many_tokens(json::TOKENS), json::many_values()];
    settle(&under_watch(&hub, complaints(&hub, "/nlip", Shape::Nlip, cases)).await);
    assert_well(&hub).await;
}

/// How long somebody else waits for an answer at the most while this goes on.
async fn longest_wait(hub: &Hub, attack: impl Future<Output = ()>) -> Duration {
    let longest = Cell::new(Duration::ZERO);
    let watch = async {
        loop {
            let began = Instant::now();
            assert_eq!(hub.get("/healthz").await.status, 200);
            longest.set(longest.get().max(began.elapsed()));
        }
    };
    tokio::select! {
        () = attack => longest.get(),
        () = watch => unreachable!("the watch has no end"),
    }
}

/// The best of a few runs counts: how busy the machine is shows in the others. A hub that answers nobody else meanwhile is late
/// in every one of them.
#[tokio::test]
async fn n_48_others_are_answered_while_twenty_thousand_tokens_are_and_all_of_them_come_back() {
    let hub = hub().await;
    let message = json::many_tokens(json::TOKENS).body;
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let idle = longest_wait(&hub, tokio::time::sleep(Duration::from_millis(500))).await;
        let attack = async {
            let answer = hub.post("/nlip", "application/json", message.clone()).await;
            assert_eq!(answer.status, 200, "{:.300}", answer.text());
            let reply = answer.json();
            let parts = reply["submessages"].as_array().expect("submessages");
            let back: HashSet<&str> = parts.iter().filter_map(|part| part["content"].as_str()).collect();
            let lost = (0..json::TOKENS).filter(|number| !back.contains(format!("t{number}").as_str())).count();
            assert_eq!(lost, 0, "of {} tokens", json::TOKENS);
        };
        least = least.min(longest_wait(&hub, attack).await.saturating_sub(idle));
    }
    assert!(least < Duration::from_secs(1), "others waited {least:?} longer than else");
}

/// How long the hub's threads were on a processor, in nanoseconds: how busy the machine is does not count.
fn worked(hub: &Hub) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{}/task", hub.id())).expect("it runs").flatten();
    let times = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok());
    times.filter_map(|time| time.split(' ').next()?.parse::<u64>().ok()).sum()
}

/// Eight times as many cost eight times as much, and less than three times that; where each looks through all before it, they
/// cost sixty-four times as much. The least of a few runs of each counts: what the hub does beside them is in the others.
#[tokio::test]
async fn n_48_the_cost_of_submessages_grows_with_their_number_only() {
    const FEW: usize = 5_000;
    let hub = hub().await;
    let cost = async |count: usize| {
        let mut least = u64::MAX;
        for _ in 0..3 {
            let before = worked(&hub);
            settle(&complaints(&hub, "/nlip", Shape::Nlip, vec![json::many_tokens(count)]).await);
            least = least.min(worked(&hub) - before);
        }
        least
    };
    // The first message also pays for what is made once.
    cost(FEW).await;
    let (few, many) = (cost(FEW).await, cost(8 * FEW).await);
    assert!(many < 24 * few, "{FEW} cost {few} ns, eight times as many {many} ns");
}

/// As above: bytes of one routed message, from reading over the tool to writing.
#[tokio::test]
async fn r_42_the_cost_of_routing_grows_with_the_size_of_a_message_only() {
    const FEW: usize = 20_000;
    let hub = hub().await;
    let mut number = 0;
    let mut cost = async |items: usize| {
        let mut least = u64::MAX;
        for _ in 0..3 {
            number += 1;
            let data: Vec<serde_json::Value> = (0..items).map(|at| serde_json::json!({"at": at})).collect();
            let message = serde_json::json!({
                "control": {"message_type": "request", "message_id": format!("m{number}")},
                "tool_calls": [{"tool_id": "t", "tool_name": "mcp__hub__echo", "parameters": {"data": data}}],
            });
            let before = worked(&hub);
            let answer = hub.post_json("/nlip/route", &message).await;
            least = least.min(worked(&hub) - before);
            let result = &answer.json()[0]["tool_results"][0];
            assert_eq!(result["status"], "success", "{:.300}", answer.text());
            assert_eq!(result["result"]["data"].as_array().map(Vec::len), Some(items));
        }
        least
    };
    cost(FEW).await;
    let (few, many) = (cost(FEW).await, cost(8 * FEW).await);
    assert!(many < 24 * few, "{FEW} items cost {few} ns, eight times as many {many} ns");
}

#[tokio::test]
async fn n_47_a_body_over_the_limit_gets_413_and_one_at_the_limit_is_no_5xx() {
    let hub = hub().await;
    let cases = vec![json::over_the_limit(), json::just_below_the_limit()];
    settle(&under_watch(&hub, complaints(&hub, "/nlip", Shape::Nlip, cases)).await);
    assert_well(&hub).await;
}

/// So small that the whole body is on its way before the hub says no.
#[tokio::test]
async fn n_47_the_answer_to_a_body_over_the_limit_is_413_with_an_nlip_message() {
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), "limits: { body: 4KiB }\n").await;
    let sized = |bytes: usize| {
        let content = "x".repeat(bytes);
        serde_json::json!({"format": "text", "subformat": "english", "content": content})
    };
    let over = hub.post_json("/nlip", &sized(5 * 1024)).await;
    assert_eq!(over.status, 413, "{}", over.text());
    assert_eq!(nlip_complaint(&over.json()), None, "{}", over.text());
    crate::nlip::assert_fits_annex_a(&over.json());
    let under = hub.post_json("/nlip", &sized(3 * 1024)).await;
    assert_eq!(under.status, 200, "{}", under.text());
}

/// Sends each case on a connection of its own.
async fn complaints(hub: &Hub, path: &str, shape: Shape, cases: Vec<Case>) -> Vec<String> {
    let mut complaints = Vec::new();
    for case in cases {
        let mut builder = request(http::Method::POST, path);
        if !case.content_type.is_empty() {
            builder = builder.header("content-type", case.content_type);
        }
        for (name, value) in case.headers {
            builder = builder.header(*name, *value);
        }
        let sent = builder.body(Full::<Bytes>::new(case.body.clone())).expect("a request");
        // A connection closed in the middle of a body that is refused anyway is a clean end, too.
        match hub.connect().await.try_send(sent).await {
            Ok(answer) => {
                complaints.extend(case.expected.complaint(&answer, shape).map(|what| format!("{}: {what}", case.name)))
            }
            Err(error) if case.body.len() > json::BODY_LIMIT => drop(error),
            Err(error) => complaints.push(format!("{}: no answer: {error:?}", case.name)),
        }
    }
    complaints
}
