//! Every way to be somebody, against what may be asked: nobody, a wrong, expired, revoked or too small credential, the right
//! one. And the command that gives tokens and takes them back.

use std::process::Command;

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::program;
use crate::support::{builder, send, until};

fn token(folder: &std::path::Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(program()).current_dir(folder).arg("token").args(arguments).output().expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).trim().to_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

const CONFIG: &str = "tools: { directory: ./tools }\naccess: { tokens: file:./tokens.yaml, anonymous: refused }\n";

async fn hub() -> Hub {
    builder().file("tokens.yaml", "# callers\n").config(CONFIG).start().await
}

async fn status(hub: &Hub, token: &str, path: &str) -> u16 {
    send(hub, Method::GET, path, &[("authorization", &format!("Bearer {token}"))], None).await.status
}

#[tokio::test]
async fn a_token_is_made_listed_and_revoked_while_the_hub_runs() {
    let hub = hub().await;
    let folder = hub.directory();
    let (code, made, said) =
        token(folder, &["create", "ann", "-c", "interlingua.yaml", "--expires", "1h", "--skill", "hub/*"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(made.starts_with("ilg_") && made.len() == 68, "{made}");
    let kept = std::fs::read_to_string(folder.join("tokens.yaml")).expect("the list");
    assert!(kept.starts_with("# callers\n") && !kept.contains(&made), "only its digest is kept: {kept}");
    until("the token to count", async || status(&hub, &made, "/api/skills").await == 200).await;

    let (code, _, said) = token(folder, &["create", "ann", "-c", "interlingua.yaml"]);
    assert_eq!(code, Some(2), "{said}");
    let (_, listed, _) = token(folder, &["list", "-c", "interlingua.yaml", "--json"]);
    let listed: Value = serde_json::from_str(&listed).expect("JSON");
    assert_eq!((&listed["items"][0]["name"], &listed["items"][0]["skills"]), (&json!("ann"), &json!(["hub/*"])));

    assert_eq!(token(folder, &["revoke", "ann", "-c", "interlingua.yaml"]).0, Some(0));
    until("the token to be refused", async || status(&hub, &made, "/api/skills").await == 401).await;
    assert_eq!(token(folder, &["revoke", "ann", "-c", "interlingua.yaml"]).0, Some(2), "there is none any more");
    let kept = std::fs::read_to_string(folder.join("tokens.yaml")).expect("the list");
    assert_eq!(kept, "# callers\n");
}

/// What a path answers to whom it refuses and to whom it lets in; `None` where it does not matter.
struct Operation {
    what: &'static str,
    method: Method,
    path: &'static str,
    body: Option<Value>,
    headers: &'static [(&'static str, &'static str)],
    /// Told by the body of the answer, when it has come through.
    shows: &'static str,
}

const MODERN: &[(&str, &str)] = &[
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "hub__echo"),
];

fn operations() -> Vec<Operation> {
    let post = |what, path, body: Value, headers, shows| Operation {
        what,
        method: Method::POST,
        path,
        body: Some(body),
        headers,
        shows,
    };
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}});
    let nlip = super::call("hub/echo", &json!({"text": "xyzzy"}));
    let a2a = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m",
        "role": "ROLE_USER", "parts": [{"data": {"skill": "hub/echo", "arguments": {"text": "xyzzy"}}}]}}});
    let envelope = json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": "request", "message_id": "m-1", "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_results": null, "metadata": {},
        "tool_calls": [{"tool_id": "t", "tool_name": "mcp__hub__echo", "parameters": {"text": "xyzzy"},
            "require_confirmation": false}],
    });
    vec![
        post("api", "/api/exchanges", json!({"skill": "hub/echo", "arguments": {"text": "xyzzy"}}), &[], "xyzzy"),
        post("nlip", "/nlip", nlip, &[], "xyzzy"),
        post(
            "mcp",
            "/mcp",
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "hub__echo", "arguments": {"text": "xyzzy"}, "_meta": meta}}),
            MODERN,
            "xyzzy",
        ),
        post("a2a", "/a2a", a2a, &[("a2a-version", "1.0")], ""),
        post("envelope", "/nlip/route", envelope, &[], ""),
        post("nlweb", "/ask", json!({"query": "echo xyzzy", "streaming": false}), &[], ""),
        Operation {
            what: "skills",
            method: Method::GET,
            path: "/api/skills",
            body: None,
            headers: &[],
            shows: "hub/echo",
        },
        Operation { what: "tasks", method: Method::GET, path: "/api/tasks", body: None, headers: &[], shows: "" },
    ]
}

#[tokio::test]
async fn every_operation_for_nobody_the_wrong_the_expired_the_revoked_the_insufficient_and_the_right() {
    let list = "
- { name: right, token: ilg_right }
- { name: small, token: ilg_small, skills: [local/nothing] }
- { name: expired, token: ilg_expired, expires: \"2020-01-01T00:00:00Z\" }
- { name: gone, token: ilg_gone }
";
    let hub = builder().file("tokens.yaml", list).config(CONFIG).start().await;
    until("its token to count", async || status(&hub, "ilg_gone", "/api/skills").await == 200).await;
    assert_eq!(token(hub.directory(), &["revoke", "gone", "-c", "interlingua.yaml"]).0, Some(0));
    until("its token to be revoked", async || status(&hub, "ilg_gone", "/api/skills").await == 401).await;
    for operation in operations() {
        let ask = async |token: Option<&str>| {
            let bearer = token.map(|token| format!("Bearer {token}"));
            // A page of the hub's own address, so that the connection itself proves nothing.
            let mut headers = vec![("sec-fetch-site", "same-origin")];
            headers.extend(operation.headers);
            headers.extend(bearer.as_deref().map(|bearer| ("authorization", bearer)));
            send(&hub, operation.method.clone(), operation.path, &headers, operation.body.clone()).await
        };
        for (who, token) in [
            ("nobody", None),
            ("wrong", Some("ilg_wrong")),
            ("foreign", Some("x")),
            ("expired", Some("ilg_expired")),
            ("revoked", Some("ilg_gone")),
        ] {
            let answer = ask(token).await;
            assert_eq!(answer.status, 401, "{} for {who}: {}", operation.what, answer.text());
            assert!(
                answer.header("www-authenticate").is_some_and(|value| value.starts_with("Bearer")),
                "{}",
                operation.what
            );
        }
        let small = ask(Some("ilg_small")).await;
        assert_ne!(small.status, 401, "{}: it is known who this is", operation.what);
        assert!(
            operation.shows.is_empty() || !small.text().contains(operation.shows),
            "{}: {}",
            operation.what,
            small.text()
        );
        let right = ask(Some("ilg_right")).await;
        assert!(right.status == 200, "{}: {} {}", operation.what, right.status, right.text());
        assert!(right.text().contains(operation.shows), "{}: {}", operation.what, right.text());
    }
}
