//! The hub seen from outside: health, metrics, traces, the audit log, and what must never appear in them.

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use interlingua_testkit::{Answer, Collector, Hub, request};
use serde_json::{Value, json};

use crate::support::logged;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

async fn hub(config: &str) -> Hub {
    Hub::start(env!("CARGO_BIN_EXE_interlingua"), config).await
}

fn text(content: &str) -> Value {
    json!({"format": "text", "subformat": "english", "content": content})
}

fn token(kind: &str, content: &str) -> Value {
    json!({"format": "token", "subformat": kind, "content": content})
}

/// A call of a skill by its name.
fn call(skill: &str, arguments: &Value) -> Value {
    let named = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
        "content": {"skill": skill, "arguments": arguments}});
    json!({"format": "text", "subformat": "english", "content": "", "submessages": [named]})
}

async fn post(hub: &Hub, path: &str, message: &Value, headers: &[(&str, &str)]) -> Answer {
    let mut builder = request(Method::POST, path).header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let sent = builder.body(Full::new(Bytes::from(message.to_string()))).expect("a request");
    hub.connect().await.send(sent).await
}

/// The value of one series.
async fn metric(hub: &Hub, series: &str) -> Option<f64> {
    let answer = hub.get("/metrics").await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))?;
    Some(line.parse().expect("a number"))
}

/// The audit once it holds a line with all of these.
async fn audit_with(hub: &Hub, wanted: &[(&str, &str)]) -> Value {
    for _ in 0..200 {
        let page = hub.get("/api/audit").await.json();
        let lines = page["items"].as_array().unwrap_or_else(|| panic!("no page: {page}"));
        let fits = |line: &&Value| wanted.iter().all(|(key, value)| line[*key] == *value);
        if let Some(line) = lines.iter().find(fits) {
            return line.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(25)).await;
    }
    panic!("no line of the audit has {wanted:?}: {}", hub.get("/api/audit").await.text());
}

#[tokio::test]
async fn health_and_readiness_are_told_to_anyone() {
    let hub = hub("access: { anonymous: refused }\n").await;
    for path in ["/healthz", "/readyz"] {
        let builder = request(Method::GET, path).header("sec-fetch-site", "same-origin");
        let answer = hub.connect().await.send(builder.body(Full::default()).expect("a request")).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    }
}

#[tokio::test]
async fn metrics_count_by_protocol_and_outcome_and_time_every_phase() {
    let hub = hub("{}\n").await;
    let completed = "interlingua_exchanges_total{protocol=\"nlip\",outcome=\"completed\"}";
    let not_found = "interlingua_exchanges_total{protocol=\"nlip\",outcome=\"not_found\"}";
    assert_eq!(metric(&hub, completed).await, None, "nothing was counted there yet");
    let fresh = hub.get("/metrics").await.text();
    assert!(fresh.contains("interlingua_build_info{version=\""), "{fresh}");
    assert!(fresh.contains("\ninterlingua_calls_shed_total 0\n"), "{fresh}");
    let zeros = fresh.lines().filter(|line| line.ends_with("} 0") && !line.contains("_bucket{")).count();
    assert!(zeros < 20, "{zeros} series that were never touched:\n{fresh}");
    for _ in 0..3 {
        assert_eq!(hub.post_json("/nlip", &call("hub/echo", &json!({"a": 1}))).await.status, 200);
    }
    hub.post_json("/nlip", &call("nobody/nothing", &json!({}))).await;
    hub.post("/nlip", "application/json", "{").await;
    assert_eq!(metric(&hub, completed).await, Some(3.0));
    assert_eq!(metric(&hub, not_found).await, Some(1.0));
    assert_eq!(metric(&hub, "interlingua_invalid_frames_total{protocol=\"nlip\"}").await, Some(1.0));
    for phase in ["accept", "decode", "authenticate", "resolve", "validate", "authorize", "dispatch", "encode"] {
        let seen = metric(&hub, &format!("interlingua_phase_seconds_count{{phase=\"{phase}\"}}")).await;
        assert!(seen >= Some(3.0), "{phase}: {seen:?}");
    }
    assert!(metric(&hub, "interlingua_connections").await >= Some(1.0), "this very connection");
    assert!(metric(&hub, "interlingua_peers{health=\"up\"}").await >= Some(1.0));
    assert_eq!(metric(&hub, "interlingua_exchanges_in_flight").await, Some(0.0), "all are over");
    let answer = hub.get("/metrics").await;
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(!answer.text().contains("hub/echo"), "no name is a label");
}

