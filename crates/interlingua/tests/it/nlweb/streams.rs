//! Sites whose answers arrive in pieces, and sites whose work nobody waits for any more.

use std::sync::Arc;

use interlingua_testkit::{Piece, within};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;
use crate::support::{reaches, start, streaming};

fn question() -> Value {
    json!({"skill": "snacks/ask", "arguments": {"query": "spicy snacks"}})
}

pub(super) fn named(name: &str, index: u32) -> Value {
    json!({"results": [{"@type": "Thing", "name": name, "index": index}]})
}

/// A site that streams two items out of order and a summary, the rest only after it is told to go on.
pub(super) async fn dripping(go_on: Arc<Notify>) -> Scripted {
    Scripted::http(move |_, _| {
        Say::Stream(vec![
            Piece::event(&json!({"_meta": {"version": "0.54", "response_type": "Answer"}})),
            Piece::event(&named("Second", 2)),
            Piece::Until(go_on.clone()),
            Piece::event(&named("First", 1)),
            Piece::event(&json!({"results": [{"@type": "Summary", "text": "Two snacks."}]})),
        ])
    })
    .await
}

#[tokio::test]
async fn q_23_q_42_what_a_site_streams_is_passed_on_as_it_comes() {
    let go_on = Arc::new(Notify::new());
    let site = dripping(go_on.clone()).await;
    let hub = asking(&site).await;
    let (_connection, mut events) = streaming(&hub, Method::POST, "/api/exchanges", &[], Some(question())).await;
    let mut all = Vec::new();
    while let Some(event) = within("the first item, while the site has not gone on", events.next()).await {
        let is_item = event.contains("Second");
        all.push(event);
        if is_item {
            break;
        }
    }
    assert!(all.last().is_some_and(|event| event.contains("Second")), "the stream ended without it: {all:?}");
    go_on.notify_one();
    while let Some(event) = within("the rest", events.next()).await {
        all.push(event);
    }
    let finished = all.iter().find(|event| event.contains("\"outcome\"")).expect("an end");
    let finished: Value = serde_json::from_str(finished).expect("JSON");
    let results = finished["structured"]["results"].as_array().expect("results");
    let names: Vec<&Value> = results.iter().map(|item| &item["name"]).collect();
    assert_eq!(names, ["First", "Second"], "all of them, in their order: {finished}");
    let summaries = all.iter().filter(|event| event.contains("Two snacks.")).count();
    assert_eq!(summaries, 1, "words are said once: {all:?}");
}

#[tokio::test]
async fn q_23_an_answer_that_was_streamed_is_whole_for_who_waits_for_its_end() {
    let go_on = Arc::new(Notify::new());
    go_on.notify_one();
    let hub = asking(&dripping(go_on).await).await;
    let answer = asked(&hub).await;
    assert_eq!(answer["finished"]["structured"]["results"].as_array().map(Vec::len), Some(2), "{answer}");
    let parts = answer["finished"]["parts"].to_string();
    assert_eq!(parts.matches("Two snacks.").count(), 1, "{answer}");
}

#[tokio::test]
async fn a_stream_that_does_not_end_in_time_ends_with_the_time_of_its_peer() {
    let site = dripping(Arc::default()).await;
    let yaml = format!("peers: {{ snacks: {{ timeout: 1s, nlweb: {{ url: \"http://{}/ask\" }} }} }}\n", site.address());
    let hub = builder().config(&yaml).start().await;
    let answer = asked(&hub).await;
    assert_eq!(answer["finished"]["fault"]["kind"], "deadline", "{answer}");
}

/// A site that promises, and promises again.
async fn promising() -> Scripted {
    Scripted::http(move |_, _| {
        let promise = json!({"token": "job-7", "estimated_time": 0});
        Say::Status(202, Vec::new(), json!({"_meta": {"response_type": "promise"}, "promise": promise}))
    })
    .await
}

fn waits_said(site: &Scripted, action: &str) -> usize {
    let waits = |heard: &&interlingua_testkit::Heard| {
        heard.path == "/await" && heard.json() == json!({"promise_token": "job-7", "action": action})
    };
    site.heard().iter().filter(waits).count()
}

