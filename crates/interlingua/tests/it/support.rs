//! A hub with a few shell tools of one line, and ways to call it.

use std::time::Duration;

use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Events, Hub, HubBuilder, request, within};
use serde_json::{Value, json};

/// Progress twice, then a result.
const STEPS: &str = r#"
name: steps
description: Counts to two.
effects: { reads: true, idempotent: true }
reply: lines
command: [sh, -c, 'for n in 1 2; do echo "{\"progress\":{\"done\":$n,\"total\":2}}"; done; echo "{\"result\":{\"counted\":2}}"']
"#;

/// Says that it has begun, and takes its time. It is not idempotent, so a call with a key is kept.
const SLOW: &str = r#"
name: slow
description: Takes a minute.
effects: { writes: true }
reply: lines
command: [sh, -c, 'echo "{\"progress\":{\"note\":\"begun\"}}"; exec sleep 60']
timeout: 2m
"#;

const ERASE: &str = r#"
name: erase
description: Erases something.
input: { type: object, properties: { what: { type: string } }, required: [what] }
effects: { destroys: true }
command: [sh, -c, 'echo "{\"erased\":true}"']
"#;

const FAILS: &str = r#"
name: fails
description: Never works.
effects: { reads: true }
command: [sh, -c, 'echo "{\"error\":\"out of paper\"}"; exit 1']
"#;

pub(crate) fn builder() -> HubBuilder {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .file("tools/steps.yaml", STEPS)
        .file("tools/slow.yaml", SLOW)
        .file("tools/erase.yaml", ERASE)
        .file("tools/fails.yaml", FAILS)
}

/// A hub whose own user asks.
pub(crate) async fn hub(yaml: &str) -> Hub {
    builder().config(&format!("tools: {{ directory: ./tools }}\n{yaml}")).start().await
}

pub(crate) async fn send(
    hub: &Hub,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> Answer {
    let mut sent = request(method, path);
    for (name, value) in headers {
        sent = sent.header(*name, *value);
    }
    let body = match body {
        None => Full::default(),
        Some(body) => {
            sent = sent.header("content-type", "application/json");
            Full::new(body.to_string().into())
        }
    };
    hub.connect().await.send(sent.body(body).expect("a request")).await
}

/// Starts a task and returns its id.
pub(crate) async fn start(hub: &Hub, body: Value) -> String {
    let answer = hub.post_json("/api/tasks", &body).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let id = answer.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(answer.header("location"), Some(format!("/api/tasks/{id}").as_str()));
    id
}

/// The task, once it is in this state.
pub(crate) async fn reaches(hub: &Hub, id: &str, state: &str) -> Value {
    let mut last = json!(null);
    for _ in 0..600 {
        last = hub.get(&format!("/api/tasks/{id}")).await.json();
        if last["state"] == state {
            return last;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the task does not become {state}: {last}");
}

/// Waits for what a specification gives so much time, five times that long: machines that run tests are busy, and a hub that
/// does it some other time, or by another timer, is later still.
pub(crate) async fn at_most<T>(what: &str, bound: Duration, future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(5 * bound, future).await;
    waited.unwrap_or_else(|_| panic!("{what}: not within five times {bound:?}"))
}

/// Waits until something can be seen.
pub(crate) async fn until(what: &str, mut seen: impl AsyncFnMut() -> bool) {
    within(what, async {
        while !seen().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

/// The line of the hub's log that has all of these words. What a hub writes reaches a test through a thread of its own,
/// so a line may come after the answer it belongs to.
pub(crate) async fn logged(hub: &Hub, words: &[&str]) -> String {
    let found = || hub.log().lines().find(|line| words.iter().all(|word| line.contains(word))).map(str::to_owned);
    until(&format!("a line of the log with {words:?}"), async || found().is_some()).await;
    found().expect("just seen; a log only grows")
}

/// Server-sent events of a whole body: name, number, data.
pub(crate) fn events(text: &str) -> Vec<(String, String, Value)> {
    let field = |block: &str, name: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().trim().to_owned()
    };
    let blocks = text.split("\n\n").filter(|block| block.contains("data:"));
    blocks
        .map(|block| {
            let data = serde_json::from_str(&field(block, "data:")).expect("JSON on one line");
            (field(block, "event:"), field(block, "id:"), data)
        })
        .collect()
}

/// Opens a stream of events on a connection of its own, which closes when both are dropped.
pub(crate) async fn streaming(
    hub: &Hub,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> (interlingua_testkit::Connection, Events) {
    let mut sent =
        request(method, path).header("accept", "text/event-stream").header("content-type", "application/json");
    for (name, value) in headers {
        sent = sent.header(*name, *value);
    }
    let body = body.map(|body| body.to_string()).unwrap_or_default();
    let mut connection = hub.connect().await;
    let events = connection.events(sent.body(Full::new(body.into())).expect("a request")).await;
    assert_eq!(events.status, 200);
    (connection, events)
}
