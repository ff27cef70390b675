//! JSON numbers pass the hub as they are written, to a peer and back, in every protocol whose messages are JSON.

use interlingua_testkit::{Hub, OWNER_TOKEN, post};
use serde_json::json;

use crate::support;

/// Says its arguments.
const REPEAT: &str = r#"
name: repeat
description: Says what it is told.
input:
  type: object
  properties: { price: { type: number, minimum: 0 }, count: { type: integer } }
  required: [price]
effects: { reads: true, idempotent: true }
command: [cat]
"#;

/// Spellings that no number type writes back as they are.
const ARGUMENTS: &str = r#"{"price":129.90,"count":12345678901234567890123,"list":[1E5,2.50e-3,{"deep":0.1234567890123456789}],"zero":-0,"large":1e400}"#;

async fn hub(more: &str) -> Hub {
    let config = format!("tools: {{ directory: ./tools }}\n{more}");
    let builder = support::builder().known_owner().file("tools/repeat.yaml", REPEAT);
    builder.config(&config).start().await
}

/// The whole answer to a body as it is written here.
async fn says(hub: &Hub, path: &str, headers: &[(&'static str, &'static str)], body: String) -> String {
    let mut request = post(path, "application/json", body);
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().expect("a header"));
    }
    let answer = hub.connect().await.send(request).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.text()
}

/// Path, headers and body of a request.
type Sent = (&'static str, Vec<(&'static str, &'static str)>, String);

/// The call in every protocol, each in its own words.
fn calls(peer: &str) -> Vec<Sent> {
    let skill = format!("{peer}/repeat");
    let meta =
        r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let nlip = format!(
        r#"{{"format":"text","subformat":"english","content":"","submessages":[{{"format":"structured","subformat":"json","label":"interlingua-call","content":{{"skill":"{skill}","arguments":{ARGUMENTS}}}}}]}}"#
    );
    vec![
        ("/api/exchanges", vec![], format!(r#"{{"skill":"{skill}","arguments":{ARGUMENTS}}}"#)),
        (
            "/api/messages",
            vec![],
            format!(r#"{{"message_type":"request","to_agent":"{peer}","capability":"repeat","content":{ARGUMENTS}}}"#),
        ),
        (
            "/a2a",
            vec![("a2a-version", "1.0")],
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":{ARGUMENTS}}}],"metadata":{{"urn:interlingua:hub:1":{{"skill":"{skill}"}}}}}}}}}}"#
            ),
        ),
        (
            "/nlip/route",
            vec![],
            format!(
                r#"{{"format":{{"content_type":"application/json","encoding":"utf-8","schema_version":"1.0"}},"control":{{"message_type":"request","message_id":"n","timestamp":"2026-01-01T00:00:00Z"}},"token":{{"conversation_turn":0}},"content":{{}},"tool_calls":[{{"tool_id":"t","tool_name":"{skill}","parameters":{ARGUMENTS}}}]}}"#
            ),
        ),
        ("/nlip", vec![], nlip),
        (
            "/mcp",
            vec![
                ("accept", "application/json, text/event-stream"),
                ("mcp-protocol-version", "2026-07-28"),
                ("mcp-method", "tools/call"),
                ("mcp-name", if peer == "local" { "local__repeat" } else { "other__local__repeat" }),
            ],
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{}","arguments":{ARGUMENTS},"_meta":{meta}}}}}"#,
                if peer == "local" { "local__repeat" } else { "other__local__repeat" }
            ),
        ),
    ]
}

#[tokio::test]
async fn a_number_comes_back_as_it_was_written_in_every_protocol() {
    let hub = hub("").await;
    for (path, headers, body) in calls("local") {
        let answer = says(&hub, path, &headers, body).await;
        assert!(answer.contains(ARGUMENTS), "{path}: {answer}");
    }
}

#[tokio::test]
async fn a_number_comes_back_as_it_was_written_through_another_hub() {
    let other = hub("").await;
    for (protocol, path) in [("mcp", "/mcp"), ("nlip", "/nlip"), ("a2a", "/a2a")] {
        let url = other.url(path);
        let config = format!(
            "peers: {{ other: {{ {protocol}: {{ url: \"{url}\", token: {OWNER_TOKEN} }}, hub: true, trust_hints: true }} }}\n"
        );
        let first = hub(&config).await;
        let mut name = None;
        support::until("the skills of the other hub", async || {
            let found = first.get("/api/skills?limit=500").await.json();
            let skills = found["items"].as_array().cloned().unwrap_or_default();
            let ids = skills.iter().filter_map(|skill| skill["id"].as_str());
            name = ids.filter(|id| id.starts_with("other/") && id.contains("repeat")).map(str::to_owned).next();
            name.is_some()
        })
        .await;
        let body = format!(r#"{{"skill":"{}","arguments":{ARGUMENTS}}}"#, name.unwrap_or_default());
        let answer = says(&first, "/api/exchanges", &[], body).await;
        assert!(answer.contains(ARGUMENTS), "{protocol}: {answer}");
    }
}

#[tokio::test]
async fn a_schema_checks_numbers_of_every_spelling() {
    let hub = hub("").await;
    for (price, fits) in [
        ("0.00", true),
        ("1E-400", true),
        ("1e400", true),
        ("123456789012345678901234567890.5", true),
        ("-0.01", false),
        ("-1e400", false),
        ("\"1\"", false),
    ] {
        let body = format!(r#"{{"skill":"local/repeat","arguments":{{"price":{price}}}}}"#);
        let answer = hub.post("/api/exchanges", "application/json", body).await;
        let expected = if fits { 200 } else { 422 };
        assert_eq!(answer.status, expected, "{price}: {}", answer.text());
    }
    for (count, fits) in [("7.0", true), ("1e3", true), ("12345678901234567890123", true), ("7.5", false)] {
        let body = format!(r#"{{"skill":"local/repeat","arguments":{{"price":1,"count":{count}}}}}"#);
        let answer = hub.post("/api/exchanges", "application/json", body).await;
        assert_eq!(answer.status, if fits { 200 } else { 422 }, "{count}: {}", answer.text());
    }
}

#[tokio::test]
async fn attack_a_number_of_a_million_digits_is_bounded_as_a_string_is() {
    let hub = hub("limits: { body: 2MiB }\n").await;
    let digits = "7".repeat(1_000_000);
    let body = |price: &str| {
        json!({"skill": "local/repeat"}).to_string().replace('}', &format!(r#","arguments":{{"price":{price}}}}}"#))
    };
    let answer = hub.post("/api/exchanges", "application/json", body(&digits)).await;
    assert_eq!(answer.status, 200, "{}", &answer.text()[..200]);
    assert!(answer.text().contains(&digits), "all of it comes back");
    let answer = hub.post("/api/exchanges", "application/json", body(&digits.repeat(3))).await;
    assert_eq!(answer.status, 413, "as long as a body may be");
}