async fn is_promised(site: &Scripted) {
    until("the site is looked after", async || waits_said(site, "checkin") > 0).await;
}

async fn is_cancelled(site: &Scripted) {
    until("the site is told to cancel", async || waits_said(site, "cancel") > 0).await;
    assert_eq!(waits_said(site, "cancel"), 1, "once");
}

#[tokio::test]
async fn q_25_q_43_a_promised_job_is_cancelled_when_its_task_is() {
    let site = promising().await;
    let hub = asking(&site).await;
    let task = start(&hub, question()).await;
    is_promised(&site).await;
    assert_eq!(waits_said(&site, "cancel"), 0);
    let path = format!("/api/tasks/{task}");
    assert!(send(&hub, Method::DELETE, &path, &[], None).await.status < 300);
    is_cancelled(&site).await;
    reaches(&hub, &task, "cancelled").await;
}

#[tokio::test]
async fn q_25_q_43_a_promised_job_is_cancelled_when_its_caller_leaves() {
    let site = promising().await;
    let hub = asking(&site).await;
    let (connection, events) = streaming(&hub, Method::POST, "/api/exchanges", &[], Some(question())).await;
    is_promised(&site).await;
    drop((connection, events));
    is_cancelled(&site).await;
}

#[tokio::test]
async fn q_25_q_43_a_promised_job_is_cancelled_when_its_time_is_over() {
    let site = promising().await;
    let yaml = format!("peers: {{ snacks: {{ timeout: 2s, nlweb: {{ url: \"http://{}/ask\" }} }} }}\n", site.address());
    let hub = builder().config(&yaml).start().await;
    let answer = asked(&hub).await;
    assert_eq!(answer["finished"]["fault"]["kind"], "deadline", "{answer}");
    is_cancelled(&site).await;
}

#[tokio::test]
async fn q_25_a_promise_that_was_kept_is_not_cancelled() {
    let site = Scripted::http(move |heard, _| match heard.path.as_str() {
        "/await" => Say::Json(json!({"_meta": {"response_type": "answer"}, "results": [item()]})),
        _ => Say::Json(json!({"_meta": {"response_type": "promise"}, "promise": {"token": "job-7"}})),
    })
    .await;
    let hub = asking(&site).await;
    for _ in 0..3 {
        assert_eq!(asked(&hub).await["state"], "completed");
    }
    assert_eq!((waits_said(&site, "checkin"), waits_said(&site, "cancel")), (3, 0));
}

/// The head of the next request on this connection.
async fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Begins to answer a question, and returns once whoever asked has closed the connection.
pub(super) async fn left_alone(site: &TcpListener, begun: &Notify) {
    loop {
        let (mut stream, _) = site.accept().await.expect("a connection");
        if !head(&mut stream).await.starts_with("POST") {
            continue;
        }
        let event = format!("data: {}\n\n", named("Snack", 1));
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{event}");
        stream.write_all(answer.as_bytes()).await.expect("the hub reads");
        begun.notify_one();
        // The body of the request, then the end.
        let mut rest = Vec::new();
        return drop(stream.read_to_end(&mut rest).await);
    }
}

#[tokio::test]
async fn q_23_a_running_stream_is_closed_when_nobody_wants_it_any_more() {
    let site = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = site.local_addr().expect("an address");
    let hub = builder()
        .config(&format!("peers: {{ snacks: {{ nlweb: {{ url: \"http://{address}/ask\" }} }} }}\n"))
        .start()
        .await;
    let begun = Notify::new();
    let cancels = async {
        let task = start(&hub, question()).await;
        begun.notified().await;
        let path = format!("/api/tasks/{task}");
        assert!(send(&hub, Method::DELETE, &path, &[], None).await.status < 300);
        reaches(&hub, &task, "cancelled").await;
    };
    within("the connection is closed", async { tokio::join!(left_alone(&site, &begun), cancels) }).await;
    let leaves = async {
        let opened = streaming(&hub, Method::POST, "/api/exchanges", &[], Some(question())).await;
        begun.notified().await;
        drop(opened);
    };
    within("the connection is closed again", async { tokio::join!(left_alone(&site, &begun), leaves) }).await;
}
