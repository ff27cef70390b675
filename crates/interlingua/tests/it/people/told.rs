//! A caller whose call is pending approval is informed in its own protocol where and how to approve.

use http::Method;
use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::hub;
use crate::support::{logged, send, until};

async fn post(hub: &Hub, who: &str, path: &str, more: &[(&str, &str)], body: Value) -> String {
    let bearer = format!("Bearer {who}-token");
    let mut headers = vec![("authorization", bearer.as_str())];
    headers.extend(more);
    send(hub, Method::POST, path, &headers, Some(body)).await.text()
}

/// The id of the task that waits.
async fn pending(hub: &Hub) -> String {
    let open = async || hub.get("/api/confirmations").await.json()["items"].as_array().cloned().unwrap_or_default();
    until("a call waits", async || !open().await.is_empty()).await;
    open().await[0]["task"].as_str().expect("an id").to_owned()
}

fn for_others(hub: &Hub, task: &str) -> String {
    format!("You may not approve it: an approver of this hub has to at {}; its id is {task}.", hub.url(""))
}

/// A path, its headers and what is sent there.
type Wire<'a> = (&'a str, &'a [(&'a str, &'a str)], Value);

#[tokio::test]
async fn nlip_envelope_a2a_and_nlweb_name_the_approver_and_the_id() {
    let call = json!({"format": "text", "subformat": "english", "content": "", "submessages": [
        {"format": "structured", "subformat": "json", "label": "interlingua-call",
         "content": {"skill": "local/erase", "arguments": {"what": "all"}}}]});
    let envelope = json!({"format": {"content_type": "application/json"}, "token": {}, "content": {},
        "control": {"message_type": "request", "message_id": "m-1", "timestamp": "2026-01-01T00:00:00Z"},
        "tool_calls": [{"tool_id": "a", "tool_name": "local/erase", "parameters": {"what": "all"}}]});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "configuration": {"returnImmediately": true},
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"data": {"what": "all"}}],
                    "metadata": {"urn:interlingua:hub:1": {"skill": "local/erase"}}}}});
    let question = json!({"query": {"text": "erase all"}, "prefer": {"streaming": false}});
    let wires: [Wire<'_>; 4] = [
        ("/nlip", &[], call),
        ("/nlip/route", &[], envelope),
        ("/a2a", &[("a2a-version", "1.0")], message),
        ("/ask", &[], question),
    ];
    for (path, headers, body) in wires {
        let hub = hub("").await;
        hub.write("tools/erase.yaml", PHRASED);
        until("its phrase", async || hub.get("/api/skills?limit=200").await.text().contains("erase {what}")).await;
        let said = post(&hub, "bob", path, headers, body).await;
        let task = pending(&hub).await;
        let asked = hub.get("/api/confirmations").await.text();
        assert!(!asked.contains(r#"saying \"\""#), "an empty text is no saying: {asked}");
        assert!(path != "/nlip" || asked.contains("without any text?"), "{asked}");
        let mut seen = said.clone();
        if path == "/a2a" {
            let get = json!({"jsonrpc": "2.0", "id": 2, "method": "GetTask", "params": {"id": task}});
            seen = post(&hub, "bob", path, headers, get).await;
        }
        assert!(seen.contains(&for_others(&hub, &task)), "{path}: {seen}");
        assert!(!seen.contains("interlingua approve"), "{path}: bob may not: {seen}");
        // An approver is asked, and not told that somebody else has to approve.
        let asked = hub.get("/api/confirmations").await.json()["items"][0]["text"].as_str().map(str::to_owned);
        let asked = asked.expect("a text");
        assert!(asked.starts_with("Shall I run local/erase for user:bob with {\"what\":\"all\"}"), "{path}: {asked}");
        assert!(asked.ends_with("? Answer yes or no."), "{path}: {asked}");
        logged(&hub, &["approval_pending", "local/erase", &task, "user:bob"]).await;
    }
}

const PHRASED: &str = r#"
name: erase
description: Erases something.
phrases: { en: ["erase {what}"] }
input: { type: object, properties: { what: { type: string } }, required: [what] }
effects: { destroys: true }
command: [sh, -c, 'echo "{\"erased\":true}"']
"#;

fn called() -> Value {
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "local__erase", "arguments": {"what": "all"},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                  "io.modelcontextprotocol/clientCapabilities": {}}}})
}

const MCP: [(&str, &str); 3] =
    [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "local__erase")];

