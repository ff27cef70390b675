//! Clients of either era in front of the hub, servers of either era behind it.

use http::Method;

use super::*;
use crate::support::send;

/// A client of one era at the hub's own MCP endpoint.
enum Client {
    Modern,
    Legacy { session: String },
}

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

impl Client {
    async fn legacy(hub: &Hub) -> Client {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
        let headers = [("accept", "application/json, text/event-stream")];
        let answer = send(hub, Method::POST, "/mcp", &headers, Some(body)).await;
        let session = answer.header("mcp-session-id").unwrap_or_else(|| panic!("no session: {}", answer.text()));
        let session = session.to_owned();
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let client = Client::Legacy { session };
        client.send(hub, &body, &[]).await;
        client
    }

    async fn send(&self, hub: &Hub, body: &Value, more: &[(&str, &str)]) -> String {
        let version = match self {
            Client::Modern => MODERN,
            Client::Legacy { .. } => LEGACY,
        };
        let mut headers = vec![("accept", "application/json, text/event-stream"), ("mcp-protocol-version", version)];
        if let Client::Legacy { session } = self {
            headers.push(("mcp-session-id", session));
        }
        headers.extend_from_slice(more);
        send(hub, Method::POST, "/mcp", &headers, Some(body.clone())).await.text()
    }

    /// The text of the answer: a JSON body, or the last event of a stream.
    async fn ask(&self, hub: &Hub, method: &str, name: Option<&str>, mut params: Value) -> String {
        let mut headers = Vec::new();
        if let Client::Modern = self {
            params["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}});
            headers.push(("mcp-method", method));
            headers.extend(name.map(|name| ("mcp-name", name)));
        }
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let text = self.send(hub, &body, &headers).await;
        match text.lines().rev().find_map(|line| line.strip_prefix("data:")) {
            Some(data) => data.trim().to_owned(),
            None => text,
        }
    }

    async fn result(&self, hub: &Hub, method: &str, name: Option<&str>, params: Value) -> Value {
        let text = self.ask(hub, method, name, params).await;
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert!(answer.get("result").is_some(), "{method}: {answer}");
        answer["result"].clone()
    }
}

#[tokio::test]
async fn m_16_clients_of_either_era_reach_servers_of_either_era() {
    let everywhere = Everywhere::all().await;
    let hub = &everywhere.hub;
    for client in [Client::Modern, Client::legacy(hub).await] {
        for name in &everywhere.names {
            let tool = format!("{name}__echo");
            let params = json!({"name": tool, "arguments": {"text": "hello"}});
            let called = client.result(hub, "tools/call", Some(&tool), params).await;
            assert_eq!(called["content"][0]["text"], "hello", "{name}: {called}");

            let listed = client.result(hub, "resources/list", None, json!({})).await;
            let all = listed["resources"].as_array().cloned().unwrap_or_default();
            let ours = |uri: &&Value| uri["uri"].as_str().is_some_and(|uri| uri.contains(name));
            let uri = all.iter().find(ours).map(|one| one["uri"].as_str().unwrap_or_default().to_owned());
            let uri = uri.unwrap_or_else(|| panic!("no resource of {name} in {listed}"));
            let read = client.result(hub, "resources/read", Some(&uri), json!({"uri": uri})).await;
            assert_eq!(read["contents"][0]["text"], "first", "{name}: {read}");

            let prompts = client.result(hub, "prompts/list", None, json!({})).await.to_string();
            let prompt = format!("{name}__greet");
            assert!(prompts.contains(&prompt), "{prompt} in {prompts}");
            let params = json!({"name": prompt, "arguments": {"who": "Ada"}});
            let got = client.result(hub, "prompts/get", Some(&prompt), params).await;
            assert_eq!(got["messages"][0]["content"]["text"], "Hello Ada", "{name}: {got}");

            let of = json!({"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": "who", "value": "p"}});
            let completed = client.result(hub, "completion/complete", None, of).await;
            assert_eq!(completed["completion"]["values"], json!(["paris", "parma"]), "{name}: {completed}");
        }
    }
}

#[tokio::test]
async fn m_34_unknown_fields_of_tools_and_results_survive_the_hub_byte_for_byte() {
    let everywhere = Everywhere::start(&[("near", "stdio", "modern")]).await;
    let hub = &everywhere.hub;
    let params = json!({"name": "near__echo", "arguments": {"text": "x"}});
    let called = Client::Modern.ask(hub, "tools/call", Some("near__echo"), params).await;
    assert!(called.contains(r#""x-more":[1, 2.5]"#), "{called}");
    let listed = Client::Modern.ask(hub, "tools/list", None, json!({})).await;
    assert!(listed.contains(r#""x-unknown":{"kept": 1.5}"#), "{listed}");
}
