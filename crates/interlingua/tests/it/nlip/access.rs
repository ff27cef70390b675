//! ECMA-434, clause 7.2: permissions, rate limits, and the audit trail.

use ::http::Method;
use bytes::Bytes;
use http_body_util::Full;
use interlingua_testkit::{Answer, Hub, request};
use serde_json::Value;

use super::{text, token, with};

const SECRET: &str = "a-secret-that-must-not-be-logged";
const NARROW: &str = "a-token-with-narrow-rights";
const EXPIRED: &str = "a-token-that-has-expired";

async fn hub() -> Hub {
    let config = "tools: { workspace: ./workspace }
access:
  anonymous: public
  tokens:
    - { name: ann, token: \"${ANN}\" }
    - { name: ned, token: \"${NED}\", skills: [local/read_file] }
    - { name: old, token: \"${OLD}\", expires: 2020-01-01T00:00:00Z }
";
    Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .config(config)
        .environment("ANN", SECRET)
        .environment("NED", NARROW)
        .environment("OLD", EXPIRED)
        .file("workspace/shopping.txt", "Two lemons\n")
        .start()
        .await
}

/// As a browser's page of this hub's own: on this machine that is the sign by which a caller is not its Owner.
async fn as_stranger(hub: &Hub, path: &str, message: &Value, headers: &[(&str, &str)]) -> Answer {
    let mut builder = request(Method::POST, path).header("content-type", "application/json");
    builder = builder.header("sec-fetch-site", "same-origin").header("sec-fetch-mode", "cors");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    let sent = builder.body(Full::new(Bytes::from(message.to_string()))).expect("a request");
    hub.connect().await.send(sent).await
}

fn authenticated(message: Value, credential: &str) -> Value {
    with(message, &[token("authentication", credential)])
}

#[tokio::test]
async fn n_39_an_authentication_token_leads_back_to_whose_it_is() {
    let hub = hub().await;
    let known = as_stranger(&hub, "/nlip", &authenticated(text("read shopping.txt"), SECRET), &[]).await;
    assert!(known.text().contains("Two lemons"), "{}", known.text());
    let altered =
        as_stranger(&hub, "/nlip", &authenticated(text("read shopping.txt"), &SECRET.replace('a', "b")), &[]).await;
    assert!(!altered.text().contains("Two lemons"), "{}", altered.text());
    let expired = as_stranger(&hub, "/nlip", &authenticated(text("read shopping.txt"), EXPIRED), &[]).await;
    assert_eq!(expired.status, 401, "{}", expired.text());
    assert!(expired.header("www-authenticate").is_some(), "{:?}", expired.headers);
}

#[tokio::test]
async fn n_61_a_caller_without_a_valid_credential_gets_nothing_private() {
    let hub = hub().await;
    let anonymous = as_stranger(&hub, "/nlip", &text("read shopping.txt"), &[]).await;
    assert!(!anonymous.text().contains("Two lemons"), "{}", anonymous.text());
    let bad = as_stranger(&hub, "/nlip", &text("read shopping.txt"), &[("authorization", "Bearer nonsense")]).await;
    assert_eq!(bad.status, 401, "{}", bad.text());
    let bearer = format!("Bearer {SECRET}");
    let good = as_stranger(&hub, "/nlip", &text("read shopping.txt"), &[("authorization", &bearer)]).await;
    assert!(good.text().contains("Two lemons"), "{}", good.text());
}

#[tokio::test]
async fn n_62_rights_are_checked_before_anything_is_done() {
    let hub = hub().await;
    let call = serde_json::json!({"skill": "local/write_file", "arguments": {"path": "new.txt", "content": "x"}});
    let bearer = format!("Bearer {NARROW}");
    let answer = as_stranger(&hub, "/api/exchanges", &call, &[("authorization", &bearer)]).await;
    assert_eq!(answer.status, 404, "what it may not call is not there: {}", answer.text());
    assert!(!hub.directory().join("workspace/new.txt").exists());
    // The Owner may, so it was the right that was missing.
    let owner = hub.post_json("/api/exchanges", &call).await;
    assert_eq!(owner.status, 200, "{}", owner.text());
    assert!(hub.directory().join("workspace/new.txt").exists());
}

#[tokio::test]
async fn n_63_a_burst_is_throttled() {
    let hub = Hub::start(env!("CARGO_BIN_EXE_interlingua"), "limits: { rate: 5/m }\n").await;
    let mut connection = hub.connect().await;
    let mut throttled = None;
    for _ in 0..200 {
        let sent = interlingua_testkit::post("/nlip", "application/json", text("hello").to_string());
        let answer = connection.send(sent).await;
        if answer.status == 429 {
            throttled = Some(answer);
            break;
        }
    }
    let answer = throttled.expect("two hundred at once are more than five a minute");
    assert!(answer.header("retry-after").is_some(), "{:?}", answer.headers);
    assert_eq!(answer.json()["messagetype"], "error", "{}", answer.text());
}

#[tokio::test]
async fn n_64_a_call_can_be_traced_and_audited() {
    let hub = hub().await;
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = format!("00-{trace}-00f067aa0ba902b7-01");
    let sent = request(Method::POST, "/nlip").header("content-type", "application/json").header("traceparent", &parent);
    let body = Full::new(Bytes::from(text("read shopping.txt").to_string()));
    let answer = hub.connect().await.send(sent.body(body).expect("a request")).await;
    assert!(answer.header("traceparent").is_some_and(|parent| parent.contains(trace)), "{:?}", answer.headers);
    let audit = hub.get("/api/audit").await;
    assert!(audit.text().contains(trace) && audit.text().contains("read_file"), "{}", audit.text());
}

#[tokio::test]
async fn n_65_no_token_is_ever_logged() {
    let secrets =
        ["secret-conversation-1", "secret-authentication-2", "secret-group-3", "secret-bearer-4", "secret-member-5"];
    let config = format!(
        "telemetry: {{ log: {{ level: trace }} }}\naccess: {{ tokens: [{{ name: ann, token: {} }}] }}\n",
        secrets[4]
    );
    let mut hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&config).keeping_lines(100_000).start().await;
    let message = with(
        text("hello"),
        &[token("conversation", secrets[0]), token("authentication_x", secrets[1]), token("group_1", secrets[2])],
    );
    for (secret, message, status) in [(secrets[3], &message, 401), (secrets[4], &text("hello"), 200)] {
        let bearer = format!("Bearer {secret}");
        let answer = as_stranger(&hub, "/nlip", message, &[("authorization", &bearer)]).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    hub.post_json("/nlip", &message).await;
    hub.post("/nlip", "application/json", message.to_string().replace("}]}", "}]")).await;
    hub.stop().await;
    let log = hub.log();
    assert!(log.contains("DEBUG"), "it says all that it can say: {log}");
    for secret in secrets {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}
