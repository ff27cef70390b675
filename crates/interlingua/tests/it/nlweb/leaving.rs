//! Idle streams, callers that disconnect, and promises. The program that does the work shows whether it continues.

use std::path::{Path, PathBuf};
use std::time::Duration;

use interlingua_testkit::within;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::streams::{dripping, left_alone};
use super::*;
use crate::support::streaming;

/// Five times as long as a stream may be silent.
const SILENCE: Duration = Duration::from_secs(75);

#[tokio::test]
async fn q_07_q_65_comments_keep_a_stream_alive_in_which_nothing_happens() {
    let go_on = std::sync::Arc::new(Notify::new());
    let site = dripping(go_on.clone()).await;
    let hub = asking(&site).await;
    let mut caller = TcpStream::connect(hub.address()).await.expect("a connection");
    let (host, token) = (hub.address(), hub.token().expect("a token"));
    let path = "/ask?query=spicy%20snacks&site=snacks";
    let head = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    caller.write_all(head.as_bytes()).await.expect("the hub reads");
    let mut read = Vec::new();
    let mut until = async |what: &str| {
        let found = async {
            while !String::from_utf8_lossy(&read).contains(what) {
                assert!(caller.read_buf(&mut read).await.expect("the hub writes") > 0, "it ended before `{what}`");
            }
        };
        tokio::time::timeout(SILENCE, found).await.unwrap_or_else(|_| panic!("no `{what}`"));
    };
    until("Second").await;
    until("\n: keepalive\n\n").await;
    go_on.notify_one();
    until("\"complete\"").await;
}

/// A tool that writes down which process it is and works until it is told to end.
async fn working() -> Hub {
    let builder = builder();
    let (begun, go) = (builder.directory().join("begun"), builder.directory().join("go"));
    let tool = format!(
        "name: dig\ndescription: Digs until it is told to end.\nphrases: {{ en: [\"dig a hole\"] }}\n\
         effects: {{ reads: true, idempotent: true }}\nreply: lines\ntimeout: 10m\n\
         command: [sh, -c, 'echo $$ > {}; echo \"{{\\\"progress\\\":{{\\\"note\\\":\\\"digging\\\"}}}}\"; \
         until [ -e {} ]; do sleep 0.1; done; echo \"{{\\\"result\\\":{{\\\"holes\\\":[{{\\\"name\\\":\\\"deep\\\"}}]}}}}\"']\n",
        begun.display(),
        go.display(),
    );
    let tokens = "access: { tokens: [{ name: bob, token: ilg_bob-token-of-some-length, skills: ['*'] }] }\n";
    builder.file("tools/dig.yaml", tool).config(&format!("tools: {{ directory: ./tools }}\n{tokens}")).start().await
}

/// The process that does the work, once it is there.
async fn worker(hub: &Hub) -> PathBuf {
    let begun = hub.directory().join("begun");
    let read = || std::fs::read_to_string(&begun).ok().filter(|id| id.ends_with('\n'));
    until("the tool runs", async || read().is_some()).await;
    let worker = Path::new("/proc").join(read().expect("just seen").trim());
    std::fs::remove_file(&begun).expect("just read");
    worker
}

async fn ends(worker: &Path) {
    until("the work ends", async || !worker.exists()).await;
}

#[tokio::test]
async fn q_65_whoever_leaves_a_stream_ends_the_work_of_whoever_was_asked() {
    let hub = working().await;
    for version in ["0.55", "0.54", "0.1"] {
        let body = match version {
            "0.1" => json!({"query": "dig a hole"}),
            _ => json!({"query": {"text": "dig a hole"}, "meta": {"api_version": version}}),
        };
        let opened = streaming(&hub, Method::POST, "/ask", &[], Some(body)).await;
        let worker = worker(&hub).await;
        assert!(worker.exists(), "{version}");
        drop(opened);
        ends(&worker).await;
    }
}

