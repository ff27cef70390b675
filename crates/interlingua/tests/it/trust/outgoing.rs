//! Outgoing requests of the hub: a caller's credentials stay with the hub, an internal address is recognised in every spelling, and no
//! answer redirects it.
//!
//! DNS rebinding is tested where names are given: `a2a/push.rs`, `a2a_client/registered.rs`, and for websites in the browser's own tests.

use http::Method;
use interlingua_testkit::{Say, Scripted};
use serde_json::json;

use super::program;
use crate::support::{builder, send, until};

const TOKENS: &str = "access: { tokens: [{ name: ann, token: ilg_callers-own, register: true }] }\n";

#[tokio::test]
async fn a_callers_credentials_are_shown_to_no_peer() {
    let peer =
        Scripted::web(|_, _| Say::Json(json!({"format": "text", "subformat": "english", "content": "hi"}))).await;
    let at = peer.address();
    let peers = format!(
        "peers:\n  desk: {{ nlip: {{ url: \"http://{at}/nlip\" }} }}\n  shop: {{ nlweb: {{ url: \"http://{at}/ask\" }} }}\n  \
         tools: {{ mcp: {{ url: \"http://{at}/mcp\" }} }}\n  inn: {{ a2a: {{ url: \"http://{at}\" }} }}\n"
    );
    let hub = builder().config(&format!("{TOKENS}{peers}")).start().await;
    let headers = [
        ("authorization", "Bearer ilg_callers-own"),
        ("cookie", "ilg_callers-own"),
        ("x-api-key", "ilg_callers-own"),
        ("proxy-authorization", "ilg_callers-own"),
    ];
    for skill in ["desk/chat", "shop/ask", "tools/any", "inn/chat"] {
        let body = json!({"skill": skill, "text": "hello", "arguments": {"query": "hello", "message": "hello"}});
        send(&hub, Method::POST, "/api/exchanges", &headers, Some(body)).await;
    }
    let token = json!({"format": "token", "subformat": "authentication", "content": "ilg_callers-own"});
    let message = json!({"format": "text", "subformat": "english", "content": "hello", "submessages": [token]});
    assert_eq!(send(&hub, Method::POST, "/agents/desk/nlip", &[], Some(message)).await.status, 200);
    for path in ["/nlip", "/ask", "/mcp", "/.well-known/agent-card.json"] {
        until(&format!("{path} is asked for"), async || peer.heard().iter().any(|heard| heard.path == path)).await;
    }
    for heard in peer.heard() {
        let said = format!("{:?} {}", heard.headers, String::from_utf8_lossy(&heard.body));
        assert!(!said.contains("callers-own"), "{} {}: {said}", heard.method, heard.path);
    }
}

/// By whoever may register agents and is not the hub's own user.
#[tokio::test]
async fn an_address_inside_is_one_in_every_spelling() {
    let inside = Scripted::web(|_, _| Say::Json(json!({}))).await;
    let hub = builder().config(TOKENS).start().await;
    let port = inside.address().port();
    for host in [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "017700000001",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
        "user@127.0.0.1",
    ] {
        let body = json!({"url": format!("http://{host}:{port}")});
        let headers = [("authorization", "Bearer ilg_callers-own")];
        let answer = send(&hub, Method::POST, "/api/agents", &headers, Some(body)).await;
        assert_eq!(answer.status, 422, "{host}: {}", answer.text());
    }
    assert!(inside.heard().is_empty(), "it was called: {:?}", inside.heard());
}

#[tokio::test]
async fn an_answer_that_leads_elsewhere_leads_nowhere() {
    let there = Scripted::web(|_, _| Say::Json(json!({}))).await;
    let elsewhere = format!("http://{}/taken", there.address());
    let peer = Scripted::web(move |_, _| Say::Status(307, vec![("location", elsewhere.clone())], json!({}))).await;
    let at = peer.address();
    let yaml = format!(
        "peers:\n  desk: {{ nlip: {{ url: \"http://{at}/nlip\" }} }}\n  shop: {{ nlweb: {{ url: \"http://{at}/ask\" }} }}\n  \
         tools: {{ mcp: {{ url: \"http://{at}/mcp\" }} }}\n  inn: {{ a2a: {{ url: \"http://{at}\" }} }}\n\
         access:\n  issuers:\n    corp: {{ issuer: \"https://login.example\", audience: [hub], keys: \"http://{at}/jwks.json\" }}\n"
    );
    let hub = interlingua_testkit::Hub::builder(program()).config(&yaml).start().await;
    for skill in ["desk/chat", "shop/ask", "tools/any", "inn/chat"] {
        let body = json!({"skill": skill, "text": "hello", "arguments": {"query": "hello", "message": "hello"}});
        assert_ne!(hub.post_json("/api/exchanges", &body).await.json()["state"], "completed", "{skill}");
    }
    for path in ["/nlip", "/ask", "/mcp", "/.well-known/agent-card.json", "/jwks.json"] {
        until(&format!("{path} is asked for"), async || peer.heard().iter().any(|heard| heard.path == path)).await;
    }
    assert!(there.heard().is_empty(), "it was followed: {:?}", there.heard());
}