#[tokio::test]
async fn an_mcp_client_that_cannot_ask_is_told_the_command_and_held_no_longer_than_configured() {
    let hub = hub("mcp: { approval_wait: 1s }\n").await;
    let said = post(&hub, "boss", "/mcp", &MCP, called()).await;
    let task = pending(&hub).await;
    let command = format!("It waits for your approval at {}: `interlingua approve {task}`.", hub.url(""));
    assert!(said.contains("This has not been run yet") && said.contains(&command), "{said}");
    assert!(said.contains("\"isError\":true") && said.contains(&format!("`interlingua tasks {task}`")), "{said}");
    // Its client is gone, and the call still waits for its approval.
    let approved = hub.post_json(&format!("/api/confirmations/{task}.0"), &json!({"approve": true})).await;
    assert_eq!(approved.status, 200, "{}", approved.text());
    crate::support::reaches(&hub, &task, "completed").await;
    let mut awaited = called();
    awaited["params"]["name"] = "hub__await".into();
    awaited["params"]["arguments"] = json!({"task": task});
    let names = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "hub__await")];
    let said = post(&hub, "boss", "/mcp", &names, awaited).await;
    assert!(said.contains("erased"), "{said}");
}

/// Calls a tool by this name there, as boss.
async fn calls(hub: &Hub, path: &str, name: &str, arguments: Value) -> String {
    let mut body = called();
    body["params"]["name"] = name.into();
    body["params"]["arguments"] = arguments;
    let names = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", name)];
    post(hub, "boss", path, &names, body).await
}

/// The names of the tools that boss is listed there.
async fn listed(hub: &Hub, path: &str) -> String {
    let mut body = called();
    body["method"] = "tools/list".into();
    let names = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    post(hub, "boss", path, &names, body).await
}

/// Wherever an MCP client is told of a tool that gives it the result later, it can call that tool by that
/// name. Without such a tool nothing is said of one.
#[tokio::test]
async fn an_mcp_client_is_told_of_the_tool_that_it_can_call_there_for_the_result_and_of_no_other() {
    let view = "views: { one: { allow: [\"local/erase\"] }, two: { allow: [\"local/erase\", \"hub/await\"] } }";
    for (names, hub_tools, path, tool, expected) in [
        ("prefixed", "search", "/mcp", "local__erase", Some(("hub__await", false))),
        ("prefixed", "off", "/mcp", "local__erase", Some(("hub__await", false))),
        ("prefixed", "all", "/mcp", "local__erase", Some(("hub__await", true))),
        ("bare", "all", "/mcp", "erase", Some(("await", true))),
        ("prefixed", "search", "/mcp/one", "local__erase", None),
        ("prefixed", "search", "/mcp/two", "local__erase", Some(("hub__await", true))),
        ("prefixed", "search", "/agents/local/mcp", "erase", None),
    ] {
        let case = format!("{names} {hub_tools} {path}");
        let mcp = format!("mcp: {{ approval_wait: 1s, names: {names}, hub_tools: {hub_tools}, {view} }}\n");
        let hub = hub(&mcp).await;
        let said = calls(&hub, path, tool, json!({"what": "all"})).await;
        let task = pending(&hub).await;
        assert!(said.contains("This has not been run yet") && said.contains(&task), "{case}: {said}");
        let named = said.split("the tool `").nth(1).and_then(|rest| rest.split('`').next());
        let is_listed = !said.contains("which is not listed");
        assert_eq!(named.map(|name| (name, is_listed)), expected, "{case}: {said}");
        let Some((name, is_listed)) = expected else { continue };
        let all = listed(&hub, path).await;
        assert_eq!(all.contains(&format!("\"name\":\"{name}\"")), is_listed, "{case}: {all}");
        let approved = hub.post_json(&format!("/api/confirmations/{task}.0"), &json!({"approve": true})).await;
        assert_eq!(approved.status, 200, "{}", approved.text());
        crate::support::reaches(&hub, &task, "completed").await;
        let result = calls(&hub, path, name, json!({"task": task})).await;
        assert!(result.contains("erased"), "{case}: {result}");
    }
}

#[tokio::test]
async fn an_mcp_client_without_the_right_to_approve_is_told_who_has_it() {
    let hub = hub("mcp: { approval_wait: 1s }\n").await;
    let said = post(&hub, "bob", "/mcp", &MCP, called()).await;
    let task = pending(&hub).await;
    assert!(said.contains(&for_others(&hub, &task)), "{said}");
}