#[tokio::test]
async fn n_64_the_trace_of_a_call_is_in_the_answer_the_log_and_the_audit() {
    let hub = hub("telemetry: { log: { level: debug, format: json } }\n").await;
    let answer = post(&hub, "/nlip", &call("hub/echo", &json!({})), &[("traceparent", PARENT)]).await;
    let told = answer.header("traceparent").expect("the trace is told");
    assert!(told.contains(TRACE) && told != PARENT, "{told}: in the caller's trace, a span of our own");
    let line: Value = serde_json::from_str(&logged(&hub, &[TRACE, "hub/echo"]).await).expect("JSON");
    assert_eq!((&line["span"]["trace_id"], &line["span"]["wire"]), (&json!(TRACE), &json!("nlip/1")), "{line}");
    assert!(line["span"]["task"].is_string(), "{line}");
    let line = audit_with(&hub, &[("trace", TRACE), ("action", "authorize"), ("on", "hub/echo")]).await;
    assert_eq!(line["wire"], "nlip/1", "{line}");
}

#[tokio::test]
async fn n_64_a_call_without_a_trace_gets_one_and_so_does_a_refusal() {
    let hub = hub("telemetry: { log: { level: debug } }\n").await;
    let answered = hub.post_json("/nlip", &call("hub/echo", &json!({}))).await;
    let refused = hub.post("/nlip", "application/json", "{").await;
    let again = post(&hub, "/nlip", &text("hello"), &[("traceparent", "nonsense")]).await;
    let ids: Vec<String> = [answered, refused, again]
        .iter()
        .map(|answer| answer.header("traceparent").expect("a trace").split('-').nth(1).expect("an id").to_owned())
        .collect();
    assert!(ids.iter().all(|id| id.len() == 32) && ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
    logged(&hub, &[&ids[0]]).await;
}

/// Secrets of every kind a caller can send, on every door; then everything the hub wrote is searched for them.
#[tokio::test]
async fn n_65_no_token_or_secret_reaches_a_log_the_journal_or_the_audit() {
    let config = "telemetry: { log: { level: trace } }\naccess: { tokens: [{ name: ann, token: \"${ANN}\" }] }\n";
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(config);
    let mut hub = builder.environment("ANN", "secret-issued-0001").start().await;
    let owner = std::fs::read_to_string(hub.data().join("token")).expect("the Owner's token");
    let secrets = [
        "secret-issued-0001",
        "secret-foreign-0002",
        "secret-conversation-0003",
        "secret-bearer-0004",
        "secret-envelope-0005",
        "ilg_secret-altered-0006",
    ];
    let mut message = call("hub/echo", &json!({}));
    let parts = message["submessages"].as_array_mut().expect("an array");
    parts.extend([token("authentication", secrets[0]), token("authentication_x", secrets[1])]);
    parts.push(token("conversation", secrets[2]));
    let given = post(&hub, "/nlip", &message, &[]).await;
    assert_eq!(given.status, 200, "{}", given.text());
    let conversation = given.json()["submessages"].as_array().into_iter().flatten().find_map(|part| {
        let ours = part["subformat"].as_str().is_some_and(|kind| kind.starts_with("conversation"));
        part["content"].as_str().filter(|content| ours && *content != secrets[2]).map(str::to_owned)
    });
    let conversation = conversation.unwrap_or_else(|| panic!("a conversation's token: {}", given.text()));
    let mut next = text("echo again");
    next["submessages"] = json!([token("conversation", &conversation)]);
    post(&hub, "/nlip", &next, &[("authorization", &format!("Bearer {owner}"))]).await;
    post(&hub, "/nlip", &message, &[("authorization", &format!("Bearer {}", secrets[3]))]).await;
    let envelope = json!({
        "control": {"message_type": "request", "message_id": "m1", "auth_token": secrets[4]},
        "tool_calls": [{"tool_id": "t1", "tool_name": "mcp__hub__find_skills", "parameters": {}}],
    });
    let routed = post(&hub, "/nlip/route", &envelope, &[]).await;
    assert_eq!(routed.status, 200, "{}", routed.text());
    let mut altered = text("hello");
    altered["submessages"] = json!([token("authentication", secrets[5])]);
    assert_eq!(post(&hub, "/nlip", &altered, &[]).await.status, 401);
    // Half a message, cut inside a secret: what a parser complains about is not quoted.
    let half = message.to_string();
    let cut = half.find(secrets[0]).expect("it is in there") + 6;
    hub.post("/nlip", "application/json", half[..cut].to_owned()).await;
    hub.stop().await;

    let log = hub.log();
    assert!(log.contains("hub/echo"), "the log says what happened: {log}");
    let printed = log.lines().filter(|line| line.starts_with("access token ")).count();
    let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with("access token ")).collect();
    assert!(printed <= 1, "the Owner's token is told once, at the start");
    let stored = stored_bytes(&hub);
    for secret in secrets.iter().copied().chain([owner.as_str(), conversation.as_str()]) {
        let told = lines.iter().find(|line| line.contains(secret));
        assert!(told.is_none(), "{secret} is in the log: {told:?}");
        let held = stored.iter().find(|(_, bytes)| bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
        assert!(held.is_none(), "{secret} is in {:?}", held.map(|(path, _)| path));
    }
}

/// Every file the hub wrote but the Owner's token, which is the one place for it.
fn stored_bytes(hub: &Hub) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut folders = vec![hub.data()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a directory") {
            let entry = entry.expect("an entry");
            let kind = entry.file_type().expect("a type");
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() && entry.file_name() != "token" {
                files.push((entry.path(), std::fs::read(entry.path()).expect("readable")));
            }
        }
    }
    assert!(!files.is_empty(), "the store is there");
    files
}