#[tokio::test]
async fn q_64_q_65_whoever_leaves_before_a_whole_answer_ends_the_work_too() {
    let hub = working().await;
    let mut connection = hub.connect().await;
    // The first generation knows no promises.
    let body = json!({"query": "dig a hole", "streaming": false}).to_string();
    let waiting = connection.send(interlingua_testkit::post("/ask", "application/json", body));
    let worker = tokio::select! {
        answer = waiting => panic!("answered too early: {}", answer.text()),
        worker = worker(&hub) => worker,
    };
    drop(connection);
    ends(&worker).await;
}

#[tokio::test]
async fn q_65_whoever_leaves_a_stream_leaves_the_site_that_is_asked() {
    let site = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let address = site.local_addr().expect("an address");
    let yaml = format!("peers: {{ snacks: {{ nlweb: {{ url: \"http://{address}/ask\" }} }} }}\n");
    let hub = builder().config(&yaml).start().await;
    let begun = Notify::new();
    let leaves = async {
        let body = json!({"query": {"text": "spicy snacks", "site": ["snacks", "hub"]}});
        let opened = streaming(&hub, Method::POST, "/ask", &[], Some(body)).await;
        begun.notified().await;
        drop(opened);
    };
    within("the connection is closed", async { tokio::join!(left_alone(&site, &begun), leaves) }).await;
}

#[tokio::test]
async fn q_25_q_40_q_43_q_44_a_promise_says_how_far_the_work_is_outlives_its_connection_and_is_kept() {
    for (version, promised) in [("0.55", (202, "promise", "answer")), ("0.54", (200, "Promise", "Answer"))] {
        let hub = working().await;
        let (status, kind, answer) = promised;
        let asked = ask(&hub, nested("dig a hole", json!({"meta": {"api_version": version}}))).await;
        let said = asked.json();
        assert_eq!((asked.status, &said["_meta"]["response_type"]), (status, &json!(kind)), "{said}");
        let (token, worker) = (said["promise"]["token"].clone(), worker(&hub).await);
        let look = async |action: &str| {
            hub.post_json(
                "/await",
                &json!({"promise_token": token, "action": action, "meta": {"api_version": version}}),
            )
            .await
        };
        let again = look("checkin").await;
        let said = again.json();
        assert_eq!((again.status, &said["_meta"]["response_type"]), (status, &json!(kind)), "{said}");
        assert_eq!((&said["promise"]["token"], &said["promise"]["progress"]), (&token, &json!("digging")), "{said}");
        assert!(said["promise"]["estimated_time"].is_u64(), "{said}");
        assert!(worker.exists(), "who was promised something may leave");
        let bob = [("authorization", "Bearer ilg_bob-token-of-some-length")];
        let stolen = json!({"promise_token": token, "action": "cancel"});
        let stolen = send(&hub, Method::POST, "/await", &bob, Some(stolen)).await;
        assert_eq!((stolen.status, &stolen.json()["error"]["code"]), (404, &json!("NOT_FOUND")), "{}", stolen.text());
        hub.write("go", "");
        let mut said = json!(null);
        until("the promise is kept", async || {
            said = look("checkin").await.json();
            said["_meta"]["response_type"] == answer
        })
        .await;
        assert_eq!(said["results"][0]["name"], "deep", "{said}");
        let said = look("cancel").await.json();
        assert_eq!(said["results"][0]["name"], "deep", "what is over is not cancelled: {said}");
    }
}

#[tokio::test]
async fn q_25_q_43_q_44_a_promise_that_is_given_up_ends_the_work_and_stays_cancelled() {
    let hub = working().await;
    let said = ask(&hub, nested("dig a hole", json!({}))).await.json();
    let (token, worker) = (said["promise"]["token"].clone(), worker(&hub).await);
    for action in ["cancel", "checkin", "cancel"] {
        let said = hub.post_json("/await", &json!({"promise_token": token, "action": action})).await;
        assert_eq!((said.status, &said.json()["error"]["code"]), (200, &json!("CANCELLED")), "{}", said.text());
        assert_eq!(said.json()["_meta"]["response_type"], "failure", "{}", said.text());
        ends(&worker).await;
    }
    let wrong = hub.post_json("/await", &json!({"promise_token": token, "action": "wait"})).await;
    assert_eq!((wrong.status, &wrong.json()["error"]["code"]), (400, &json!("INVALID_ACTION")), "{}", wrong.text());
}