#[tokio::test]
async fn r_39_every_decision_leaves_a_line_in_the_audit_and_no_secret() {
    let config = "access: { tokens: [{ name: ned, token: narrow-1, skills: [hub/help] }] }\n";
    let hub = hub(config).await;
    let bearer = [("authorization", "Bearer narrow-1")];
    post(&hub, "/nlip", &call("hub/echo", &json!({"said": "unheard-of"})), &bearer).await;
    let line = audit_with(&hub, &[("who", "user:ned"), ("on", "hub/echo")]).await;
    assert_eq!((&line["action"], &line["outcome"]), (&json!("call"), &json!("not_found")), "{line}");
    post(&hub, "/nlip", &call("hub/help", &json!({})), &bearer).await;
    let line = audit_with(&hub, &[("who", "user:ned"), ("on", "hub/help"), ("action", "authorize")]).await;
    assert_eq!(line["outcome"], "allowed", "{line}");
    let returned = [("who", "user:ned"), ("on", "hub/help"), ("action", "return"), ("outcome", "completed")];
    assert_eq!(audit_with(&hub, &returned).await["task"], line["task"]);
    assert!(line["at"].is_string() && line["task"].is_string(), "{line}");
    post(&hub, "/nlip", &text("hello"), &[("authorization", "Bearer wrong-2")]).await;
    audit_with(&hub, &[("action", "authenticate"), ("outcome", "unauthenticated")]).await;
    post(&hub, "/nlip", &text("hello"), &[("origin", "https://evil.example")]).await;
    audit_with(&hub, &[("action", "accept"), ("on", "/nlip"), ("outcome", "denied")]).await;
    audit_with(&hub, &[("action", "register"), ("on", "hub"), ("who", "hub")]).await;
    let all = hub.get("/api/audit").await.text();
    for unseen in ["narrow-1", "wrong-2", "unheard-of"] {
        assert!(!all.contains(unseen), "{unseen}: {all}");
    }
}

#[tokio::test]
async fn the_audit_outlives_the_hub_and_is_for_its_owner() {
    let mut hub = hub("access: { tokens: [{ name: ann, token: token-1 }] }\n").await;
    hub.post_json("/nlip", &call("hub/echo", &json!({}))).await;
    assert!(hub.stop().await.success());
    hub.restart().await;
    audit_with(&hub, &[("who", "owner"), ("on", "hub/echo"), ("outcome", "allowed")]).await;
    let builder = request(Method::GET, "/api/audit").header("authorization", "Bearer token-1");
    let theirs = hub.connect().await.send(builder.body(Full::default()).expect("a request")).await;
    assert_eq!(theirs.status, 403, "{}", theirs.text());
}

#[tokio::test]
async fn spans_of_a_real_hub_reach_a_collector_in_the_callers_trace() {
    let mut collector = Collector::start().await;
    let mut hub = hub(&format!("telemetry: {{ otlp: \"{}\" }}\n", collector.endpoint())).await;
    let answer = post(&hub, "/nlip", &call("hub/echo", &json!({})), &[("traceparent", PARENT)]).await;
    let told = answer.header("traceparent").expect("a trace").to_owned();
    assert!(hub.stop().await.success(), "{}", hub.log());
    let trace = u128::from_str_radix(TRACE, 16).expect("hexadecimal").to_be_bytes();
    let span = told.split('-').nth(2).and_then(|span| u64::from_str_radix(span, 16).ok()).expect("a span's id");
    let exported = loop {
        let exported = collector.next().await;
        if exported.has(&trace) {
            break exported;
        }
    };
    for name in ["request", "exchange", "nlip/1", "hub/echo", "completed"] {
        assert!(exported.has(name.as_bytes()), "{name}");
    }
    for phase in ["decode", "authenticate", "resolve", "validate", "authorize", "dispatch", "encode", "respond"] {
        assert!(exported.has(phase.as_bytes()), "the phase {phase} is a span of its own");
    }
    assert!(exported.has(&span.to_be_bytes()), "the span that was told is the one that was sent");
}

#[tokio::test]
async fn n_64_a_call_that_goes_on_to_another_hub_stays_in_its_trace() {
    let further = hub("telemetry: { log: { level: debug } }\n").await;
    let url = further.url("/nlip");
    let first = hub(&format!("peers: {{ further: {{ nlip: {{ url: \"{url}\" }}, effects: reads }} }}\n")).await;
    let answer = post(&first, "/agents/further/nlip", &text("hello"), &[("traceparent", PARENT)]).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    logged(&further, &[TRACE]).await;
}
